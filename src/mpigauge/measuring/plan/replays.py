# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The replay of a program: one iteration with the calls of its profile in proportion.

If the numbers of all calls have a common divisor, the proportions are exact; else each is rounded,
and calls too rare for an iteration are left out and reported. The profile's own time is also of the
rounded numbers, so rounding does not affect how close the replay comes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.errors import UserError
from mpigauge.model.suite_options import REPLAYED
from mpigauge.model.units import many

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from mpigauge.measuring.plan.plan import PlanPart
    from mpigauge.measuring.plan.request import Request
    from mpigauge.model.cards import Card
    from mpigauge.model.replayed import Replayed
    from mpigauge.runs.store.replays import Group, MixStep, ReplayMix

MOST_CALLS = 2000
"""The most steps of an iteration, unless that leaves out more than MUCH."""
MOST_SECONDS = 0.05
"""The longest duration of an iteration in the program."""
MUCH = 0.05
"""The share of the time in MPI that calls too rare for an iteration may take together."""
MOST_STEPS = 500
"""The most steps that differ from each other."""
MOST_LETTERS = 100_000
"""The most letters of the words for the kernels: a word of a command line may have some more."""
LETTERS_OF_LATENESS = 40_000
_TRIES = 8
"""The largest number of the rarest calls in an iteration that is tried, to reduce rounding."""
_RARE = "in calls too rare for an iteration"


def with_ranks(request: Request, chosen: Sequence[Card]) -> Request:
    """A request for the number of ranks of the program. UserError: there is nothing to replay."""
    if not any(REPLAYED in card.options for card in chosen):
        return request
    if request.replay is None:
        raise UserError(
            "Replay replays the program of a profile; name one that `mpigauge profile` made: "
            "--replay RUN"
        )
    if not request.replay.steps:
        raise UserError(
            f"--replay: nothing of what the program of {request.replay.run} calls can be replayed"
        )
    has_ranks = request.ranks or request.np or request.multi is not None or request.map is not None
    if has_ranks:
        return request
    return replace(request, ranks=(request.replay.ranks,))


def with_mix(
    options: Mapping[str, str],
    mix: ReplayMix | None,
    chosen: Sequence[Card],
    parts: Sequence[PlanPart],
) -> dict[str, str]:
    """The options with the mix instead of the name of its profile. UserError: no group of ranks is
    as large as the program was."""
    if mix is None or not any(REPLAYED in card.options for card in chosen):
        return dict(options)
    groups = {ranks for part in parts for ranks in part.ranks}
    most = max(part.world_ranks for part in parts)
    if mix.ranks > most or (groups and mix.ranks not in groups):
        raise UserError(
            f"--replay: the program of {mix.run} had {many(mix.ranks, 'rank')}; replay it on as "
            f"many with --ranks {mix.ranks}"
        )
    return {**options, REPLAYED: words(mix)}


def replayed_by(mix: ReplayMix | None) -> Replayed | None:
    """A description of the iteration for comparisons; None: nothing is replayed."""
    if mix is None or not mix.steps:
        return None
    from mpigauge.model.replayed import Replayed

    steps = iteration(mix)
    left: dict[str, float] = defaultdict(float, dict(mix.left_out))
    replayed_s = sum(each.step.seconds for each in steps)
    rare = sum(step.seconds for step in mix.steps) - replayed_s
    if rare > 0:
        left[_RARE] += rare
    whole = mix.mean_mpi_s
    shares = [(what, seconds / whole) for what, seconds in left.items()]
    shares.sort(key=lambda each: -each[1])
    return Replayed(
        profile=mix.run,
        calls=sum(each.times for each in steps),
        mpi_s=sum(each.seconds for each in steps),
        covered=replayed_s / whole if whole else 1.0,
        left_out=tuple(shares),
    )


# --- an iteration ---------------------------------------------------------------------------------
class RepeatedStep(NamedTuple):
    """A step of the program, and the number of its calls in an iteration."""

    step: MixStep
    times: int

    @property
    def seconds(self) -> float:
        """The time of its calls of an iteration in the program."""
        return self.times * self.step.seconds / self.step.calls


def iteration(mix: ReplayMix) -> list[RepeatedStep]:
    """The steps that are replayed, with the number of calls of each in an iteration."""
    dear = _dearest_first(mix.steps)[:MOST_STEPS]
    steps = [mix.steps[number] for number in sorted(dear)]
    by = _divisor(steps, max(mix.run_s))
    repeated = [RepeatedStep(step, round(step.calls / by)) for step in steps]
    return [each for each in repeated if each.times > 0]


