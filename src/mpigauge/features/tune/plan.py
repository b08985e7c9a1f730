# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plans of a tuning: candidates tried for right results, measured, and rules confirmed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.measure.plan.plan import Plan, PlanPart
from mpigauge.measure.plan.resolve import parts_of, plan_of
from mpigauge.model.names import CONTROL
from mpigauge.model.rules import of_collective
from mpigauge.model.suite_options import ARRIVAL

if TYPE_CHECKING:
    from mpigauge.measure.plan.request import Request
    from mpigauge.measure.plan.resources import Resources
    from mpigauge.model.call_mix import CallMix
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.rules import Rule

SIZES = tuple(8 << 2 * k for k in range(10))
"""8 B to 2 MiB, each four times the one before."""
CROWDED_SIZES = (8, 64 << 10, 1 << 20)
"""The same where ranks share cores: a single call may take seconds there."""
CROWDED_S = 120.0
"""For how long a run measures there, where nobody has said it."""
LAUNCHES = 6
ROUNDS_TO_CONFIRM = 10
RIGHT = "SELFTEST:{}_right"
"""The benchmark that counts what a collective does wrong."""
ODD_RANKS = 3
"""Algorithms that go right among powers of two may go wrong here."""
SILENT_S = 30.0
"""After which a launch of candidates hangs, once it has started, which may take longer."""
TUNED = "tuned"
Arms = Sequence[tuple[str, Mapping[str, str]]]
"""Names of candidates, each with what is set for it."""


@dataclass(frozen=True)
class Where:
    """What plans are made of, beside the request."""

    cards: Cards
    resources: Resources
    mpi: Mpi
    mix: CallMix | None = None
    """The calls that are tuned for; None: any."""

    def plan(self, request: Request, parts: Iterable[PlanPart]) -> Plan:
        parts = tuple(parts)
        names = tuple(dict.fromkeys(name for part in parts for name in part.benchmarks))
        own = replace(request, benchmarks=names, sizes=None)  # parts have theirs
        return plan_of(own, parts, self.cards, self.resources, self.mpi)

    def part(self, request: Request, benchmark: str, ranks: int) -> PlanPart:
        """A job of so many ranks for one benchmark. UserError: they have no cores of their own."""
        own = replace(request, benchmarks=(benchmark,), ranks=(ranks,), np=ranks)
        (part,) = parts_of(own, self.cards, self.resources)
        return part

    @property
    def cores(self) -> int:
        """The cores of all hosts together, or of this machine."""
        return sum(host.topology.cores for host in self.resources.all_hosts)

    def with_room(self, ranks: int) -> Where:
        """These hosts with room for so many ranks on each, though that is more than --ppn says."""
        hosts = len(self.resources.hosts)
        if not hosts or ranks <= self.resources.room:
            return self
        return replace(self, resources=replace(self.resources, ppn=math.ceil(ranks / hosts)))

    def measured_part(self, request: Request, collective: str, ranks: int) -> PlanPart:
        """A part that measures the collective at the sizes and with the data that are tuned for,
        and with ranks that come as they do in the program, where that is known and they have cores
        of their own."""
        part = self.part(request, collective, ranks)
        options = {}
        calls = self.mix.of(collective, ranks) if self.mix else ()
        if calls and calls[0].op:
            options = {"datatype": calls[0].datatype, "op": calls[0].op}
        arrival = self.mix.arrival(collective, ranks) if self.mix else ""
        if arrival and ranks <= self.cores:
            options[ARRIVAL] = arrival
        return replace(
            part,
            sizes=self.sizes(request, collective, ranks),
            suite_options={**part.suite_options, **options},
        )

    def sizes(self, request: Request, collective: str, ranks: int) -> tuple[int, ...]:
        if self.mix is None:
            return request.sizes or (CROWDED_SIZES if ranks > self.cores else SIZES)
        return tuple(call.message_bytes for call in self.mix.of(collective, ranks))


def grid_plan(request: Request, arms: Mapping[str, Mapping[int, Arms]], where: Where) -> Plan:
    """The default, its candidates and the default once more, all in each launch. `arms`: by
    collective and ranks."""
    parts = []
    for name, by_ranks in arms.items():
        for ranks, own in by_ranks.items():
            parts.append(
                replace(where.measured_part(request, name, ranks), arms=_with_default(own))
            )
    return _in_rounds(where.plan(request, parts), request)


def screen_plan(plan: Plan) -> Plan:
    """One launch of each part of a grid, or one for each of its candidates."""
    return replace(plan, launches=1, seconds=None)


def refine_plan(
    request: Request,
    arms: Mapping[str, Mapping[int, Arms]],
    sizes: Mapping[tuple[str, int], tuple[int, ...]],
    where: Where,
) -> Plan:
    """A plan of the candidates at these sizes only, by collective and ranks."""
    parts = []
    for name, by_ranks in arms.items():
        for ranks, own in by_ranks.items():
            parts.append(
                replace(
                    where.measured_part(request, name, ranks),
                    sizes=sizes[name, ranks],
                    arms=_with_default(own),
                )
            )
    return _in_rounds(where.plan(request, parts), request)


