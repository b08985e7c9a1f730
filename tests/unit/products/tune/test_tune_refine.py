# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Where rules begin and end, by halving."""

from __future__ import annotations

from collections.abc import Callable

from mpigauge.model.names import CONTROL
from mpigauge.model.rules import Rule
from mpigauge.products.tune.decide.grid import DEFAULT, Grid, grid_of
from mpigauge.products.tune.measure.refine import Edge, edges_of, moved, sizes_to_ask, widened
from mpigauge.products.tune.result import Of
from mpigauge.runs.store.tuned_rules import Evidence, TunedRule

OF: Of = ("Bcast", 2)
GAINED = Evidence(0.5, 0.45, 0.55, 6)


def grid(sizes: tuple[int, ...], ratio: Callable[[int], float], arm: str = "a") -> Grid:
    times = {}
    for n in range(6):
        for size in sizes:
            slow = 1 + n / 4
            times[DEFAULT, size, n] = slow
            times[CONTROL, size, n] = slow * (1.01 if n % 2 else 0.99)
            times[arm, size, n] = slow * ratio(size) * (1.002 if n % 3 else 0.998)
    return grid_of(times, sizes, [arm])


def a_rule(first: int, last: int, candidate: str = "a") -> TunedRule:
    return TunedRule(Rule(*OF, first, last, candidate), GAINED)


def refined(rules: list[TunedRule], sizes: tuple[int, ...], ratio: Callable[[int], float]) -> Rule:
    """As a tuning does it, with these times."""
    edges = edges_of(rules, {OF: grid(sizes, ratio)})
    while asked := sizes_to_ask(edges):
        edges = moved(edges, {of: grid(own, ratio) for of, own in asked.items()})
        rules = widened(rules, edges)
    return rules[0].rule


def test_a_rule_grows_to_the_last_power_of_two_at_which_it_is_faster() -> None:
    sizes = (8, 512, 32768, 1 << 20)
    found = refined([a_rule(512, 32768)], sizes, lambda size: 0.5 if 64 <= size < 500_000 else 1.2)
    assert (found.first_bytes, found.last_bytes) == (64, 262144)


def test_a_rule_stays_where_nothing_beside_it_is_faster() -> None:
    sizes = (8, 512, 32768, 1 << 20)
    found = refined([a_rule(512, 32768)], sizes, lambda size: 0.5 if 512 <= size <= 32768 else 1.0)
    assert (found.first_bytes, found.last_bytes) == (512, 32768)


def test_the_ends_of_what_was_measured_are_no_edges() -> None:
    assert edges_of([a_rule(8, 512)], {OF: grid((8, 512), lambda _: 0.5)}) == []


def test_an_edge_is_between_neighbouring_sizes() -> None:
    edges = edges_of([a_rule(512, 512)], {OF: grid((8, 64, 512, 4096, 32768), lambda _: 0.5)})
    assert edges == [Edge(0, OF, "a", 512, 64), Edge(0, OF, "a", 512, 4096)]


def test_a_rule_beside_another_has_no_edge_there() -> None:
    rules = [a_rule(8, 511, "a"), a_rule(512, 512, "b")]
    (edge,) = edges_of(rules, {OF: grid((8, 512, 32768), lambda _: 0.5)})
    assert edge == Edge(1, OF, "b", 512, 32768)


def test_the_middle_is_a_power_of_two_between() -> None:
    assert Edge(0, OF, "a", 8, 32).middle == 16
    assert Edge(0, OF, "a", 32, 8).middle == 16
    assert Edge(0, OF, "a", 8, 16).middle is None
    assert Edge(0, OF, "a", 1000, 1001).middle is None
    assert Edge(0, OF, "a", 1, 0).middle is None
    assert Edge(0, OF, "a", 1, 4).middle == 2
    assert Edge(0, OF, "a", 2, 0).middle == 1


def test_what_could_not_be_measured_moves_nothing() -> None:
    edge = Edge(0, OF, "a", 8, 32)
    assert moved([edge], {}) == [Edge(0, OF, "a", 8, 16)]
    lost = {place: 1.0 for place in grid((16,), lambda _: 0.5).logs if place[0] != DEFAULT}
    assert moved([edge], {OF: grid_of(lost, [16], ["a"])}) == [Edge(0, OF, "a", 8, 16)]
    assert moved([edge], {OF: grid((16,), lambda _: 0.5, arm="b")}) == [Edge(0, OF, "a", 8, 16)]
