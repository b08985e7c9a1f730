# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Arrival patterns of ranks at a collective: checks requested ones against the benchmarks.

For a profile the kernels get whole vectors, since ranks are seldom late independently of each
other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.suite_options import ARRIVAL, PROFILE
from mpigauge.model.units import listed, many

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.measuring.plan.plan import PlanPart
    from mpigauge.measuring.plan.request import Request
    from mpigauge.model.cards import Card
    from mpigauge.runs.store.arrivals import ArrivalPattern, ArrivalsOfRun

MOST_LETTERS = 60_000
"""The most letters of a pattern's vectors: a word of a command line may have about twice as
many."""
MPI = "MPI_"


def with_groups(request: Request, chosen: Sequence[Card]) -> Request:
    """The request with the number of ranks of the profile, unless the user named one."""
    if request.ranks or request.np or request.multi is not None or request.map is not None:
        return request
    for word in request.suite_options.get(ARRIVAL, "").split(","):
        kind, colon, profile = word.partition(":")
        if kind == PROFILE and colon:
            pattern = pattern_for(profile, request.arrivals[profile].patterns, chosen)
            return replace(request, ranks=(pattern.ranks,))
    return request


def with_arrivals(
    options: Mapping[str, str],
    profiles: Mapping[str, ArrivalsOfRun],
    chosen: Sequence[Card],
    parts: Sequence[PlanPart],
) -> dict[str, str]:
    """The options with vectors for profiles. UserError: no group of ranks matches a pattern."""
    if ARRIVAL not in options:
        return dict(options)
    words = []
    for word in options[ARRIVAL].split(","):
        kind, _, rest = word.partition(":")
        if kind == PROFILE:
            words.append(_from_profile(rest, profiles[rest], chosen, parts))
        else:
            words.append(word)
        if kind == "late":
            _check_late(word, int(rest.partition(":")[0]), parts)
    return {**options, ARRIVAL: ",".join(words)}


def pattern_for(
    name: str, patterns: Sequence[ArrivalPattern], chosen: Sequence[Card]
) -> ArrivalPattern:
    """The arrival pattern of the measured collective in which ranks spent most of the time.
    UserError: it does not exist, or there are several collectives."""
    timed = [card.name for card in chosen if ARRIVAL in card.options]
    if len(timed) > 1:
        raise UserError(
            f"--arrival profile:{name} is for one collective at a time, as ranks come to each in "
            f"their own way; measure {' and '.join(timed)} one by one"
        )
    calls = {MPI + card for card in timed}
    of_call = [each for each in patterns if each.call in calls]
    if not of_call:
        there = listed(sorted({each.call.removeprefix(MPI) for each in patterns}))
        names = "".join(timed) or "none of what is measured"
        raise UserError(
            f"--arrival profile:{name}: the profile has no arrival times at {names}; it "
            f"has those of {there}"
        )
    return max(of_call, key=lambda each: each.seconds)


def name_of(run: str) -> str:
    """The name of a profile's arrivals in records."""
    for mark in "=,+/ ":
        run = run.replace(mark, "_")
    return f"{PROFILE}:{run}"


def vectors(name: str, pattern: ArrivalPattern) -> str:
    """A pattern in the kernels' words, with as many of its vectors as fit."""
    lines = []
    for lateness_s in pattern.lateness_s.tolist():
        lines.append("+".join(f"{1e6 * late:.1f}" for late in lateness_s))
    room = max(1, MOST_LETTERS // (max(map(len, lines)) + 1))
    step = max(1, -(-len(lines) // room))
    return f"{name}={'/'.join(lines[::step])}"


def _from_profile(
    name: str, of: ArrivalsOfRun, chosen: Sequence[Card], parts: Sequence[PlanPart]
) -> str:
    pattern = pattern_for(name, of.patterns, chosen)
    groups, most = _groups(parts), max(part.world_ranks for part in parts)
    if pattern.ranks > most or (groups and pattern.ranks not in groups):
        raise UserError(
            f"--arrival profile:{name} is of {many(pattern.ranks, 'rank')}; measure as many with "
            f"--ranks {pattern.ranks}"
        )
    return vectors(name_of(of.run), pattern)


def _check_late(word: str, rank: int, parts: Sequence[PlanPart]) -> None:
    most = max(part.largest_group for part in parts)
    if rank >= most:
        raise UserError(
            f"--arrival {word}: there is no rank {rank} of {most}; name one from 0 to {most - 1}"
        )


def _groups(parts: Iterable[PlanPart]) -> set[int]:
    """Sizes of groups that the user named; empty: several up to all ranks."""
    return {ranks for part in parts for ranks in part.ranks}
