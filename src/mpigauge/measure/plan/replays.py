# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A program is replayed: of its profile an iteration is made, with the calls in their proportion.

Where the numbers of all calls have a common divisor, the proportions are exact; else each is
rounded, and calls too rare for an iteration are left out by name. The profile's own time is of the
rounded numbers, so rounding makes no difference to how close the replay comes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.suite_options import REPLAYED
from mpigauge.model.units import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.measure.plan.plan import PlanPart
    from mpigauge.measure.plan.request import Request
    from mpigauge.model.cards import Card
    from mpigauge.model.replayed import Replayed
    from mpigauge.runs.store.replays import Group, MixStep, ReplayMix

MOST_CALLS = 2000
"""Steps of an iteration, unless that leaves out much..."""
MOST_SECONDS = 0.05
"""...and how long it lasts in the program."""
MUCH = 0.05
"""Of the time in MPI: calls that are rarer and together take no more may be left out."""
MOST_STEPS = 500
"""That differ from each other."""
MOST_LETTERS = 100_000
"""Of the words for the kernels: a word of a command line may have some more."""
LETTERS_OF_LATENESS = 40_000
_TRIES = 8
"""So many of the rarest calls in an iteration are tried, to find a number that rounds little."""
_RARE = "in calls too rare for an iteration"


def with_ranks(request: Request, chosen: Sequence[Card]) -> Request:
    """As many ranks as the program had. UserError: there is nothing to replay, or nobody would."""
    if not any(REPLAYED in card.options for card in chosen):
        return request
    if request.replay is None:
        raise UserError(
            "Replay replays the program of a profile; name one that `mpigauge profile` made: "
            "--profile RUN"
        )
    if not request.replay.steps:
        raise UserError(
            f"--profile: nothing of what the program of {request.replay.run} calls can be replayed"
        )
    said = request.ranks or request.np or request.multi is not None or request.map is not None
    return request if said else replace(request, ranks=(request.replay.ranks,))


def known(
    options: Mapping[str, str],
    mix: ReplayMix | None,
    chosen: Sequence[Card],
    parts: Sequence[PlanPart],
) -> dict[str, str]:
    """The same with the mix in place of the name of its profile. UserError: no group of ranks is
    as large as the program was."""
    if mix is None or not any(REPLAYED in card.options for card in chosen):
        return dict(options)
    groups = {ranks for part in parts for ranks in part.ranks}
    most = max(part.world_ranks for part in parts)
    if mix.ranks > most or (groups and mix.ranks not in groups):
        raise UserError(
            f"--profile: the program of {mix.run} had {many(mix.ranks, 'rank')}; replay it on as "
            f"many with --ranks {mix.ranks}"
        )
    return {**options, REPLAYED: words(mix)}


def told(mix: ReplayMix | None) -> Replayed | None:
    """What an iteration is, for those who compare it."""
    if mix is None or not mix.steps:
        return None
    from mpigauge.model.replayed import Replayed

    steps, times = iteration(mix)
    left: dict[str, float] = defaultdict(float, dict(mix.left_out))
    rare = sum(step.seconds for step in mix.steps) - sum(step.seconds for step in steps)
    if rare > 0:
        left[_RARE] += rare
    whole = mix.mean_mpi_s
    return Replayed(
        profile=mix.run,
        calls=sum(times),
        mpi_s=sum(n * step.seconds / step.calls for n, step in zip(times, steps, strict=True)),
        covered=sum(step.seconds for step in steps) / whole if whole else 1.0,
        left_out=tuple(
            (what, seconds / whole)
            for what, seconds in sorted(left.items(), key=lambda each: -each[1])
        ),
    )


# --- an iteration ---------------------------------------------------------------------------------
def iteration(mix: ReplayMix) -> tuple[list[MixStep], list[int]]:
    """The steps that are replayed, and how often each is in an iteration."""
    dear = sorted(range(len(mix.steps)), key=lambda number: -mix.steps[number].seconds)
    steps = [mix.steps[number] for number in sorted(dear[:MOST_STEPS])]
    by = _divisor(steps, max(mix.run_s))
    times = [(step, round(step.calls / by)) for step in steps]
    kept = [(step, count) for step, count in times if count > 0]
    return [step for step, _ in kept], [count for _, count in kept]


