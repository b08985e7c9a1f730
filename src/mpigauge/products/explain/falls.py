# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds falls of a curve's bandwidth from one size to the next that last."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.model.grouping import grouped
from mpigauge.model.row import NOTHING
from mpigauge.model.units import first_few
from mpigauge.result.models.breaks import cache_at
from mpigauge.result.stats.pieces import Break
from mpigauge.result.words import bandwidth, size

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.model.topology import Cache
    from mpigauge.result.run_view import Curve, RunView

COLLAPSE = 2.0
"""The factor by which bandwidth has to fall for a collapse."""
_SMALLEST = 512
"""Bandwidths of shorter messages are latencies."""


@dataclass(frozen=True)
class Fall:
    curve: Curve
    before: Row
    after: Row
    ratio: float
    """The bandwidth before by that behind it."""

    @property
    def behind(self) -> tuple[Row, ...]:
        return self.curve.behind(self.before.message_bytes)

    @property
    def as_break(self) -> Break:
        """The fall as a break, with the time that one would expect at a constant bandwidth."""
        sizes = self.before.message_bytes, self.after.message_bytes
        return Break(*sizes, step=self.ratio, slope=math.nan)


def falls(view: RunView, least: float) -> Iterator[Fall]:
    """The deepest of each curve, by `least` or more beyond the errors of both bandwidths, where no
    larger message makes up for half of it."""
    if "falls" not in view.memo:
        view.memo["falls"] = [list(_falling(curve)) for curve in view.curves]
    for of in view.memo["falls"]:
        lasting = [fall for fall in of if fall.ratio >= least and _stays(fall)]
        if lasting:
            yield max(lasting, key=lambda fall: fall.ratio)


def together(all_falls: Iterable[Fall]) -> list[list[Fall]]:
    """Falls between the same two sizes together, the deepest first."""
    deepest_first = sorted(all_falls, key=lambda fall: -fall.ratio)
    return list(grouped(deepest_first, _sizes).values())


def _sizes(fall: Fall) -> tuple[int, int]:
    return fall.before.message_bytes, fall.after.message_bytes


def in_words(group: Sequence[Fall]) -> str:
    """The curves that fall, and the size of the deepest fall."""
    fall = group[0]
    return (
        f"{first_few(each.curve.label for each in group)}: bandwidth falls from "
        f"{bandwidth(fall.before)} at {size(fall.before)} to {bandwidth(fall.after)} at "
        f"{size(fall.after)}"
    )


def lost_behind(group: Iterable[Fall]) -> Iterator[float]:
    """The share of the time of each row behind them that the bandwidth before would save."""
    for fall in group:
        kept = _speed(fall.before)
        for row in fall.behind:
            yield max(0.0, 1 - _speed(row) / kept)


def cache_past(view: RunView, fall: Fall) -> Cache | None:
    """The cache that messages stop to fit into just there."""
    return cache_at(view, fall.curve, fall.as_break)


def _falling(curve: Curve) -> Iterator[Fall]:
    """The falls from each size to the next that exceed the errors."""
    for before, after in pairwise(curve.rows):
        if before.message_bytes < _SMALLEST or not before.bandwidth or not after.bandwidth:
            continue
        if _least(before) > _most(after) and _speed(before) > _speed(after):
            yield Fall(curve, before, after, _speed(before) / _speed(after))


def _stays(fall: Fall) -> bool:
    half = math.sqrt(_speed(fall.before) * _speed(fall.after))
    return all(_speed(row) <= half for row in fall.behind)


def _speed(row: Row) -> float:
    """Its bandwidth in bytes per second; NaN where it has none."""
    return (row.bandwidth or NOTHING).value


def _least(row: Row) -> float:
    """The lower end of its interval, or the value where none is known."""
    bandwidth = row.bandwidth or NOTHING
    if math.isnan(bandwidth.low):
        return bandwidth.value
    return bandwidth.low


def _most(row: Row) -> float:
    """The upper end of its interval, or the value where none is known."""
    bandwidth = row.bandwidth or NOTHING
    if math.isnan(bandwidth.high):
        return bandwidth.value
    return bandwidth.high
