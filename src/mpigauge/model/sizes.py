# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words of --sizes: numbers, and ranges that double.

    0,8,64Ki       a list: its order and its repetitions are kept
    1..4Mi         1, 2, 4, … 4 Mi: doubling from the first to the last, which always belongs to it
    0..1Ki         the same with 0 in front: 0, 1, 2, 4, … 1 Ki
    0,1..4Mi       both

k, K, Ki, M, Mi, G and Gi all are powers of 1024, as everywhere in MPI benchmarks; a B may follow.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.inputs import read_text
from mpigauge.model.limits import MOST_LOG_BYTES, MOST_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

HELP = (
    "Message sizes in bytes: a list and ranges that double, such as 0,1..4Mi. "
    "k, M and G (or Ki, Mi, Gi) are powers of 1024."
)
_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(?P<number>\d{1,15})\s*(?P<factor>[kmgt]?)i?(?:b(?:ytes?)?)?", re.IGNORECASE)
_POWERS = re.compile(r"(\d{1,2})[:-](\d{1,2})")
"""A range of powers of two, as IMB's -msglog has it."""
_BOUNDS = re.compile(r"(\w+)[:-](\w+)")
"""A range of sizes, as OSU's -m has it."""


def default_sizes() -> list[int]:
    """0, 1, 2, 4, … 4 MiB, as in IMB."""
    return parse_sizes("0..4Mi")


def parse_sizes(text: str) -> list[int]:
    """The sizes in a word such as 0,1..4Mi, in its order."""
    words = [word.strip() for word in text.split(",")]
    if not any(words):
        raise UserError("the list of sizes is empty; give some, such as 0,1..4Mi")
    where = [f"'{word}' (word {i} of '{text}')" for i, word in enumerate(words, 1)]
    return list(chain.from_iterable(map(_expand, words, where)))


def read_sizes(path: Path) -> list[int]:
    """The sizes in a file: words as in --sizes, # starts a comment."""
    lines = read_text(path, called=f"the file of sizes {path}").splitlines()
    sizes = list(chain.from_iterable(_sizes_of_lines(path, lines)))
    if not sizes:
        raise UserError(f"{path} holds no sizes; write one a line, such as 64Ki")
    return sizes


def parse_bytes(word: str, where: str | None = None) -> int:
    """One size such as 64Ki."""
    where = where or f"'{word}'"
    match = _SIZE.fullmatch(word.strip())
    if not match:
        raise UserError(f"{where} is not a size; {_meant(word.strip())}")
    size = int(match["number"]) * _FACTORS[match["factor"].lower()]
    if size > MOST_MESSAGE_BYTES:
        raise UserError(f"{where} is more than 1 TiB, the largest message size")
    return size


def _meant(word: str) -> str:
    """The words for a range as other programs write it, else for sizes in general."""
    if powers := _POWERS.fullmatch(word):
        low, high = (1 << min(int(power), MOST_LOG_BYTES) for power in powers.groups())
        return f"powers of two from {low} to {high} are {low}..{high}"
    bounds = _BOUNDS.fullmatch(word)
    if bounds and all(map(_SIZE.fullmatch, bounds.groups())):
        return f"the range from {bounds[1]} to {bounds[2]} is {bounds[1]}..{bounds[2]}"
    return (
        "a size is a whole number of bytes, k, M or G (powers of 1024) may follow it, and a range "
        "is two sizes with '..' between"
    )


def _sizes_of_lines(path: Path, lines: Iterable[str]) -> Iterator[list[int]]:
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].replace(",", " ").split()
        for word in words:
            yield _expand(word, f"'{word}' (line {number} of {path})")


def _expand(word: str, where: str) -> list[int]:
    first, dots, last = word.partition("..")
    if not dots:
        return [parse_bytes(word, where)]
    low, high = parse_bytes(first, where), parse_bytes(last, where)
    if low > high:
        raise UserError(f"{where} runs downwards; a range goes from the smaller size to the larger")
    return list(_doubling(low, high))


def _doubling(low: int, high: int) -> Iterator[int]:
    size = low
    while size < high:
        yield size
        size = max(2 * size, 1)
    yield high
