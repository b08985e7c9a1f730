# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pairs the numbers of two sides: like with like, from the surest criterion to the loosest.

Numbers with the same columns belong together. Each remaining number is paired with the only one of
the same placement, then with the only one at the same distance of ranks, then with the only one of
the same thing at all. Two placements of several are never paired.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.column_facts import HOW, SIZE
from mpigauge.model.grouping import grouped
from mpigauge.result.compare.match.items import OF_LAUNCHES

if TYPE_CHECKING:
    from mpigauge.result.compare.match.items import Item

OF_HOW = (*HOW, OF_LAUNCHES)
"""Columns for how a number was measured: numbers that differ only in them are compared, with a
note. All other columns identify the number."""
PLACEMENT = "placement"
_ONE_EACH = 2
Placed = tuple[int, "Item"]
"""An item of the first side with its place."""


def partners(first: Sequence[Item], second: Sequence[Item]) -> dict[int, Item]:
    """Returns the item of `second` that belongs to each place in `first`, where there is one."""
    exact = {item.columns: item for item in second}
    paired = {
        place: exact[item.columns] for place, item in enumerate(first) if item.columns in exact
    }
    if len(paired) == len(first) == len(second):
        return paired
    several = _with_several_placements([*first, *second])
    for criterion in (_by_placement, _by_distance, identity):
        taken = {item.columns for item in paired.values()}
        alone = [(place, item) for place, item in enumerate(first) if place not in paired]
        left = [item for item in second if item.columns not in taken]
        for place, other in _only_pairs(alone, left, criterion).items():
            if criterion is identity and _are_apart(first[place], other, several):
                continue
            paired[place] = other
    return paired


def identity(item: Item) -> Hashable:
    """Returns the columns for what was measured, without those for how."""
    return tuple(pair for pair in item.columns if pair[0] not in OF_HOW)


def placement_of(item: Item) -> str:
    """Returns the placement of an item; empty: the default, or the item has no placement."""
    return str(dict(item.columns).get(PLACEMENT, ""))


def where(item: Item) -> str:
    """Returns the distance of the two ranks of an item, or else its placement."""
    return item.distance or placement_of(item)


def _by_placement(item: Item) -> Hashable:
    return identity(item), placement_of(item)


def _by_distance(item: Item) -> Hashable:
    return identity(item), where(item)


def _only_pairs(
    ours: Sequence[Placed], theirs: Sequence[Item], criterion: Callable[[Item], Hashable]
) -> dict[int, Item]:
    """Pairs the items that are the only ones of their kind on both sides."""
    candidates = grouped(theirs, criterion)
    pairs: dict[int, Item] = {}
    for kind, alike in grouped(ours, lambda each: criterion(each[1])).items():
        others = candidates.get(kind, [])
        if len(alike) == len(others) == 1:
            pairs[alike[0][0]] = others[0]
    return pairs


def _with_several_placements(items: Sequence[Item]) -> frozenset[Hashable]:
    """Returns what has three placements or more on both sides together, at any size."""
    placements: dict[Hashable, set[str]] = {}
    for item in items:
        placements.setdefault(_curve(item), set()).add(placement_of(item))
    return frozenset(curve for curve, words in placements.items() if len(words) > _ONE_EACH)


def _curve(item: Item) -> Hashable:
    """Returns the columns for what was measured, without the size."""
    return tuple(pair for pair in item.columns if pair[0] not in (*OF_HOW, SIZE))


def _are_apart(ours: Item, theirs: Item, several: frozenset[Hashable]) -> bool:
    """True if they are two of several placements."""
    return placement_of(ours) != placement_of(theirs) and _curve(ours) in several
