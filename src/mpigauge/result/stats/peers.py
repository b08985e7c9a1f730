# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pairs of ranks, each judged against its peers: the pairs whose ranks share as much; and hosts,
each judged against all others.

A pair is odd when it is slower than its peers by more than chance: by SCORE robust deviations, a
deviation being the largest of 1.4826 times the median distance of the peers from their median (of
normal values that is the standard deviation), the usual error of the peers, and its own error.
A rank is odd when its pairs, each divided by the median of its peers, are so too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mpigauge.model.grouping import grouped
from mpigauge.model.row import Estimate
from mpigauge.result.stats.order import median

SCORE = 5.0
LEAST_RATIO = 1.05
"""Less than 5 % slower is not worth an accusation."""
LEAST_PEERS = 5
"""The fewest peers that show what is usual."""
_NORMAL = 1.4826


class RankPair(NamedTuple):
    first: int
    second: int
    """Ranks."""
    level: str
    """The innermost level that both ranks share."""
    time: Estimate
    """The time in seconds, with its 95 % interval."""


@dataclass(frozen=True)
class PeerValues:
    """The times of peers, with their median, error and scatter."""

    values: tuple[Estimate, ...]

    @cached_property
    def times(self) -> list[float]:
        return [value.value for value in self.values]

    @cached_property
    def median_s(self) -> float:
        return median(self.times)

    @cached_property
    def error_s(self) -> float:
        """The median error of the values, in seconds."""
        return median(value.error for value in self.values)

    @cached_property
    def deviation_s(self) -> float:
        middle = self.median_s
        return _NORMAL * median(abs(time - middle) for time in self.times)

    def is_odd(self, value: Estimate) -> bool:
        """True if a time is significantly longer than usual."""
        return _stands_out(value, self.median_s, self.deviation_s, self.error_s)


@dataclass(frozen=True)
class PeerGroup:
    """All pairs whose ranks share the same level and nothing closer."""

    level: str
    pairs: tuple[RankPair, ...]

    @cached_property
    def usual(self) -> PeerValues:
        return PeerValues(tuple(pair.time for pair in self.pairs))

    @property
    def times(self) -> list[float]:
        return self.usual.times

    @property
    def median_s(self) -> float:
        return self.usual.median_s

    @property
    def error_s(self) -> float:
        return self.usual.error_s

    @property
    def deviation_s(self) -> float:
        return self.usual.deviation_s


class Odd(NamedTuple):
    pair: RankPair
    peers: PeerGroup
    """The pairs with which it was compared, and itself."""

    @property
    def ratio(self) -> float:
        return self.pair.time.value / self.peers.median_s


class OddRank(NamedTuple):
    rank: int
    ratio: float
    """The median time of its pairs, relative to their peers'."""


class OddOne(NamedTuple):
    name: str
    ratio: float
    """The time relative to the median of all."""


def odd_ones(times: Mapping[str, Estimate]) -> tuple[OddOne, ...]:
    """Returns those that take longer than their peers, the worst first; none if there are fewer
    than LEAST_PEERS. `times`: by name."""
    if len(times) < LEAST_PEERS:
        return ()
    usual = PeerValues(tuple(times.values()))
    odd = []
    for name, time in times.items():
        if usual.is_odd(time):
            odd.append(OddOne(name, time.value / usual.median_s))
    return tuple(sorted(odd, key=lambda each: -each.ratio))


def clusters(pairs: Iterable[RankPair], order: Sequence[str]) -> tuple[PeerGroup, ...]:
    """Pairs by level, in this order of levels."""
    by_level = grouped(pairs, lambda pair: pair.level)
    result = []
    for level in order:
        if level in by_level:
            result.append(PeerGroup(level, tuple(by_level[level])))
    return tuple(result)


def odd_pairs(groups: Iterable[PeerGroup]) -> tuple[Odd, ...]:
    """The slow ones of every cluster that is large enough to judge, the worst first."""
    odd = []
    for cluster in groups:
        if len(cluster.pairs) < LEAST_PEERS:
            continue
        for pair in cluster.pairs:
            if cluster.usual.is_odd(pair.time):
                odd.append(Odd(pair, cluster))
    return tuple(sorted(odd, key=lambda each: -each.ratio))


def odd_ranks(groups: Iterable[PeerGroup]) -> tuple[OddRank, ...]:
    """Ranks whose pairs are all slow, the worst first."""
    values: dict[int, list[float]] = defaultdict(list)
    errors = []
    for cluster in groups:
        for pair in cluster.pairs:
            relative = pair.time.times(1 / cluster.median_s)
            for rank in (pair.first, pair.second):
                values[rank].append(relative.value)
                errors.append(relative.error)
    if len(values) < LEAST_PEERS:
        return ()
    usual = {rank: median(of) for rank, of in values.items()}
    middle, error = median(usual.values()), median(errors)
    deviation = _NORMAL * median(abs(value - middle) for value in usual.values())
    odd = []
    for rank, value in usual.items():
        if _stands_out(Estimate(value, value, value), middle, deviation, error):
            odd.append(OddRank(rank, value / middle))
    return tuple(sorted(odd, key=lambda each: -each.ratio))


def _stands_out(value: Estimate, middle: float, deviation: float, error: float) -> bool:
    step = max(deviation, error, value.error)
    return value.value > LEAST_RATIO * middle and value.value - middle > SCORE * step
