# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Who is to blame: planted faults are named and nothing else, and a clean network has none.

Bandwidths are drawn. Rounds drift, flows have log-normal noise and rare outliers, hosts and pairs
differ a little for good. The seeds are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from mpigauge.result.fabric.blame import ABOUT, LEAST_SEEN, Account, Accusation, Flows, accuse

Permutation = Sequence[tuple[int, int]]
Slower = Callable[[int, int, Permutation], float]
"""The factor by which a flow is slower, by its hosts and all pairs of its round."""
CLEAN, PLANTED = 20, 10
"""Runs without a fault, and with one."""


@dataclass(frozen=True)
class Network:
    hosts: int
    groups: int = 2
    noise: float = 0.05
    outliers: float = 0.01
    drift: float = 0.1
    slower: Slower = field(default=lambda *_: 1.0)

    @cached_property
    def group(self) -> list[int]:
        return [host * self.groups // self.hosts for host in range(self.hosts)]

    @property
    def rounds(self) -> int:
        """The fewest rounds: four tournaments."""
        return max(4 * (self.hosts - 1), 100)

    def is_crossing(self, pair: tuple[int, int]) -> bool:
        first, second = pair
        return self.group[first] != self.group[second]

    def tournament(self, random: np.random.Generator) -> list[Permutation]:
        """Rounds in which each pair of hosts meets once; one host rests if their number is odd."""
        size = self.hosts + self.hosts % 2
        names = random.permutation(size).tolist()
        rounds: list[Permutation] = []
        for turn in range(size - 1):
            places = [size - 1, *((turn + step) % (size - 1) for step in range(size - 1))]
            pairs = [(names[places[at]], names[places[-at]]) for at in range(1, size // 2)]
            pairs.append((names[places[0]], names[places[size // 2]]))
            rounds.append([pair for pair in pairs if max(pair) < self.hosts])
        return rounds

    def measure(
        self, seed: int, fixed: Sequence[Permutation] = (), rounds: int = 0, times: int = 10
    ) -> Flows:
        """The flows of `rounds` permutations of tournaments (0: of several tournaments), and of
        each fixed permutation so many times, in random order."""
        random = np.random.default_rng(seed)
        host = random.normal(0, 0.02, self.hosts)
        link = random.normal(0, 0.01, (self.hosts, self.hosts))
        permutations: list[Permutation] = []
        while len(permutations) < (rounds or self.rounds):
            permutations += self.tournament(random)
        permutations = permutations[: rounds or None] + list(fixed) * times
        random.shuffle(permutations)
        measured, level = [], 0.0
        for pairs in permutations:
            level = 0.8 * level + random.normal(0, self.drift)
            flows = []
            for first, second in pairs:
                log = (
                    level
                    + host[first]
                    + host[second]
                    + link[min(first, second), max(first, second)]
                )
                log += random.normal(0, self.noise)
                if random.random() < self.outliers:
                    log -= 0.2 + abs(random.normal())
                slower = self.slower(first, second, pairs)
                flows.append((first, second, 1e9 * math.exp(log) / slower))
            measured.append(flows)
        return Flows.of_rounds(measured)

    def account(self, seed: int, **more: Any) -> Account:
        names = [f"n{host}" for host in range(self.hosts)]
        groups = [f"leaf{group}" for group in self.group]
        drawn = {name: more.pop(name) for name in ("fixed", "rounds", "times") if name in more}
        return accuse(self.measure(seed, **drawn), names, groups, **more)


Named = list[tuple[str, tuple[str, ...]]]


def named(account: Account) -> Named:
    return named_of(account.accusations)


def named_of(accusations: Sequence[Accusation]) -> Named:
    return [(each.kind, each.groups or each.hosts) for each in accusations]


def _slow_host(first: int, second: int, _: Permutation) -> float:
    return 2.0 if 1 in (first, second) else 1.0


def _lossy_pair(first: int, second: int, _: Permutation) -> float:
    return 4.0 if {first, second} == {0, 2} else 1.0


def _narrow_link(network: Network) -> Slower:
    """The link between two groups carries as much as a tenth of the hosts, and flows share it."""

    def slower(first: int, second: int, pairs: Permutation) -> float:
        crossing = sum(map(network.is_crossing, pairs))
        if not network.is_crossing((first, second)):
            return 1.0
        return max(1.0, crossing / (network.hosts / 10))

    return slower


def _shared_link(network: Network) -> Slower:
    """The link between two groups carries half of what a host sends."""

    def slower(first: int, second: int, pairs: Permutation) -> float:
        crossing = sum(map(network.is_crossing, pairs))
        return 2.0 * crossing if network.is_crossing((first, second)) else 1.0

    return slower


def _narrow_uplink(network: Network) -> Slower:
    def slower(first: int, second: int, _: Permutation) -> float:
        touching = 1 in (network.group[first], network.group[second])
        return 2.0 if touching and network.is_crossing((first, second)) else 1.0

    return slower


def _slow_switch(network: Network) -> Slower:
    def slower(first: int, second: int, _: Permutation) -> float:
        return 2.0 if 1 in (network.group[first], network.group[second]) else 1.0

    return slower


def _tapered(network: Network) -> Slower:
    return lambda first, second, _: 1.5 if network.is_crossing((first, second)) else 1.0


FAULTS: dict[str, tuple[int, Callable[[Network], Slower], tuple[str, tuple[str, ...]]]] = {
    "host": (2, lambda _: _slow_host, ("host", ("n1",))),
    "pair": (2, lambda _: _lossy_pair, ("pair", ("n0", "n2"))),
    "groups": (2, _narrow_link, ("groups", ("leaf0", "leaf1"))),
    "uplink": (4, _narrow_uplink, ("uplink", ("leaf1",))),
    "switch": (4, _slow_switch, ("switch", ("leaf1",))),
    "crossing": (4, _tapered, ("crossing", ())),
}
"""The number of groups, how much slower flows are, and what should be named."""
CLUSTERS = [(4, 0.05), (4, 0.2), (6, 0.2), (8, 0.05), (8, 0.2), (16, 0.1), (64, 0.1)]
"""Hosts and noise."""


@pytest.mark.parametrize(("hosts", "noise"), CLUSTERS)
def test_a_clean_network_is_cleared(hosts: int, noise: float) -> None:
    network = Network(hosts, noise=noise)
    accounts = [network.account(seed) for seed in range(CLEAN)]
    assert sum(not account.accusations for account in accounts) >= 18
    assert all(account.suspects > hosts for account in accounts)


SLOW_TO_JUDGE = ("switch", "crossing")
"""Faults that are tried on 16 hosts at most."""
FAULTY_CLUSTERS = [
    (hosts, fault, noise)
    for fault, (groups, *_) in FAULTS.items()
    for hosts, noise in CLUSTERS
    if hosts >= 2 * groups and not (hosts > 16 and fault in SLOW_TO_JUDGE)
]
"""The faults of each cluster. A group of one host is that host."""


@pytest.mark.parametrize(("hosts", "fault", "noise"), FAULTY_CLUSTERS)
def test_a_fault_is_named_and_nothing_else(hosts: int, fault: str, noise: float) -> None:
    groups, slower, expected = FAULTS[fault]
    network = Network(hosts, groups, noise)
    network = Network(hosts, groups, noise, slower=slower(network))
    results = [named(network.account(seed)) for seed in range(PLANTED)]
    assert results.count([expected]) >= 9, results


def _shared_load(network: Network, seed: int, then: Slower) -> Network:
    """Other jobs load the link between the groups, now more and now less: all crossing flows of a
    round have the same factor, which is drawn for each round."""
    random = np.random.default_rng([seed, network.hosts])
    loads: dict[int, float] = {}

    def slower(first: int, second: int, pairs: Permutation) -> float:
        load = loads.setdefault(id(pairs), math.exp(random.normal(0, 0.3)))
        own = load if network.is_crossing((first, second)) else 1.0
        return own * then(first, second, pairs)

    return replace(network, slower=slower)


SHARED = [(8, 14), (8, 0), (16, 0)]
"""Hosts and rounds; 0: of several tournaments."""


@pytest.mark.parametrize(("hosts", "rounds"), SHARED)
def test_a_load_that_the_crossing_flows_of_a_round_share_names_nothing(
    hosts: int, rounds: int
) -> None:
    """Such flows are one piece of evidence, not one each."""
    networks = [_shared_load(Network(hosts), seed, lambda *_: 1.0) for seed in range(CLEAN)]
    accounts = [network.account(seed, rounds=rounds) for seed, network in enumerate(networks)]
    assert sum(not account.accusations for account in accounts) >= 18
    assert all(account.suspects for account in accounts)


@pytest.mark.parametrize(("hosts", "rounds"), SHARED)
def test_a_slow_host_is_named_beside_such_a_load(hosts: int, rounds: int) -> None:
    results = []
    for seed in range(PLANTED):
        network = _shared_load(Network(hosts), seed, _slow_host)
        results.append(named(network.account(seed, rounds=rounds)))
    assert results.count([("host", ("n1",))]) >= 9, results


def test_a_link_between_two_groups_of_four_hosts_is_named_after_half_a_minute() -> None:
    """Half a minute at 80 Mbit/s has a tournament, and seven rounds in which all pairs cross."""
    network = Network(8)
    network = Network(8, slower=_shared_link(network))
    halves = [
        [(host, 4 + (host + shift) % 4) for host in range(4)] for shift in (0, 1, 2, 3, 0, 1, 2)
    ]
    accounts = [network.account(seed, rounds=7, fixed=halves, times=1) for seed in range(CLEAN)]
    assert [named(each) for each in accounts].count([("groups", ("leaf0", "leaf1"))]) >= 18


def test_a_fault_has_its_ratio_and_its_interval() -> None:
    network = Network(8, slower=_slow_host)
    held = 0
    for seed in range(PLANTED):
        (accusation,) = network.account(seed).accusations
        held += accusation.ratio.low <= 2 <= accusation.ratio.high
        assert accusation.ratio.value == pytest.approx(2, rel=0.15)
        assert accusation.confidence > 0.99
        assert accusation.rounds >= network.rounds
        assert math.isnan(accusation.alone)
    assert held >= 5  # a host is by itself a little faster or slower than others


def test_two_faults_are_named_apart() -> None:
    """A host at half rate, and a lossy pair of others."""

    def slower(first: int, second: int, _: Permutation) -> float:
        if 1 in (first, second):
            return 2.0
        return 4.0 if {first, second} == {3, 6} else 1.0

    results = [named(Network(8, slower=slower).account(seed)) for seed in range(PLANTED)]
    assert results.count([("host", ("n1",)), ("pair", ("n3", "n6"))]) >= 9, results


def test_a_slow_host_behind_a_saturated_uplink() -> None:
    """The uplink does not hide the host, and the host does not hide the uplink."""
    network = Network(16, 4)
    uplink = _narrow_uplink(network)

    def slower(first: int, second: int, pairs: Permutation) -> float:
        return uplink(first, second, pairs) * (3.0 if 5 in (first, second) else 1.0)

    network = Network(16, 4, slower=slower)
    results = [sorted(named(network.account(seed))) for seed in range(PLANTED)]
    assert results.count([("host", ("n5",)), ("uplink", ("leaf1",))]) >= 9, results


def _all_alone(network: Network, slow: Sequence[int] = ()) -> dict[tuple[int, int], float]:
    pairs = [(a, b) for a in range(network.hosts) for b in range(a + 1, network.hosts)]
    return {pair: 5e8 if set(pair) & set(slow) else 1e9 for pair in pairs}


def test_bandwidth_alone_is_set_beside_it() -> None:
    network = Network(8, slower=_slow_host)
    (slow,) = network.account(1, alone=_all_alone(network, [1])).accusations
    (beside,) = network.account(1, alone=_all_alone(network)).accusations
    assert (slow.kind, slow.alone) == ("host", 2.0)
    assert (beside.kind, beside.alone) == ("host", 1.0)


def test_hosts_of_a_group_that_are_slow_beside_others_only_are_those_of_an_unfair_switch() -> None:
    network = Network(16, 2, slower=lambda a, b, _: 2.0 if {a, b} & {1, 4} else 1.0)
    (unfair,) = network.account(1, alone=_all_alone(network)).accusations
    assert (unfair.kind, unfair.groups, sorted(unfair.hosts)) == (
        "switch",
        ("leaf0",),
        ["n1", "n4"],
    )
    slow = network.account(1, alone=_all_alone(network, [1, 4])).accusations
    assert sorted(named_of(slow)) == [("host", ("n1",)), ("host", ("n4",))]


def test_routes_that_collide_in_one_permutation() -> None:
    """Two pairs are slow in one permutation, but not in others, nor alone."""
    fixed = [(0, 5), (1, 6), (2, 7), (3, 8), (4, 9), (10, 11), (12, 13), (14, 15)]

    def slower(first: int, second: int, pairs: Permutation) -> float:
        return 2.0 if list(pairs) == fixed and {first, second} in ({0, 5}, {1, 6}) else 1.0

    network = Network(16, slower=slower)
    results = []
    for seed in range(PLANTED):
        account = network.account(seed, fixed=[fixed])
        results.append([(each.kind, sorted(each.hosts)) for each in account.accusations])
        assert all(each.permutation >= 0 for each in account.accusations)
    assert results.count([("collision", ["n0", "n1", "n5", "n6"])]) >= 9, results


def test_a_pair_that_meets_in_one_permutation_is_judged_by_its_bandwidth_alone() -> None:
    """Six fixed permutations only: each pair meets in one of them."""
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7)]
    fixed = [pairs, [(0, 2), (1, 3), (4, 6), (5, 7)], [(0, 3), (1, 2), (4, 7), (5, 6)]]
    random = np.random.default_rng(1)
    rounds = []
    for _ in range(20):
        for permutation in fixed:
            rates = random.lognormal(0, 0.05, 4) / [
                4.0 if {0, 3} == {*p} else 1.0 for p in permutation
            ]
            rounds.append([(*p, float(rate)) for p, rate in zip(permutation, rates, strict=True)])
    names, flows = [f"n{host}" for host in range(8)], Flows.of_rounds(rounds)
    alone = _all_alone(Network(8))
    (pair,) = accuse(flows, names).accusations
    (slow,) = accuse(flows, names, alone={**alone, (0, 3): 2e8}).accusations
    (collision,) = accuse(flows, names, alone=alone).accusations
    assert (pair.kind, slow.kind, collision.kind) == ("pair", "pair", "collision")
    assert collision.hosts == ("n0", "n3")


def test_a_host_that_is_often_slow_is_in_the_tail() -> None:
    """It is slow in a quarter of its rounds, so that it is not slow as a rule."""
    often = np.random.default_rng(7)

    def slower(first: int, second: int, _: Permutation) -> float:
        return 3.0 if 2 in (first, second) and often.random() < 0.25 else 1.0

    results = [Network(16, slower=slower).account(seed) for seed in range(PLANTED)]
    assert [named(account) for account in results].count([("tail", ("n2",))]) >= 9
    tail = results[0].tails[2]
    assert tail.host == "n2"
    assert tail.slow > 2 * tail.expected


def test_a_pair_that_was_seen_too_rarely_is_unclear() -> None:
    """A lossy pair of 16 hosts that meets twice."""
    network = Network(16, slower=_lossy_pair, outliers=0)
    flows = network.measure(2)
    met = np.flatnonzero((flows.first + flows.second == 2) & (flows.first != flows.second))
    kept = np.ones(len(flows.round), dtype=bool)
    kept[met[LEAST_SEEN - 1 :]] = False
    account = accuse(flows.only(kept), [f"n{host}" for host in range(16)])
    assert not account.accusations
    (pair,) = account.unclear
    assert (pair.hosts, pair.rounds) == (("n0", "n2"), LEAST_SEEN - 1)
    assert pair.ratio == pytest.approx(4, rel=0.2)


def test_directed_flows_and_flows_that_were_not_measured() -> None:
    """Each host sends to one, and receives from another; a flow without a bandwidth is none."""
    random = np.random.default_rng(1)
    rounds = []
    for number in range(60):
        order = random.permutation(8)
        flows = []
        for sender, receiver in zip(order, np.roll(order, 1), strict=True):
            rate = random.lognormal(0, 0.1) / (2 if 3 in (sender, receiver) else 1)
            flows.append((int(sender), int(receiver), math.nan if number == 5 else float(rate)))
        rounds.append(flows)
    account = accuse(Flows.of_rounds(rounds), [f"n{host}" for host in range(8)])
    assert named(account) == [("host", ("n3",))]
    assert account.accusations[0].rounds == 59


@pytest.mark.parametrize("hosts", [1, 2, 3])
def test_too_few_hosts_are_not_judged(hosts: int) -> None:
    account = accuse(Network(hosts).measure(1), [f"n{host}" for host in range(hosts)])
    assert account.why == "fewer than 4 hosts communicated, too few to be peers of each other"
    assert not account.accusations


def test_the_same_data_give_the_same_account() -> None:
    network = Network(8, slower=_slow_host)
    assert network.account(3) == network.account(3)


def test_each_kind_is_described() -> None:
    assert {*FAULTS} | {"collision", "stall", "tail"} == {*ABOUT}
