# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the runs of a tuning say: which candidates are right, which rules follow, which hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.model.rules import MOST_BYTES, Rule
from mpigauge.result.stats.order import median
from mpigauge.result.tuning.choose import (
    AS_GOOD,
    LEAST_LAUNCHES,
    Choice,
    SizeRange,
    choose,
    judge,
    stand_ins,
)
from mpigauge.result.tuning.grid import Grid, grid_of
from mpigauge.runs.store.tunings import Evidence, Fault, Rescued, TunedRule

if TYPE_CHECKING:
    from mpigauge.model.call_mix import CallMix
    from mpigauge.model.columns import Cell
    from mpigauge.runs.store import Run

RESCUED = 0.1
"""Of the default's time: what is called a rescue takes at most this."""
Of = tuple[str, int]
"""A collective and a number of ranks."""


@dataclass(frozen=True)
class Tried:
    """What a run of correctness tests says."""

    right: frozenset[tuple[str, int, str]]
    """Collective, ranks and candidate."""
    faults: tuple[Fault, ...]

    @property
    def known(self) -> frozenset[tuple[str, int, str]]:
        """The collectives, ranks and candidates of which something came back."""
        wrong = {(each.collective, each.ranks, each.candidate) for each in self.faults}
        return self.right | wrong


def tried(stored: Run) -> Tried:
    """Which candidates were right and which wrong, by the counts of wrong elements; what was not
    measured is in neither."""
    right, faults = set(), []
    for cell in stored.cells:
        name = cell.benchmark.removesuffix("_right")
        if cell.wrong_count:
            why = f"{cell.wrong_count} wrong elements among {cell.ranks} ranks"
            faults.append(Fault(name, cell.ranks, cell.arm, why))
        elif cell.check != "unchecked":
            right.add((name, cell.ranks, cell.arm))
    return Tried(frozenset(right), tuple(faults))


def grids(stored: Run) -> dict[Of, Grid]:
    """The times of a run in which each round has a launch that all arms share, or one for each."""
    parts = len(stored.plan.get("parts") or ()) or 1
    return _grids(
        (_of(cell), cell.arm, cell.message_bytes, cell.launch // parts, cell.time_p50_s)
        for cell in as_ranks_come(stored.cells)
    )


def as_ranks_come(cells: Sequence[Cell]) -> list[Cell]:
    """Cells of ranks that come apart, as in a program, where there are any: ranks that come at once
    were measured beside them."""
    apart = {_of(cell) for cell in cells if cell.arrival}
    return [cell for cell in cells if cell.arrival or _of(cell) not in apart]


def weighed(of: Of, grid: Grid, mix: CallMix | None) -> Grid:
    """Its sizes count by the time that a program spends on calls of them, and alike for none."""
    if mix is None:
        return grid
    return replace(grid, weights={size: mix.seconds(*of, size) for size in grid.sizes})


def rules_of(of: Of, grid: Grid, choice: Choice, mix: CallMix | None = None) -> list[TunedRule]:
    """A rule for each stretch, from its first measured size to its last; where the next one
    follows at the next measured size, up to that. For a program from the smallest to the largest of
    its messages that the stretch speaks for."""
    found = []
    for place, stretch in enumerate(choice.faster):
        first, last = _ends(of, stretch, mix)
        following = choice.faster[place + 1 : place + 2]
        if following and _is_next(grid, stretch, following[0]):
            last = _ends(of, following[0], mix)[0] - 1
        rule = Rule(*of, first, last, stretch.arm)
        found.append(TunedRule(rule, evidence(stretch)))
    return found


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
    """The rules of an MPI that has to be told a candidate for each size: from each stretch's first
    size up to the next one's. Other candidates stand in for the default; none where there is
    nothing to gain."""
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
    """What all candidates have in common that take at most a tenth of the default's time at the
    longest message in three quarters of the launches or more; None: there is no such thing. In the
    others the default was lucky: ranks that share cores may happen to run in turn. `settings`: by
    candidate."""
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
    """The rules that fresh launches found faster, by a test over all of them, or as good as the
    default where they stand in for it; and the others."""
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
    """None: too little was measured of a rule. All that are judged share one level."""
    wanted: list[tuple[int, Grid, list[int]]] = []
    for number, rule in enumerate(rules):
        grid = measured.get((rule.collective, rule.ranks))
        sizes = [
            size for size in (grid.sizes if grid else ())
            if rule.first_bytes <= size <= rule.last_bytes
        ]  # fmt: skip
        if grid and sizes and tuned in grid.arms and len(grid.launches) > 1:
            wanted.append((number, grid, sizes))
    found: list[SizeRange | None] = [None] * len(rules)
    for number, grid, sizes in wanted:
        (found[number],) = judge(grid, [(tuned, sizes)], picked_from=len(wanted))
    return found


def evidence(stretch: SizeRange) -> Evidence:
    return Evidence(*stretch.ratio, stretch.launches)


def _of(cell: Cell) -> Of:
    return cell.benchmark, cell.ranks


def _grids(cells: Iterable[tuple[Of, str, int, int, float]]) -> dict[Of, Grid]:
    times: dict[Of, dict[tuple[str, int, int], float]] = {}
    for of, arm, size, launch, seconds in cells:
        times.setdefault(of, {})[arm, size, launch] = seconds
    return {
        of: grid_of(own, {size for _, size, _ in own}, dict.fromkeys(arm for arm, _, _ in own))
        for of, own in times.items()
    }


def choices(measured: Mapping[Of, Grid]) -> dict[Of, Choice]:
    return {of: choose(grid) for of, grid in measured.items()}
