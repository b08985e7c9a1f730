# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Evaluates the runs of a tuning: correct candidates, rules, and confirmed rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mpigauge.model.rules import MOST_BYTES, Rule
from mpigauge.products.tune.decide.choose import (
    AS_GOOD,
    LEAST_LAUNCHES,
    Choice,
    SizeRange,
    choose,
    judge,
    stand_ins,
)
from mpigauge.products.tune.decide.grid import Grid, grid_of
from mpigauge.result.stats.order import median
from mpigauge.runs.store.tuned_rules import Evidence, Fault, Rescued, TunedRule

if TYPE_CHECKING:
    from mpigauge.model.call_mix import CallMix
    from mpigauge.model.columns import Cell
    from mpigauge.runs.store import Run

RESCUED = 0.1
"""The maximum share of the default's time that counts as a rescue."""
Of = tuple[str, int]
"""A collective and a number of ranks."""
Tested = tuple[str, int, str]
"""A collective, a number of ranks and a candidate."""
TOO_SLOW = "the test takes too long: "
"""The beginning of the reason why the kernels refuse a test that would take too long."""


@dataclass(frozen=True)
class Tried:
    """The results of a run of correctness tests."""

    right: frozenset[Tested]
    """The correct candidates."""
    faults: tuple[Fault, ...]
    untested: Mapping[Tested, str] = field(default_factory=dict)
    """The candidates for whose test there was no time, with the reason."""

    @property
    def tested(self) -> frozenset[Tested]:
        """The candidates with a result."""
        wrong = {(each.collective, each.ranks, each.candidate) for each in self.faults}
        return self.right | wrong


def tried(stored: Run) -> Tried:
    """Returns the correct and the faulty candidates, by their counts of wrong elements, and those
    whose test would take too long; those without a result are in none of them."""
    right, faults = set(), []
    for cell in stored.cells:
        name = _collective(cell.benchmark)
        if cell.wrong_count:
            why = f"{cell.wrong_count} wrong elements among {cell.ranks} ranks"
            faults.append(Fault(name, cell.ranks, cell.arm, why))
        elif cell.check != "unchecked":
            right.add((name, cell.ranks, cell.arm))
    untested = {
        (_collective(skip.key["benchmark"]), skip.key["ranks"], skip.key["arm"]): skip.reason
        for skip in stored.skips
        if skip.reason.startswith(TOO_SLOW)
    }
    return Tried(frozenset(right), tuple(faults), untested)


def _collective(benchmark: str) -> str:
    return benchmark.removesuffix("_right")