def _divisor(steps: Sequence[MixStep], run_s: float) -> float:
    """By which the numbers of the whole run are divided."""
    counts = [step.calls for step in steps]
    exact = math.gcd(*counts)
    if _is_short(sum(counts) / exact, run_s / exact):
        return exact
    wanted = max(sum(counts) / MOST_CALLS, run_s / MOST_SECONDS)
    least = min(max(wanted, 1.0), _rarest(steps))
    tries = {count / n for count in counts for n in range(1, _TRIES + 1)}
    near = [by for by in tries if least <= by <= 2 * least and by <= _rarest(steps)]
    return min([*near, least], key=lambda by: (_rounded_off(steps, by), by))


def _is_short(calls: float, seconds: float) -> bool:
    return calls <= MOST_CALLS and seconds <= MOST_SECONDS


def _rarest(steps: Sequence[MixStep]) -> float:
    """The number of the rarest calls that are not left out."""
    whole = sum(step.seconds for step in steps)
    left = 0.0
    for step in sorted(steps, key=lambda each: each.calls):
        left += step.seconds
        if left > MUCH * whole:
            return step.calls
    return max(step.calls for step in steps)


def _rounded_off(steps: Sequence[MixStep], by: float) -> float:
    """How far rounding moves the proportions, in seconds of the run."""
    return sum(step.seconds * abs(round(step.calls / by) * by / step.calls - 1) for step in steps)


# --- in the kernels' words ------------------------------------------------------------------------
def words(mix: ReplayMix) -> str:
    """As kernels/core/mix.hpp reads them. UserError: they are too long for a command line."""
    steps, times = iteration(mix)
    late = dict(_late_words(steps))
    gaps = "+".join(_us(each) for each in gaps_s(mix, steps, times, late))
    groups = "/".join(map(_group_words, mix.groups))
    said = "/".join(_step_words(step, n) for step, n in zip(steps, times, strict=True))
    lateness = "/".join(f"{number}:{text}" for number, text in late.items())
    name = "".join("_" if letter in "=,+/; " else letter for letter in mix.run)
    text = f"{name}={mix.ranks};{groups};{gaps};{said};{lateness}"
    if len(text) > MOST_LETTERS:
        raise UserError(
            f"--profile: the program of {mix.run} sends messages in too many ways to be replayed"
        )
    return text


def gaps_s(
    mix: ReplayMix, steps: Sequence[MixStep], times: Sequence[int], late: Mapping[int, str]
) -> list[float]:
    """By rank: what it computes, over the steps that it takes part in. What comes before a step as
    lateness is a part of that."""
    share = sum(times) / sum(step.calls for step in steps)
    found = []
    for rank in range(mix.ranks):
        own = (mix.run_s[rank] - mix.mpi_s[rank]) * share
        parts = 0
        for number, (step, count) in enumerate(zip(steps, times, strict=True)):
            parts += count * _takes_part(mix.groups[step.group], step, rank)
            if number in late:
                own -= count * sum(row[rank] for row in step.lateness_s) / len(step.lateness_s)
        found.append(max(own, 0.0) / max(parts, 1))
    return found


def _takes_part(group: Group, step: MixStep, rank: int) -> bool:
    if step.messages:
        return any(rank in ends for ends in step.messages)
    return any(rank in members for members in group)


def _late_words(steps: Sequence[MixStep]) -> Iterator[tuple[int, str]]:
    """By the number of the step; those that take longest first, while there is room."""
    room = LETTERS_OF_LATENESS
    for number in sorted(range(len(steps)), key=lambda each: -steps[each].seconds):
        rows = steps[number].lateness_s
        text = "_".join("+".join(map(_us, row)) for row in rows)
        if rows and len(text) <= room:
            room -= len(text)
            yield number, text


def _step_words(step: MixStep, times: int) -> str:
    text = f"{step.call}:{step.message_bytes}:{step.group}:{step.root}:{times}"
    if not step.messages:
        return text
    pairs = "+".join(f"{source}-{target}" for source, target in step.messages)
    return f"{text}:{step.window}:{pairs}"


def _group_words(group: Group) -> str:
    return "_".join("+".join(map(str, members)) for members in group)


def _us(seconds: float) -> str:
    return f"{1e6 * seconds:.3f}".rstrip("0").rstrip(".")
