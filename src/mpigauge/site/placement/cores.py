# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Explicit cores as kernels and users write them, an entry for each local rank.

An entry is a core (4), a range (0-3), or several joined by + (0+4, 0-1+8-9).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import parse_list
from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from mpigauge.model.placement import Placement

_ENTRY = re.compile(r"\d+(-\d+)?(\+\d+(-\d+)?)*")


def parse_entries(text: str, option: str) -> tuple[str, ...]:
    """Parses the entries of 0,1 or 0-3,4+5. `option`: their origin, for errors."""
    entries = tuple(entry.strip() for entry in text.split(","))
    for number, entry in enumerate(entries, 1):
        if not _ENTRY.fullmatch(entry) or not _some(entry, option):
            raise UserError(
                f"{option}: '{entry}' (word {number} of '{text}') names no cores; "
                "write a core for each rank, such as 0,1, or ranges and sums: 0-3,4+5"
            )
    return entries


def _some(entry: str, option: str) -> bool:
    """True if an entry has a core. UserError: no machine has that many."""
    try:
        return bool(cores_of(entry))
    except ValueError as error:
        raise UserError(f"{option}: '{shortened_to(entry)}': {error}") from None


def shortened_to(word: str, most: int = 40) -> str:
    """Cuts a word to `most` characters, for error messages."""
    if len(word) <= most:
        return word
    return f"{word[: most - 1]}…"


def cores_of(entry: str) -> frozenset[int]:
    """Returns the cores of an entry, whose separators are + or, in kernels, commas."""
    return frozenset(parse_list(entry.replace("+", ",")))


def check_alone(placement: Placement) -> None:
    """Raises a UserError if two ranks of a host have the same core alone."""
    for host, seats in placement.by_host.items():
        first: dict[int, int] = {}
        for rank, seat in enumerate(seats):
            if len(seat.pus) != 1:
                continue
            (core,) = seat.pus
            if first.setdefault(core, rank) != rank:
                raise UserError(
                    f"--place {placement.name} puts ranks {first[core]} and {rank} of {host} on "
                    f"the same core {core}; that measures the scheduler: name different cores, or "
                    "add --oversubscribe"
                )
