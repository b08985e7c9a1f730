# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Refines the ends of rules: between a measured size with the rule and the next one without it,
powers of two are measured by bisection, and added if significantly faster."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mpigauge.products.tune.decide.choose import judge
from mpigauge.products.tune.decide.grid import Grid
from mpigauge.products.tune.result import Of
from mpigauge.runs.store.tuned_rules import TunedRule

MOST_HALVINGS = 3


@dataclass(frozen=True)
class Edge:
    """An end of a rule, between a size with the rule and the next one without any."""

    rule: int
    """The index of the rule."""
    of: Of
    candidate: str
    inside: int
    outside: int

    @property
    def middle(self) -> int | None:
        """The power of two halfway between inside and outside; None: it does not exist."""
        low, high = sorted((self.inside, self.outside))
        power = round((math.log2(max(low, 1)) + math.log2(high)) / 2)
        if low < 1 << power < high:
            return 1 << power
        return None


def edges_of(rules: Sequence[TunedRule], grids: Mapping[Of, Grid]) -> list[Edge]:
    """Returns the edges between rules and sizes without any rule."""
    return [edge for place, each in enumerate(rules) for edge in _edges(place, each, rules, grids)]


def _edges(
    place: int, each: TunedRule, rules: Sequence[TunedRule], grids: Mapping[Of, Grid]
) -> Iterator[Edge]:
    rule = each.rule
    of = rule.collective, rule.ranks
    sizes = grids[of].sizes
    before = [size for size in sizes if size < rule.first_bytes]
    behind = [size for size in sizes if size > rule.last_bytes]
    for inside, outside in ((rule.first_bytes, before[-1:]), (rule.last_bytes, behind[:1])):
        if outside and not any(other.rule.holds(*of, outside[0]) for other in rules):
            yield Edge(place, of, rule.candidate, inside, outside[0])


def sizes_to_ask(edges: Iterable[Edge]) -> dict[Of, tuple[int, ...]]:
    """Returns the sizes to measure next."""
    sizes_by_key: dict[Of, set[int]] = {}
    for edge in edges:
        if edge.middle is not None:
            sizes_by_key.setdefault(edge.of, set()).add(edge.middle)
    return {of: tuple(sorted(sizes)) for of, sizes in sizes_by_key.items()}


def moved(edges: Sequence[Edge], grids: Mapping[Of, Grid]) -> list[Edge]:
    """Returns the edges after their middles were measured; edges without a middle are done."""
    asked = [edge for edge in edges if edge.middle is not None]
    return [_moved(edge, grids.get(edge.of), len(asked)) for edge in asked]


def _moved(edge: Edge, grid: Grid | None, many: int) -> Edge:
    middle = edge.middle or edge.inside
    if grid is None or edge.candidate not in grid.arms or middle not in grid.sizes:
        return replace(edge, outside=middle)
    (stretch,) = judge(grid, [(edge.candidate, [middle])], picked_from=many)
    faster = stretch.is_faster and len(grid.launches) > 1
    if faster:
        return replace(edge, inside=middle)
    return replace(edge, outside=middle)


def widened(rules: Sequence[TunedRule], edges: Iterable[Edge]) -> list[TunedRule]:
    """Returns the rules widened to the inner sizes of their edges."""
    widened_rules = list(rules)
    for edge in edges:
        rule = widened_rules[edge.rule].rule
        first, last = min(rule.first_bytes, edge.inside), max(rule.last_bytes, edge.inside)
        widened_rules[edge.rule] = replace(
            widened_rules[edge.rule], rule=replace(rule, first_bytes=first, last_bytes=last)
        )
    return widened_rules
