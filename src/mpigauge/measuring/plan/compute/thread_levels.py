# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Thread levels for MPI initialization: a process has one, so each has launches of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.compute.threads import THREADS
from mpigauge.model.errors import UserError
from mpigauge.model.names import ORDER
from mpigauge.model.suite_options import LEVELS, THREAD_LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.measuring.plan.plan import PlanPart
    from mpigauge.model.cards import Card


def with_levels(parts: Sequence[PlanPart], options: Mapping[str, str]) -> tuple[PlanPart, ...]:
    """Each part at each requested level; unchanged without any."""
    if THREAD_LEVEL not in options:
        return tuple(parts)
    levels = options[THREAD_LEVEL].split(",")
    return tuple(each for part in parts for each in _at_levels(part, levels))


def without_levels(options: Mapping[str, str]) -> dict[str, str]:
    """The options that all parts have in common."""
    return {name: value for name, value in options.items() if name != THREAD_LEVEL}


def check(options: Mapping[str, str], chosen: Sequence[Card]) -> None:
    """UserError: benchmarks create threads, which not all of these levels allow."""
    if THREADS not in options or THREAD_LEVEL not in options:
        return
    levels = options[THREAD_LEVEL].split(",")
    beside = [card.name for card in chosen if ORDER in card.options]
    calling = []
    for card in chosen:
        if THREADS in card.options and ORDER not in card.options:
            calling.append(card.name)
    if options[THREADS] != "1":
        _check(levels, calling, "call MPI at the same time", "multiple")
    _check(levels, beside, "run beside the one that calls MPI", "funneled")


def _check(levels: Iterable[str], names: Sequence[str], do: str, needed: str) -> None:
    lower = [level for level in levels if LEVELS.index(level) < LEVELS.index(needed)]
    if names and lower:
        raise UserError(
            f"--thread-level {lower[0]}: the threads of {', '.join(names)} {do}, which needs "
            f"{needed}; leave out {lower[0]}, or --threads"
        )


def _at_levels(part: PlanPart, levels: Sequence[str]) -> Iterator[PlanPart]:
    """A part at each level; programs of the user initialize MPI themselves."""
    if part.foreign:
        yield part
        return
    for level in levels:
        yield replace(part, suite_options={**part.suite_options, THREAD_LEVEL: level})
