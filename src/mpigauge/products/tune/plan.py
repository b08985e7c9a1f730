# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plans of a tuning: testing and measuring candidates, and confirming rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.measuring.plan.resolve import parts_of, plan_of
from mpigauge.model.names import CONTROL
from mpigauge.model.rules import of_collective
from mpigauge.model.suite_options import ARRIVAL

if TYPE_CHECKING:
    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.call_mix import CallMix
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.rules import Rule

SIZES = tuple(8 << 2 * k for k in range(10))
"""The message sizes: 8 B to 2 MiB, each four times the one before."""
CROWDED_SIZES = (8, 64 << 10, 1 << 20)
"""The message sizes if ranks share cores, as a single call may then take seconds."""
CROWDED_S = 120.0
"""The default measuring time of a run whose ranks share cores."""
LAUNCHES = 6
ROUNDS_TO_CONFIRM = 10
RIGHT = "SELFTEST:{}_right"
"""The benchmark that counts the wrong elements of a collective."""
ODD_RANKS = 3
"""A number of ranks that is no power of two, at which more algorithms fail."""
SILENT_S = 30.0
"""The seconds of silence after its start at which a launch of candidates is taken to hang, if at
most PATIENT_RANKS share a core; with more of them, as much longer, up to --timeout. Kernels refuse
tests that take almost as long."""
PATIENT_RANKS = 8
TUNED = "tuned"
Arms = Sequence[tuple[str, Mapping[str, str]]]
"""The names of candidates with their settings."""


@dataclass(frozen=True)
class Where:
    """The inputs of plans other than the request."""

    cards: Cards
    resources: Resources
    mpi: Mpi
    mix: CallMix | None = None
    """The calls to tune for; None: any."""

    def plan(self, request: Request, parts: Iterable[PlanPart]) -> Plan:
        parts = tuple(parts)
        names = tuple(dict.fromkeys(name for part in parts for name in part.benchmarks))
        own = replace(request, benchmarks=names, sizes=None)  # parts have theirs
        return plan_of(own, parts, self.cards, self.resources, self.mpi)

    def part(self, request: Request, benchmark: str, ranks: int) -> PlanPart:
        """Returns a job of `ranks` ranks for one benchmark. UserError: too few cores."""
        own = replace(request, benchmarks=(benchmark,), ranks=(ranks,), np=ranks)
        (part,) = parts_of(own, self.cards, self.resources)
        return part

    @property
    def cores(self) -> int:
        """The number of cores of all hosts together, or of this machine."""
        return sum(host.topology.cores for host in self.resources.all_hosts)

    def with_room(self, ranks: int) -> Where:
        """Returns these hosts with room for all `ranks`, even beyond --ppn."""
        hosts = len(self.resources.hosts)
        if not hosts or ranks <= self.resources.room:
            return self
        return replace(self, resources=replace(self.resources, ppn=math.ceil(ranks / hosts)))

    def measured_part(self, request: Request, collective: str, ranks: int) -> PlanPart:
        """Returns a part that measures the collective with the sizes, datatype, operation and
        arrival pattern of the program. The pattern needs a core for each rank."""
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
    """Returns a plan whose launches each measure the default, all candidates and the default once
    more. `arms`: by collective and ranks."""
    parts = []
    for name, by_ranks in arms.items():
        for ranks, own in by_ranks.items():
            parts.append(
                replace(where.measured_part(request, name, ranks), arms=_with_default(own))
            )
    return _in_rounds(where.plan(request, parts), request)


def screen_plan(plan: Plan) -> Plan:
    """Returns the plan of a grid with one launch of each part."""
    return replace(plan, launches=1, seconds=None)


