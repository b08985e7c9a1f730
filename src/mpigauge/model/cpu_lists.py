# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Sets of PUs, and sizes, as the kernel and hwloc write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mpigauge.model.limits import MOST_PUS, whole_number

if TYPE_CHECKING:
    from mpigauge.model.records import Rank

_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_WORD_BITS = 32


def parse_list(text: str) -> set[int]:
    """The numbers in a kernel list such as 0-3,8. ValueError: not a list, or beyond any machine."""
    numbers: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        low, high = whole_number(first), whole_number(last or first)
        if low is None or high is None or high >= MOST_PUS:
            raise ValueError(f"not a list of PUs or nodes; the most is {MOST_PUS - 1}")
        numbers |= set(range(low, high + 1))
    return numbers


def pus_of(rank: Rank) -> frozenset[int]:
    """The PUs that a rank was bound to or could run on."""
    return frozenset(parse_list(rank.cpuset))


def as_list(numbers: Iterable[int], between: str = ",") -> str:
    """The numbers as the kernel writes them: 0-3,8."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return between.join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


def parse_bitmap(text: str) -> frozenset[int]:
    """The numbers in a set as hwloc writes it: words of 32 bits, the highest first, an empty one
    for 0, as in 0x0000ffff,,0x0. ValueError: not a set, or an infinite one."""
    words = text.split(",")
    if len(text) > MOST_PUS // 2 or len(words) > MOST_PUS // _WORD_BITS:
        raise ValueError(f"a set of {len(words)} words is larger than that of any machine")
    bits = 0
    for word in words:
        bits = bits << _WORD_BITS | (int(word, 16) if word else 0)
    numbers = set()
    for number, bit in enumerate(reversed(f"{bits:b}")):
        if bit == "1":
            numbers.add(number)
    return frozenset(numbers)


def parse_size(text: str) -> int:
    """The bytes of a size as the kernel writes it: 32K, 16M or a plain number; 0: not a size."""
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if match:
        return int(match[1]) * _SIZES[match[2]]
    return 0
