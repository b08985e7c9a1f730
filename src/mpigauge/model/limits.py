# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Limits of the numbers that users write, and how such numbers are read.

A word is compared by its length before it is converted: Python refuses thousands of digits, and a
float that is too large becomes infinite. The limits of the options of `mpigauge run` are in
schema/options.toml.
"""

from __future__ import annotations

import math
import re

from mpigauge.model.option_table import general

MOST_RANKS = 1 << 24
MOST_LAUNCHES = general("launches").most
MOST_SEED = (1 << 63) - 1
MOST_SECONDS = 366 * 86400.0
"""A year. No run, launch or job is longer."""
LEAST_SHARE = 1e-4
"""The least relative error that may be requested."""
MOST_MESSAGE_BYTES = 1 << 40
LEAST_MEMORY = 2
"""Bytes of buffers of a rank: a byte to send and one to receive."""
MOST_INPUT_BYTES = 64 << 20
"""Size of a file that people or programs write about a machine or a plan."""
MOST_PUS = 1 << 16
"""More PUs, threads or NUMA nodes than any machine has."""
MOST_HOSTS = 200_000
MOST_DELAY_US = 1e6
"""Lateness of a rank."""
MOST_LOG_BYTES = 40
"""Power of two of a message size, as IMB's -msglog has it."""
MOST_NOISE_S = 600
"""Time for which the doctor watches all cores."""
LEAST_EVERY_S, MOST_EVERY_S = 0.1, 3600
"""Seconds between two checks of a run that is measured elsewhere."""
MOST_FRAMES = 32
"""Callers of an MPI call in a profile."""
LEAST_LAUNCHES_OF_RULES = 3
LEAST_TRIALS, MOST_TRIALS = 5, 100_000
"""Settings of messages that a tuning tries."""
MOST_CONDITION = 1000
"""Characters of a condition in a plan file; Python's parser takes no chain of thousands."""
MOST_PORT = 65535
MOST_COLUMNS = 1000
"""Columns and lines of a terminal."""

_MOST_DIGITS = 20
_DECIMAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def whole_number(word: str) -> int | None:
    """The number in decimal digits, or None: the word is something else, or has too many digits."""
    digits = word.strip()
    if digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS:
        return int(digits)
    return None


def decimal_number(word: str) -> float:
    """The number in a word such as 12 or 0.5. NaN: it is something else, or is too large."""
    if _DECIMAL.fullmatch(word):
        number = float(word)
        return number if math.isfinite(number) else math.nan
    return math.nan
