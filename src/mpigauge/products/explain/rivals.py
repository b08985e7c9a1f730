# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds settings and placements that beat the default next to which they were measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.names import CONTROL

if TYPE_CHECKING:
    from mpigauge.model.row import Row

LEAST_GAIN = 0.1
LEAST_SHARE = 0.05


@dataclass(frozen=True)
class Rival:
    name: str
    faster: tuple[tuple[Row, Row], ...]
    """Each row of the default with the one that beats it."""
    slower: tuple[tuple[Row, Row], ...]
    """And those where it is the other way round."""

    @property
    def gains(self) -> list[float]:
        """The shares of time that it saves, for the rows where it is faster."""
        return [1 - other.latency.value / own.latency.value for own, other in self.faster]


def rivals(rows: Iterable[Row], column: str) -> list[Rival]:
    """The rivals that differ from the default (empty) in this column only and beat it somewhere,
    the one that saves most first.

    Faster is what takes LEAST_GAIN less and whose interval lies apart, over six launches or more.
    Of many rows a few are so by chance: it has to be more than LEAST_SHARE of those compared. The
    control of a sweep is the default itself, and no rival.
    """
    key_of = attrgetter(*(name for name in KEY_COLUMNS if name != column))
    groups: dict[tuple[object, ...], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        if row.kind == "interval":
            groups[key_of(row.cell)][getattr(row.cell, column)] = row
    pairs: dict[str, list[tuple[Row, Row]]] = defaultdict(list)
    for of in groups.values():
        for name, row in of.items():
            if name not in ("", CONTROL) and "" in of:
                pairs[name].append((of[""], row))
    better = []
    for name, each in pairs.items():
        faster = tuple((own, other) for own, other in each if _beats(other, own))
        slower = tuple((own, other) for own, other in each if _beats(own, other))
        if len(faster) > LEAST_SHARE * len(each):
            better.append(Rival(name, faster, slower))
    return sorted(better, key=lambda rival: -sum(rival.gains))


def _beats(one: Row, other: Row) -> bool:
    less = one.latency.value < (1 - LEAST_GAIN) * other.latency.value
    return less and one.latency.high < other.latency.low
