# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Lost packets that stall short messages: the link or host is named, and nothing else.

Losses are drawn. A burst of 64 messages with a loss takes many times as long. The seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mpigauge.result.fabric.accusation import Accusation, Flows
from mpigauge.result.fabric.stalls import LEAST_STALLS, stalls

RUNS, RIGHT = 20, 18
MISS = 0.01
MESSAGES = 64
Loss = Callable[[int, int], float]
"""The share of packets of two hosts that are lost."""


def bursts(hosts: int, rounds: int, loss: Loss, noise: float, seed: int) -> Flows:
    """Bursts of random pairs, four after each other in each round."""
    random = np.random.default_rng(seed)
    measured = []
    for _ in range(rounds):
        flows = []
        for _ in range(4):
            order = random.permutation(hosts).tolist()
            for first, second in zip(order[::2], order[1::2], strict=False):
                lost = random.binomial(MESSAGES, loss(first, second))
                flows.append((first, second, 1 / (random.lognormal(0, noise) + 5 * lost)))
        measured.append(flows)
    return Flows.of_rounds(measured)


def named(hosts: int, rounds: int, loss: Loss, noise: float = 0.05) -> list[list[tuple[str, ...]]]:
    names = [f"n{host}" for host in range(hosts)]
    runs = (bursts(hosts, rounds, loss, noise, seed) for seed in range(RUNS))
    return [[each.hosts for each in stalls(flows, names, (), MISS)] for flows in runs]


def clean(_: int, __: int) -> float:
    return 0.0


def rare(_: int, __: int) -> float:
    """A burst in fifty has a loss, whichever pair it is of."""
    return 0.0003


def lossy_pair(first: int, second: int) -> float:
    return 0.03 if {first, second} == {1, 5} else rare(first, second)


def lossy_host(first: int, second: int) -> float:
    return 0.03 if 2 in (first, second) else 0.0


@pytest.mark.parametrize("loss", [clean, rare])
@pytest.mark.parametrize(("hosts", "rounds"), [(4, 10), (8, 10), (9, 40), (32, 60)])
def test_nothing_is_named_where_all_pairs_lose_as_much(hosts: int, rounds: int, loss: Loss) -> None:
    assert named(hosts, rounds, loss).count([]) >= RIGHT


def test_noise_that_stalls_every_fourth_burst_names_nothing() -> None:
    assert named(8, 20, clean, noise=1.0).count([]) >= RIGHT


def test_a_host_that_pauses_in_two_rounds_is_not_named() -> None:
    """All of its bursts of these rounds are delayed, and no others are."""
    flows = bursts(8, 20, clean, 0.05, seed=1)
    delayed = np.isin(flows.round, (3, 11)) & ((flows.first == 2) | (flows.second == 2))
    slow = Flows(flows.round, flows.first, flows.second, flows.bandwidth / (1 + 9 * delayed))
    assert not list(stalls(slow, [f"n{host}" for host in range(8)], (), MISS))


@pytest.mark.parametrize(("hosts", "rounds"), [(8, 14), (9, 14), (16, 30)])
def test_a_lossy_pair_is_named_and_not_its_hosts(hosts: int, rounds: int) -> None:
    assert named(hosts, rounds, lossy_pair).count([("n1", "n5")]) >= RIGHT


@pytest.mark.parametrize(("hosts", "rounds"), [(8, 10), (16, 10)])
def test_a_lossy_host_is_named_and_not_its_pairs(hosts: int, rounds: int) -> None:
    assert named(hosts, rounds, lossy_host).count([("n2",)]) >= RIGHT


def test_a_link_that_is_named_as_slow_is_left_out() -> None:
    flows = bursts(8, 20, lossy_pair, 0.05, seed=1)
    names = [f"n{host}" for host in range(8)]
    (stall,) = stalls(flows, names, (), MISS)
    assert stall.kind == "stall"
    assert stall.ratio.value > 4
    assert stall.rounds >= LEAST_STALLS
    assert stall.confidence > 0.99
    slow = Accusation("pair", ("n5", "n1"), (), stall.ratio, 1.0, 10)
    assert not list(stalls(flows, names, (slow,), MISS))
    assert not list(stalls(Flows.of_rounds([]), names, (), MISS))