def refine_plan(
    request: Request,
    arms: Mapping[str, Mapping[int, Arms]],
    sizes: Mapping[tuple[str, int], tuple[int, ...]],
    where: Where,
) -> Plan:
    """Returns a plan of the candidates at these sizes only, by collective and ranks."""
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
    """Returns a plan with alternating launches of the default and each candidate, for an MPI that
    reads settings at start."""
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
    """Returns a correctness test in one launch per collective and number of ranks."""
    parts = []
    for name, by_ranks in arms.items():
        for ranks, own in by_ranks.items():
            parts.append(replace(_right(request, name, ranks, where), arms=(("", {}), *own)))
    return _once(where.plan(_crowded(request), parts), where)


def right_alone_plan(
    request: Request, alone: Iterable[tuple[str, int, str, Mapping[str, str]]], where: Where
) -> Plan:
    """Returns a correctness test with a launch for each candidate, which may abort or hang.
    `alone`: collective, ranks, name and settings."""
    parts = [
        replace(_right(request, name, ranks, where), arm=arm, settings=dict(settings))
        for name, ranks, arm, settings in alone
    ]
    return _once(where.plan(_crowded(request), parts), where)


def confirm_plan(
    request: Request, rules: Sequence[Rule], settings: Mapping[str, str], where: Where
) -> Plan:
    """Returns a plan with alternating launches of the default and the rules, at the sizes of the
    rules and between them."""
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


def beyond_plan(
    request: Request, targets: Iterable[tuple[str, int]], settings: Mapping[str, str], where: Where
) -> Plan:
    """Returns a plan whose launches each measure a collective with these settings and all of its
    algorithms of suite ALG. `targets`: collectives and ranks."""
    parts = []
    for name, ranks in targets:
        part = where.measured_part(request, name, ranks)
        options = {key: value for key, value in part.suite_options.items() if key != ARRIVAL}
        words = (name, *(card.word for card in where.cards.algorithms(name)))
        own = dict(settings)
        parts.append(replace(part, benchmarks=words, suite_options=options, settings=own))
    return _in_rounds(where.plan(request, parts), request)


def sizes_to_confirm(rule: Rule, request: Request, where: Where) -> list[int]:
    """Returns the measured sizes of a rule, and with a core for each rank new ones between them.
    For a program: the ends of its message sizes instead."""
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
    """Returns the measured sizes of a rule, a new one between each two, and its ends if refining
    measured them."""
    measured = [size for size in every if rule.first_bytes <= size <= rule.last_bytes]
    between = [between_sizes(a, b) for a, b in pairwise(measured)]
    ends = [end for end in (rule.first_bytes, rule.last_bytes) if end and not end & (end - 1)]
    return sorted({*measured, *between, *ends})


def between_sizes(low: int, high: int) -> int:
    """Returns about the geometric mean of two sizes, in whole elements of eight bytes."""
    middle = round(math.sqrt(max(low, 1) * high))
    return max(low, middle // 8 * 8)


def _in_rounds(plan: Plan, request: Request) -> Plan:
    fixed = LAUNCHES if request.seconds is None else None
    return replace(plan, shuffle=True, launches=request.launches or fixed)


def _with_default(own: Arms) -> tuple[tuple[str, Mapping[str, str]], ...]:
    return (("", {}), *own, (CONTROL, {}))


def _crowded(request: Request) -> Request:
    """Returns a request for correctness tests, in which ranks may share cores."""
    return replace(request, oversubscribe=True, data="static", sizes=None)


def _right(request: Request, name: str, ranks: int, where: Where) -> PlanPart:
    return where.with_room(ranks).part(_crowded(request), RIGHT.format(name), ranks)


def _once(plan: Plan, where: Where) -> Plan:
    """Returns the plan with one launch of each part, which ends soon if it is silent."""
    parts = [
        replace(part, timeout_s=_silent_s(part.world_ranks / where.cores, plan.timeout_s))
        for part in plan.parts
    ]
    once = replace(plan, parts=tuple(parts), launches=1, seconds=None, strict=True, use_all=False)
    return replace(once, start_s=plan.timeout_s)


def _silent_s(ranks_of_core: float, most_s: float) -> float:
    return max(SILENT_S, min(SILENT_S * ranks_of_core / PATIENT_RANKS, most_s))
