# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""OpenMP settings in the environment: OMP_NUM_THREADS and OMP_PLACES.

OpenMP Application Programming Interface, version 5.2, sections 21.1.2 and 21.1.6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mpigauge.model.errors import UserError
from mpigauge.model.limits import MOST_PUS, whole_number

NUM_THREADS = "OMP_NUM_THREADS"
PLACES = "OMP_PLACES"
PROC_BIND = "OMP_PROC_BIND"
_PLACE = re.compile(r"\{([^{}]*)\}((?::-?\d{1,9}){0,2})")
_RANGE = re.compile(r"(\d{1,9})(?::(\d{1,9})(?::(-?\d{1,9}))?)?")


def threads(environment: Mapping[str, str]) -> str:
    """The first number of OMP_NUM_THREADS; the others are for nested regions. UserError: there is
    none."""
    text = environment.get(NUM_THREADS, "").strip()
    first = text.partition(",")[0].strip()
    if not text:
        raise UserError(f"--threads omp: {NUM_THREADS} is not set; set it, or write a number")
    number = whole_number(first)
    if number is None or not 1 <= number <= MOST_PUS:
        raise UserError(
            f"--threads omp: {NUM_THREADS} is '{text}', which is not a number from 1 on"
        )
    return str(number)


def order(environment: Mapping[str, str]) -> str:
    """Places as the kernels take them, such as 0:2+3; or compact and scatter, where every core is a
    place. UserError: OMP_PLACES is not set, or is not understood."""
    text = environment.get(PLACES, "").strip()
    if not text:
        raise UserError(f"--thread-order omp: {PLACES} is not set; set it, or write compact")
    if re.fullmatch(r"(cores|threads)(\(\d+\))?", text.lower()):
        if environment.get(PROC_BIND, "").strip().lower().startswith("spread"):
            return "scatter"
        return "compact"
    words = ["+".join(map(str, place)) for place in places(text)]
    return ":".join(words)


def places(text: str) -> list[list[int]]:
    """The places {0,1},{4:2}:3:8 as lists of processors: {first:count:step}, then how many such
    places and their distance. UserError: the text is not understood."""
    groups: list[list[int]] = []
    rest = text.replace(" ", "")
    while rest:
        match = _PLACE.match(rest)
        if match is None:
            raise _unknown(text)
        after = rest[match.end() :]
        if after == "," or after[:1] not in ("", ","):
            raise _unknown(text)
        groups += _repeated(_processors(match[1], text), match[2])
        rest = after[1:]
    if len(groups) > MOST_PUS or any(min(place, default=0) < 0 for place in groups):
        raise _unknown(text)
    return groups


def _processors(text: str, whole: str) -> list[int]:
    numbers: list[int] = []
    for word in text.split(","):
        match = _RANGE.fullmatch(word)
        if not match or int(match[2] or 1) > MOST_PUS:
            raise _unknown(whole)
        first, count, step = int(match[1]), int(match[2] or 1), int(match[3] or 1)
        numbers += [first + i * step for i in range(count)]
    return sorted(set(numbers))


def _repeated(place: list[int], text: str) -> list[list[int]]:
    numbers = [int(word) for word in text.split(":")[1:]]
    count, step = 1, len(place)
    if numbers:
        count = min(numbers[0], MOST_PUS + 1)
    if len(numbers) > 1:
        step = numbers[1]
    copies: list[list[int]] = []
    for number in range(count):
        copies.append([pu + number * step for pu in place])
    return copies


def _unknown(text: str) -> UserError:
    return UserError(
        f"--thread-order omp: {PLACES} is '{text}', which is not understood here; write cores, "
        "threads, or places such as {0},{2} or {0:2}:4:2"
    )
