# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pairs of hosts in rounds: what each reached together with all others, and alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.model.row import Estimate
from mpigauge.result.stats.order import fixed_order, median_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.model.record import Matching

    Pair = tuple[int, int]
    Times = Mapping[Pair, float]

SHORT = "Permutations8"
"""The benchmark of bursts of short messages."""
ALONE = "_alone"
"""The end of the name of a benchmark that measures the same pairs one after the other."""
WARM_UP = 0
"""The round that counts only if there is no other."""


@dataclass(frozen=True)
class PairsOfRound:
    """The bandwidths of the pairs of one round, by the places of their hosts, in bytes per second
    and both ways."""

    launch: int
    number: int
    together: Times
    alone: Times

    @property
    def share(self) -> float:
        """The sum of the bandwidths together over the sum of the same pairs alone."""
        return self.sum_together / self.sum_alone

    @property
    def sum_together(self) -> float:
        return sum(self.together[pair] for pair in self.both)

    @property
    def sum_alone(self) -> float:
        return sum(self.alone[pair] for pair in self.both)

    @cached_property
    def both(self) -> tuple[Pair, ...]:
        """The pairs that were measured both ways."""
        return tuple(pair for pair in self.together if pair in self.alone)


@dataclass(frozen=True)
class Pairing:
    """All rounds of one way to pair hosts."""

    name: str
    """The benchmark: Permutations, Bisection, Bisection_groups."""
    rounds: tuple[PairsOfRound, ...]

    @property
    def compared(self) -> tuple[PairsOfRound, ...]:
        """The rounds that were measured together and alone."""
        return tuple(each for each in self.rounds if each.both)

    @cached_property
    def share(self) -> Estimate | None:
        """The bandwidth together as a share of that alone, over the rounds; None: no round has
        both."""
        return estimate(each.share for each in self.compared)

    @cached_property
    def total(self) -> Estimate | None:
        """The sum of the bandwidths together, in bytes per second."""
        return estimate(each.sum_together for each in self.compared)

    @property
    def worst(self) -> PairsOfRound | None:
        """The round with the least share."""
        return min(self.compared, key=lambda each: each.share, default=None)

    def alone(self) -> dict[Pair, float]:
        """The bandwidth of each pair alone: the median over its rounds."""
        values: dict[Pair, list[float]] = defaultdict(list)
        for each in self.rounds:
            for pair, value in each.alone.items():
                values[pair].append(value)
        return {pair: _middle(of) for pair, of in values.items()}


def pairings(matchings: Iterable[Matching], lanes: int) -> tuple[Pairing, ...]:
    """The rounds of each way to pair hosts of so many ranks."""
    ways: dict[str, dict[tuple[int, int], dict[bool, Times]]] = defaultdict(
        lambda: defaultdict(lambda: {False: {}, True: {}})
    )
    for each in matchings:
        benchmark = str(each.key["benchmark"])
        if benchmark == SHORT:
            continue
        is_alone = benchmark.endswith(ALONE)
        times = of_hosts(each.pairs, each.time_ns, int(each.key["message_bytes"]), lanes)
        ways[benchmark.removesuffix(ALONE)][each.launch, each.round][is_alone] = times
    return tuple(Pairing(name, _rounds(of)) for name, of in ways.items())


def bursts(matchings: Iterable[Matching], lanes: int) -> tuple[Times, ...]:
    """The bursts per second of each pair of hosts in each round, by the slowest if there are
    several. Hosts meet before a burst, so that the warm-up counts."""
    rounds = {}
    for each in matchings:
        if each.key["benchmark"] == SHORT:
            times = _by_hosts(each.pairs, each.time_ns, lanes)
            rates = {pair: 1e9 / max(of) for pair, of in times.items()}
            rounds[each.launch, each.round] = rates
    return tuple(rates for _, rates in sorted(rounds.items()))


def _rounds(of: Mapping[tuple[int, int], Mapping[bool, Times]]) -> tuple[PairsOfRound, ...]:
    rounds = [PairsOfRound(*key, ways[False], ways[True]) for key, ways in sorted(of.items())]
    warm = [each for each in rounds if each.number != WARM_UP]
    return tuple(warm if any(each.both for each in warm) else rounds)


def of_hosts(
    ranks: Sequence[int], times_ns: Sequence[int], message_bytes: int, lanes: int
) -> Times:
    """The bandwidths of pairs of hosts, in bytes per second: the sum over their pairs of ranks."""
    times = _by_hosts(ranks, times_ns, lanes)
    return {pair: sum(2 * message_bytes / (ns * 1e-9) for ns in of) for pair, of in times.items()}


def _by_hosts(
    ranks: Sequence[int], times_ns: Sequence[int], lanes: int
) -> Mapping[Pair, Sequence[int]]:
    """The times of the pairs of ranks of each pair of hosts, in nanoseconds, without pairs of hosts
    of which a pair of ranks has no time."""
    times: dict[Pair, list[int]] = defaultdict(list)
    for place, time_ns in enumerate(times_ns):
        first, second = sorted(rank // lanes for rank in ranks[2 * place : 2 * place + 2])
        times[first, second].append(time_ns)
    return {pair: of for pair, of in times.items() if min(of) > 0}


def estimate(values: Iterable[float]) -> Estimate | None:
    """The median of values of rounds with its interval; None: there are no values."""
    every = tuple(values)
    if not every:
        return None
    order = fixed_order(len(every))
    low, high = median_interval(every, order) if order else (float("nan"), float("nan"))
    return Estimate(_middle(every), low, high)


def _middle(values: Sequence[float]) -> float:
    from statistics import median

    return median(values)
