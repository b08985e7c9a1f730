# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hostfiles, in each dialect: MPICH's and Intel's `host:2`, Open MPI's `host slots=2`, plain names.

One host a line, or several that a list stands for; `#` begins a comment. Words that tell the
launcher about more than hosts and slots (`max_slots=`, `ifname=`, `binding=`) are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.hostlist import Once, check_number, parse_hosts, refuse_twice
from mpigauge.model.hosts import NamedHost
from mpigauge.model.inputs import read_text

SLOTS = "slots"
_MOST_DIGITS = 15
PASSED_OVER = ("max_slots", "max-slots", "ifname", "binding", "user", "weight")


def read_hostfile(path: Path) -> tuple[NamedHost, ...]:
    return parse_hostfile(read_text(path, "--hostfile: "), str(path))


def parse_hostfile(text: str, source: str, once: Once = refuse_twice) -> tuple[NamedHost, ...]:
    """The hosts of a file; `source` is what errors call it. `once` says what becomes of those that
    are named twice."""
    hosts: list[NamedHost] = []
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{source}, line {number}"
        hosts += _line(line, place)
        check_number(len(hosts), place)
    if not hosts:
        raise UserError(f"{source} names no host; write one a line, such as 'a:2' or 'a slots=2'")
    return once(hosts)


def _line(line: str, place: str) -> Iterator[NamedHost]:
    words = line.partition("#")[0].split()
    if not words:
        return
    slots = None
    for word in words[1:]:
        slots = _slots(word, place, line.index(word) + 1, slots)
    for host in parse_hosts(words[0], place):
        if slots and host.slots:
            raise UserError(
                f"{place}: {words[0]} has its slots twice, as :{host.slots} and {SLOTS}="
            )
        yield replace(host, slots=slots or host.slots, place=place)


def _slots(word: str, place: str, column: int, before: int | None) -> int | None:
    """The slots that this word of a line says, or those known before it."""
    name, equals, value = word.partition("=")
    if name in PASSED_OVER and equals:
        return before
    if name != SLOTS or not equals:
        known = did_you_mean(name, [SLOTS, *PASSED_OVER])
        raise UserError(f"{place}, column {column}: '{word}' is not known here{known or RIGHT}")
    if not (value.isdecimal() and len(value) <= _MOST_DIGITS and int(value)):
        raise UserError(
            f"{place}, column {column}: '{value}' is not a number of slots; write slots=2"
        )
    return int(value)


RIGHT = "; a line is a host, 'a:2', or 'a slots=2'"
