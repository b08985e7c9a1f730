# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Explicit cores: entry i of a binding is for local rank i.

An entry is a core (4), a range (0-3), or several joined by + (0+4, 0-1+8-9).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.topology import cores_to_use
from mpigauge.topology.words import as_list, parse_list

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.topology import Topology

_ENTRY = re.compile(r"\d+(-\d+)?(\+\d+(-\d+)?)*")


def parse_bind(text: str) -> tuple[str, ...]:
    """The entries of --bind 0,1 or 0-3,4+5."""
    entries = tuple(entry.strip() for entry in text.split(","))
    for number, entry in enumerate(entries, 1):
        if not _ENTRY.fullmatch(entry) or not cores_of(entry):
            raise UserError(
                f"--bind: '{entry}' (word {number} of '{text}') names no cores; "
                "write a core for each rank, such as 0,1, or ranges and sums: 0-3,4+5"
            )
    return entries


def cores_of(entry: str) -> frozenset[int]:
    """The cores of an entry; commas do as well as +, as the kernels write them."""
    return frozenset(parse_list(entry.replace("+", ",")))


def one_core_each(machine: Topology, ranks: int) -> tuple[str, ...]:
    """A core of its own for each rank; nothing where there are too few."""
    cores = cores_to_use(machine, ranks)
    return tuple(map(str, cores)) if len(cores) >= ranks else ()


def check(entries: tuple[str, ...], machine: Topology, ranks: int, oversubscribe: bool) -> None:
    """That each rank has an entry, each core may be used, and none is taken twice by accident."""
    if len(entries) != ranks:
        raise UserError(
            f"--bind names cores for {_many(len(entries), 'rank')}, the job has {ranks}; "
            "name one entry for each rank"
        )
    _check_allowed(entries, machine)
    if not oversubscribe:
        _check_alone(entries)


def _check_allowed(entries: Iterable[str], machine: Topology) -> None:
    for entry in entries:
        outside = cores_of(entry) - machine.allowed
        if outside:
            raise UserError(
                f"--bind: core {min(outside)} may not be used; "
                f"the cpuset of this process is {as_list(machine.allowed)}"
            )


def _check_alone(entries: Iterable[str]) -> None:
    taken: dict[int, int] = {}
    for rank, entry in enumerate(entries):
        cores = cores_of(entry)
        core = min(cores)
        if len(cores) == 1 and core in taken:
            raise UserError(
                f"--bind puts ranks {taken[core]} and {rank} on the same core {core}; "
                "that measures the scheduler: name different cores, or add --oversubscribe"
            )
        if len(cores) == 1:
            taken[core] = rank


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