def _dearest_first(steps: Sequence[MixStep]) -> list[int]:
    """The indices of the steps, those that take longest first."""
    return sorted(range(len(steps)), key=lambda place: -steps[place].seconds)


def _divisor(steps: Sequence[MixStep], run_s: float) -> float:
    """The divisor for the numbers of calls in the whole run."""
    counts = [step.calls for step in steps]
    exact = math.gcd(*counts)
    if _is_short(sum(counts) / exact, run_s / exact):
        return exact
    divisor = max(sum(counts) / MOST_CALLS, run_s / MOST_SECONDS)
    rarest = _rarest(steps)
    least = min(max(divisor, 1.0), rarest)
    near = {least}
    for count in counts:
        for times in range(1, _TRIES + 1):
            by = count / times
            if least <= by <= min(2 * least, rarest):
                near.add(by)
    return min(near, key=lambda by: (_rounded_off(steps, by), by))


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
    """The change of the proportions by rounding, in seconds of the run."""
    return sum(step.seconds * abs(round(step.calls / by) * by / step.calls - 1) for step in steps)


# --- in the kernels' words ------------------------------------------------------------------------
def words(mix: ReplayMix) -> str:
    """The mix in words as kernels/core/mix.hpp reads them. UserError: they are too long for a
    command line."""
    steps = iteration(mix)
    late = _late_words(steps)
    parts = [
        f"{_without_marks(mix.run)}={mix.ranks}",
        "/".join(map(_group_words, mix.groups)),
        "+".join(map(_us, gaps_s(mix, steps, late))),
        "/".join(map(_step_words, steps)),
        "/".join(f"{number}:{text}" for number, text in late.items()),
    ]
    text = ";".join(parts)
    if len(text) > MOST_LETTERS:
        raise UserError(
            f"--replay: the program of {mix.run} sends messages in too many ways to be replayed"
        )
    return text


def _without_marks(name: str) -> str:
    """The name without the separators in the kernels' words."""
    for mark in "=,+/; ":
        name = name.replace(mark, "_")
    return name


def gaps_s(mix: ReplayMix, steps: Sequence[RepeatedStep], late: Container[int]) -> list[float]:
    """The computing time of each rank between the steps in which it takes part, in seconds.
    Lateness before a step is a part of that; `late` has the indices of steps with any."""
    share = sum(each.times for each in steps) / sum(each.step.calls for each in steps)
    gaps = []
    for rank in range(mix.ranks):
        own = (mix.run_s[rank] - mix.mpi_s[rank]) * share
        parts = 0
        for number, (step, count) in enumerate(steps):
            parts += count * _takes_part(mix.groups[step.group], step, rank)
            if number in late:
                own -= count * _mean_lateness_s(step, rank)
        gaps.append(max(own, 0.0) / max(parts, 1))
    return gaps


def _mean_lateness_s(step: MixStep, rank: int) -> float:
    return sum(row[rank] for row in step.lateness_s) / len(step.lateness_s)


def _takes_part(group: Group, step: MixStep, rank: int) -> bool:
    together = step.messages or group
    return any(rank in members for members in together)


def _late_words(steps: Sequence[RepeatedStep]) -> dict[int, str]:
    """Lateness by the index of the step; those that take longest first, within the limit."""
    room = LETTERS_OF_LATENESS
    texts = {}
    for number in _dearest_first([each.step for each in steps]):
        rows = []
        for row in steps[number].step.lateness_s:
            rows.append("+".join(map(_us, row)))
        text = "_".join(rows)
        if rows and len(text) <= room:
            room -= len(text)
            texts[number] = text
    return texts


def _step_words(each: RepeatedStep) -> str:
    step = each.step
    text = f"{step.call}:{step.message_bytes}:{step.group}:{step.root}:{each.times}"
    if not step.messages:
        return text
    pairs = "+".join(f"{source}-{target}" for source, target in step.messages)
    return f"{text}:{step.window}:{pairs}"


def _group_words(group: Group) -> str:
    listed = ["+".join(map(str, members)) for members in group]
    return "_".join(listed)


def _us(seconds: float) -> str:
    return f"{1e6 * seconds:.3f}".rstrip("0").rstrip(".")
