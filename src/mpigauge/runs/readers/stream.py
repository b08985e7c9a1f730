# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""STREAM: memory bandwidth in four tasks, as figures in MB/s of 10^6 bytes.

The head of its table names the unit: STREAM itself prints MB/s, that of HPCC GB/s.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.model.record import Figure
from mpigauge.runs.readers.reading import Reading, Unread
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.settings_lines import arm_of
from mpigauge.runs.readers.text import NUMBER, why_no_row

if TYPE_CHECKING:
    from mpigauge.runs.readers.text import Text

_TASK = re.compile(r"^\s*(Copy|Scale|Add|Triad):\s+(.*)")
_HEAD = re.compile(r"\bRate \(?([kMGT]i?B/s)\b", re.IGNORECASE)
"""`Rate (MB/s)`, and `Best Rate MB/s` since version 5.10."""
_IN_MEGABYTES = {"mb/s": 1.0, "gb/s": 1e3, "tb/s": 1e6, "kb/s": 1e-3,
                 "mib/s": 2**20 / 1e6, "gib/s": 2**30 / 1e6, "tib/s": 2**40 / 1e6,
                 "kib/s": 2**10 / 1e6}  # fmt: skip
_ELEMENTS = re.compile(r"Array size = (\d+)")
_THREADS = re.compile(r"Number of Threads (?:requested|counted) = (\d+)")
_NUMBER = re.compile(NUMBER)
_COLUMNS = ("Rate", "Avg time", "Min time", "Max time")
_VERSION = re.compile(r"STREAM version \$Revision: ([\d.]+)")


@reader("stream", "STREAM", rb"^[ \t]*(?:Copy|Scale|Add|Triad):[ \t]+\d+\.\d+[ \t]+\d+\.\d+\s")
def read(text: Text) -> Reading:
    """Reads the output; a task that occurs again belongs to the next launch."""
    source, launch, factor = "STREAM", 0, 1.0
    settings: dict[str, str] = {}
    seen: set[str] = set()
    figures, unread = [], []
    for number, line in text.numbered():
        if match := _VERSION.search(line):
            source = f"STREAM {match[1]}"
        elif match := _THREADS.search(line):
            settings["threads"] = match[1]
        elif match := _ELEMENTS.search(line):
            settings["elements"] = match[1]
        elif match := _HEAD.search(line):
            factor = _IN_MEGABYTES[match[1].lower()]
        elif match := _TASK.match(line):
            numbers = match[2].split()
            if len(numbers) != len(_COLUMNS) or not all(map(_NUMBER.fullmatch, numbers)):
                unread.append(Unread(number, line.strip(), why_no_row(numbers, _COLUMNS)))
                continue
            if match[1] in seen:
                launch += 1
                seen.clear()
            seen.add(match[1])
            figures.append(
                Figure(launch, "STREAM", match[1], float(numbers[0]) * factor, "MB/s", "higher",
                       arm=arm_of(settings), source=source, origin="imported")
            )  # fmt: skip
    return Reading(figures=tuple(figures), unread=tuple(unread))
