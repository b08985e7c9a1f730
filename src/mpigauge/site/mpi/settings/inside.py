# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds settings that can be changed while the MPI runs, so that arms of a sweep share a launch.

A library accepts many writes without an error and without an effect, since it read the setting at
its start. So only those are changed that are read at each call or when a communicator is created,
according to our catalogue, which is based on measurements (docs/explain/sweeps.md). The kernels
read back what they wrote, and create a communicator for each arm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.knob import READ_WORDS
from mpigauge.site.mpi.settings.control import variables

if TYPE_CHECKING:
    from mpigauge.model.knob import Knob
    from mpigauge.model.mpi import Mpi

NUMBERS = ("int", "unsigned", "long", "unsigned long", "unsigned long long", "count", "uint64")
_NUMBER = re.compile(r"-?\d+")
_MARKS = ("|", ";", "~")
"""Separators of arms on the kernels' command line."""
PolicyRequest = Callable[["Mpi", str, str], str]


class OutsideError(Exception):
    """The reason why arms cannot share a launch."""


def written(
    arms: Iterable[Mapping[str, str]],
    every: Sequence[Knob],
    mpi: Mpi,
    ask: PolicyRequest | None = None,
) -> list[dict[str, str]]:
    """Returns the control variables of each arm, with values in the library's form.

    `ask` returns the number of a word. OutsideError: a setting is read when MPI starts, or at an
    unknown time.
    """
    by_name = {}
    for knob in every:
        for name in (knob.variable, knob.control):
            if name:
                by_name[name] = knob
    return [_written(arm, by_name, mpi, ask or number_of) for arm in arms]


def number_of(mpi: Mpi, variable: str, word: str) -> str:
    """Returns the number that the library assigns to a word, by its own parser."""
    by_name = {each.name: each for each in variables(mpi, {variable: word})}
    number = by_name[variable].number if variable in by_name else None
    if number is None:
        raise OutsideError(f"{variable}={word} has no number that could be written")
    return str(number)


def _written(
    arm: Mapping[str, str], by_name: Mapping[str, Knob], mpi: Mpi, ask: PolicyRequest
) -> dict[str, str]:
    values = {}
    for name, value in arm.items():
        knob = by_name.get(name)
        if knob is None or not knob.control:
            raise OutsideError(f"{name} is not a control variable of {mpi.label}")
        if knob.read not in ("call", "communicator"):
            when = f"is read {READ_WORDS[knob.read]}" if knob.read else "is read at an unknown time"
            raise OutsideError(f"{name} {when}")
        if any(mark in value for mark in _MARKS):
            raise OutsideError(f"{name}={value} holds one of {' '.join(_MARKS)}")
        values[knob.control] = _value(knob, value, mpi, ask)
    return values


def _value(knob: Knob, value: str, mpi: Mpi, ask: PolicyRequest) -> str:
    if knob.kind not in NUMBERS or _NUMBER.fullmatch(value):
        return value
    if mpi.abi != "mpich":
        raise OutsideError(
            f"{knob.control}={value} is a word, and {mpi.label} wants numbers written"
        )
    return ask(mpi, knob.control, value)