def grid_alone_plan(request: Request, arms: Mapping[str, Mapping[int, Arms]], where: Where) -> Plan:
    """A plan of the candidates in launches of their own, in turn, where the MPI reads settings when
    it starts."""
    parts = []
    for name, by_ranks in arms.items():
        for ranks, own in by_ranks.items():
            for arm, settings in _with_default(own):
                parts.append(
                    replace(
                        where.measured_part(request, name, ranks), arm=arm, settings=dict(settings)
                    )
                )
    return _in_rounds(where.plan(request, parts), request)


def right_plan(request: Request, arms: Mapping[str, Mapping[int, Arms]], where: Where) -> Plan:
    """One launch for each collective and number of ranks, which all its candidates share."""
    parts = []
    for name, by_ranks in arms.items():
        for ranks, own in by_ranks.items():
            parts.append(replace(_right(request, name, ranks, where), arms=(("", {}), *own)))
    return _once(where.plan(_crowded(request), parts))


def right_alone_plan(
    request: Request, alone: Iterable[tuple[str, int, str, Mapping[str, str]]], where: Where
) -> Plan:
    """A plan that tries each candidate, which may abort or hang, in a launch of its own for right
    data. `alone`: collective, ranks, name and settings."""
    parts = [
        replace(_right(request, name, ranks, where), arm=arm, settings=dict(settings))
        for name, ranks, arm, settings in alone
    ]
    return _once(where.plan(_crowded(request), parts))


def confirm_plan(
    request: Request, rules: Sequence[Rule], settings: Mapping[str, str], where: Where
) -> Plan:
    """The default and the rules in launches of their own, in turn: where there are rules, at their
    sizes and between them."""
    parts = []
    for name, ranks in dict.fromkeys((rule.collective, rule.ranks) for rule in rules):
        own = [rule for rule in of_collective(rules, name) if rule.ranks == ranks]
        sizes = tuple(
            sorted({size for rule in own for size in sizes_to_confirm(rule, request, where)})
        )
        part = replace(where.measured_part(request, name, ranks), sizes=sizes)
        parts += [part, replace(part, arm=TUNED, settings=dict(settings))]
    plan = where.plan(request, parts)
    crowded = any(rule.ranks > where.cores for rule in rules)
    seconds = (request.seconds or CROWDED_S) if crowded else None
    return replace(plan, shuffle=True, launches=ROUNDS_TO_CONFIRM, seconds=seconds, use_all=False)


def sizes_to_confirm(rule: Rule, request: Request, where: Where) -> list[int]:
    """The sizes at which the candidate of a rule was measured, and, where ranks have cores of their
    own, new ones: between each two, or, for a program, the ends of those that it sends."""
    measured = where.sizes(request, rule.collective, rule.ranks)
    if rule.ranks > where.cores:
        return [size for size in measured if rule.first_bytes <= size <= rule.last_bytes]
    if where.mix is None:
        return sizes_of(rule, measured)
    calls = where.mix.of(rule.collective, rule.ranks)
    ends: set[int] = set()
    for call in calls:
        ends.update((call.least_bytes, call.message_bytes, call.most_bytes))
    return sorted(end for end in ends if rule.first_bytes <= end <= rule.last_bytes)


def sizes_of(rule: Rule, every: Sequence[int]) -> list[int]:
    """The sizes at which the candidate of a rule was measured, a new one between each two, and its
    ends where they were measured afterwards."""
    measured = [size for size in every if rule.first_bytes <= size <= rule.last_bytes]
    between = [between_sizes(a, b) for a, b in pairwise(measured)]
    ends = [end for end in (rule.first_bytes, rule.last_bytes) if end and not end & (end - 1)]
    return sorted({*measured, *between, *ends})


def between_sizes(low: int, high: int) -> int:
    """About their geometric mean, in whole elements of eight bytes."""
    middle = round(math.sqrt(max(low, 1) * high))
    return max(low, middle // 8 * 8)


def _in_rounds(plan: Plan, request: Request) -> Plan:
    fixed = LAUNCHES if request.seconds is None else None
    return replace(plan, shuffle=True, launches=request.launches or fixed)


def _with_default(own: Arms) -> tuple[tuple[str, Mapping[str, str]], ...]:
    return (("", {}), *own, (CONTROL, {}))


def _crowded(request: Request) -> Request:
    """Whether results are right does not depend on cores."""
    return replace(request, oversubscribe=True, data="static", sizes=None)


def _right(request: Request, name: str, ranks: int, where: Where) -> PlanPart:
    return where.with_room(ranks).part(_crowded(request), RIGHT.format(name), ranks)


def _once(plan: Plan) -> Plan:
    once = replace(plan, launches=1, seconds=None, use_all=False)
    return replace(once, timeout_s=SILENT_S, start_s=plan.timeout_s)