def grids(stored: Run) -> dict[Of, Grid]:
    """Returns the times of a run whose rounds have a launch for all arms, or one for each."""
    parts = len(stored.plan.get("parts") or ()) or 1
    return _grids(
        (_of(cell), cell.arm, cell.message_bytes, cell.launch // parts, cell.time_p50_s)
        for cell in as_ranks_come(stored.cells)
    )


def as_ranks_come(cells: Sequence[Cell]) -> list[Cell]:
    """Returns the cells to judge: those with an arrival pattern, if a collective has any, else all
    of its cells."""
    apart = {_of(cell) for cell in cells if cell.arrival}
    return [cell for cell in cells if cell.arrival or _of(cell) not in apart]


def weighed(of: Of, grid: Grid, mix: CallMix | None) -> Grid:
    """Returns the grid with sizes weighted by the program's time; without `mix` unchanged."""
    if mix is None:
        return grid
    return replace(grid, weights={size: mix.seconds(*of, size) for size in grid.sizes})


def rules_of(of: Of, grid: Grid, choice: Choice, mix: CallMix | None = None) -> list[TunedRule]:
    """Returns a rule for each stretch, from its first measured size to its last, or up to the next
    stretch if that begins at the next measured size. For a program the ends are its smallest and
    largest message in the stretch."""
    rules = []
    for place, stretch in enumerate(choice.faster):
        first, last = _ends(of, stretch, mix)
        following = choice.faster[place + 1 : place + 2]
        if following and _is_next(grid, stretch, following[0]):
            last = _ends(of, following[0], mix)[0] - 1
        rule = Rule(*of, first, last, stretch.arm)
        rules.append(TunedRule(rule, evidence(stretch)))
    return rules


def _ends(of: Of, stretch: SizeRange, mix: CallMix | None) -> tuple[int, int]:
    first, last = stretch.sizes[0], stretch.sizes[-1]
    if mix is None:
        return first, last
    calls = {call.message_bytes: call for call in mix.of(*of)}
    return calls[first].least_bytes, calls[last].most_bytes


def _is_next(grid: Grid, stretch: SizeRange, following: SizeRange) -> bool:
    return grid.sizes.index(following.sizes[0]) == grid.sizes.index(stretch.sizes[-1]) + 1


def rules_for_all_sizes(
    of: Of, grid: Grid, choice: Choice, mix: CallMix | None = None
) -> list[TunedRule]:
    """Returns the rules of an MPI that needs a candidate for each size: from the first size of each
    stretch to that of the next. Other candidates replace the default. No rules if none is
    faster."""
    if not choice.faster:
        return []
    own = (*choice.faster, *stand_ins(grid, choice.faster))
    stretches = sorted(own, key=lambda each: each.sizes[0])
    starts = [0, *(_ends(of, each, mix)[0] for each in stretches[1:])]
    ends = [*(start - 1 for start in starts[1:]), MOST_BYTES]
    return [
        TunedRule(
            Rule(*of, start, end, stretch.arm),
            evidence(stretch),
            stands_in=stretch not in choice.faster,
        )
        for start, end, stretch in zip(starts, ends, stretches, strict=True)
    ]


def is_as_good(gained: Evidence) -> bool:
    return gained.high <= AS_GOOD


def rescue(of: Of, grid: Grid, settings: Mapping[str, Mapping[str, str]]) -> Rescued | None:
    """Returns the settings shared by all candidates that take at most a tenth of the default's time
    at the longest message in at least three quarters of launches; None: there are none. In the
    other launches ranks that share cores may happen to run in turn. `settings`: by candidate."""
    if not grid.sizes or len(grid.launches) < LEAST_LAUNCHES:
        return None
    longest = grid.sizes[-1]
    ratios = {}
    for arm in grid.arms:
        if arm in settings:
            ratios[arm] = grid.ratios(arm, longest)
    rescued = {arm: sum(one <= math.log(RESCUED) for one in own) for arm, own in ratios.items()}
    faster = [arm for arm, count in rescued.items() if 4 * count >= 3 * len(grid.launches)]
    if not faster:
        return None
    shared = set.intersection(*(set(settings[arm].items()) for arm in faster))
    if not shared:
        return None
    return Rescued(
        *of,
        settings=dict(sorted(shared)),
        message_bytes=longest,
        usual=math.exp(max(median(ratios[arm]) for arm in faster)),
        in_launches=min(rescued[arm] for arm in faster),
        candidates=len(faster),
        launches=len(grid.launches),
    )


def confirmed(
    rules: Sequence[TunedRule], measured: Mapping[Of, Grid], tuned: str
) -> tuple[list[TunedRule], list[TunedRule]]:
    """Returns the rules that fresh launches confirm, and the others. Confirmed are faster ones, by
    a test over all rules, and stand-ins that are as good as the default."""
    kept: list[TunedRule] = []
    dropped: list[TunedRule] = []
    judged = _judged([each.rule for each in rules], measured, tuned)
    for each, stretch in zip(rules, judged, strict=True):
        sure = evidence(stretch) if stretch else None
        now = replace(each, confirmed=sure)
        (kept if stretch is not None and _holds(each, stretch) else dropped).append(now)
    return kept, dropped


def _holds(rule: TunedRule, stretch: SizeRange) -> bool:
    if rule.stands_in:
        return stretch.is_as_good
    return stretch.is_faster


def _judged(
    rules: Sequence[Rule], measured: Mapping[Of, Grid], tuned: str
) -> list[SizeRange | None]:
    """Judges all rules at one joint significance level; None: too few measurements of a rule."""
    measurable: list[tuple[int, Grid, list[int]]] = []
    for number, rule in enumerate(rules):
        grid = measured.get((rule.collective, rule.ranks))
        sizes = [
            size for size in (grid.sizes if grid else ())
            if rule.first_bytes <= size <= rule.last_bytes
        ]  # fmt: skip
        if grid and sizes and tuned in grid.arms and len(grid.launches) > 1:
            measurable.append((number, grid, sizes))
    stretches: list[SizeRange | None] = [None] * len(rules)
    for number, grid, sizes in measurable:
        (stretches[number],) = judge(grid, [(tuned, sizes)], picked_from=len(measurable))
    return stretches


def evidence(stretch: SizeRange) -> Evidence:
    return Evidence(*stretch.ratio, stretch.launches)


def _of(cell: Cell) -> Of:
    return cell.benchmark, cell.ranks


def _grids(cells: Iterable[tuple[Of, str, int, int, float]]) -> dict[Of, Grid]:
    times: dict[Of, dict[tuple[str, int, int], float]] = {}
    for of, arm, size, launch, seconds in cells:
        times.setdefault(of, {})[arm, size, launch] = seconds
    return grids_of(times)


def grids_of(times: Mapping[Of, Mapping[tuple[str, int, int], float]]) -> dict[Of, Grid]:
    """Returns the grid of each collective, from times by arm, size and launch."""
    return {
        of: grid_of(own, {size for _, size, _ in own}, dict.fromkeys(arm for arm, _, _ in own))
        for of, own in times.items()
    }


def choices(measured: Mapping[Of, Grid]) -> dict[Of, Choice]:
    return {of: choose(grid) for of, grid in measured.items()}
