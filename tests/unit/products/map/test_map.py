# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The map of pairs: its plan, its levels on recorded machines, its text and its picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path

import pytest

from mpigauge.draw.scale import STOPS, ColourScale
from mpigauge.measuring.campaign import Results
from mpigauge.measuring.campaign.cost import ROUND_S, Rates, cost
from mpigauge.measuring.plan import Plan, PlanPart, Resources, kernel_words
from mpigauge.measuring.plan.plan import LaunchPlan
from mpigauge.measuring.plan.request import Request
from mpigauge.measuring.plan.schedule import Schedule, schedule
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.placement import Seat
from mpigauge.model.record import Skip
from mpigauge.model.row import Row
from mpigauge.model.screen import Screen
from mpigauge.products.map.measuring import MOST_AGAIN, OddPairs, refuse_nothing
from mpigauge.products.map.plan import FORMS, check_pair, parse_pairs
from mpigauge.result.document import Document
from mpigauge.result.facts import Facts
from mpigauge.result.pairs import PairMap, level_of, pair_map
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.show.formats import render
from mpigauge.site import topology
from mpigauge.site.placement import HostResources
from mpigauge.site.topology.levels import Levels
from mpigauge.site.topology.passport import plain
from mpigauge.site.topology.stored import stored
from tests import cells, planted
from tests.unit.products.node.test_node import X86

MACHINES = Path(__file__).resolve().parents[3] / "machines"
ROME = topology.built(MACHINES / "epyc-rome-2s-nps4.xml")
TIMES = {"pu": 0.1e-6, "l3": 0.2e-6, "numa": 0.3e-6, "socket": 0.4e-6, "sockets": 0.8e-6}
"""Of a message between two cores that share this and nothing closer."""


def rows(
    seats: Sequence[Seat],
    slow: Mapping[tuple[int, int], float] | None = None,
    groups: int = 2,
    only: Sequence[tuple[int, int]] = (),
    size: int = 8,
) -> list[Row]:
    """Every two ranks of a machine like the Rome; the slow ones take so many times as long."""
    levels = Levels.of(ROME)
    found = []
    for a, b in only or list(combinations(range(len(seats)), 2)):
        time = TIMES[levels.closest(min(seats[a].pus), min(seats[b].pus))]
        time *= (slow or {}).get((a, b), 1 + 0.001 * ((a * 7 + b) % 5))
        found.append(
            cells.cell(
                members=f"{a},{b}", groups=groups, group=0, message_bytes=size,
                time_p50_s=2 * time, ci_low_s=2 * time * 0.99, ci_high_s=2 * time * 1.01,
                moved_bytes=float(size),
            )
        )  # fmt: skip
    return rows_of(found, 0.05)


def seats(count: int, step: int = 1, host: str = "") -> list[Seat]:
    names = HostResources(host or ROME.hostname, ROME)
    return [names.seat(pu) for pu in names.cores[: count * step : step]]


def drawn(count: int = 128, step: int = 1, **more: object) -> PairMap:
    where = seats(count, step)
    found = pair_map(rows(where, **more), where, {ROME.hostname: Levels.of(ROME)})  # type: ignore[arg-type]
    assert found is not None
    return found


def text(found: PairMap, form: str = "map") -> str:
    return render(form, Document((), cells.cards(), Facts(mpi="mpich 5", host="n"), pairs=found))


# --- what is asked for ----------------------------------------------------------------------
@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    assert parse_pairs(form.upper(), 2) == form


def test_pairs_by_name() -> None:
    assert parse_pairs("0-1, 3-2; 0-2", 4) == "0-1,3-2;0-2"


@pytest.mark.parametrize(
    ("wrong", "ranks", "said"),
    [
        ("all", 1, "a pair needs 2 ranks, the job has 1"),
        ("al", 4, "'al' is not a pair of ranks"),
        ("0-1-2", 4, "'0-1-2' is not a pair of ranks"),
        ("", 4, "'' is not a pair of ranks"),
        ("0-4", 4, "there is no rank 4, the job has ranks 0 to 3"),
        ("1-1", 4, "'1-1' is a rank with itself"),
        ("0-1,1-2", 4, "rank 1 is in two pairs that measure at the same time"),
    ],
)
def test_wrong_pairs(wrong: str, ranks: int, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        parse_pairs(wrong, ranks)


def test_only_benchmarks_of_two_ranks_make_a_map() -> None:
    one = Resources(ROME)
    check_pair("pingping", cells.cards(), one)
    check_pair("NODE:Mailbox", X86, one)
    with pytest.raises(UserError, match="of two ranks, unlike Allreduce; those are PingPong"):
        check_pair("Allreduce", cells.cards(), one)
    with pytest.raises(UserError, match="PingPonk"):
        check_pair("PingPonk", cells.cards(), one)
    two = Resources(ROME, (HostResources("a", ROME), HostResources("b", ROME)))
    with pytest.raises(UserError, match="needs memory that both ranks see, and there are 2 hosts"):
        check_pair("NODE:Mailbox", X86, two)


def test_kernels_are_told_the_pairs() -> None:
    part = PlanPart(("PingPong",), 4, pairs="ring")
    plan = Plan((part,), "mpich", 1)
    words = kernel_words(plan, LaunchPlan(0, part, 1))
    assert words[words.index("--pairs") + 1] == "ring"
    assert Plan.from_json(plan.to_json()) == plan
    assert "--pairs" not in kernel_words(plan, LaunchPlan(0, replace(part, pairs=""), 1))


@pytest.mark.parametrize(
    ("pairs", "ranks", "expected"),
    [
        ("all", 128, Schedule(8128, 127)),
        ("all", 9, Schedule(36, 9)),
        ("each", 9, Schedule(36, 36)),
        ("ring", 2, Schedule(1, 1)),
        ("ring", 16, Schedule(16, 2)),
        ("ring", 17, Schedule(17, 3)),
        ("ring", 3, Schedule(3, 3)),
        ("0-1,2-3;0-2", 4, Schedule(3, 2)),
    ],
)
def test_rounds_as_the_kernels_make_them(pairs: str, ranks: int, expected: Schedule) -> None:
    """kernels/tests/test_pairs.cpp counts those of the kernels."""
    assert schedule(pairs, ranks) == expected


@pytest.mark.parametrize(
    ("pairs", "ranks", "together"),
    [("all", 128, 64), ("all", 9, 4), ("ring", 17, 6), ("each", 9, 1)],
)
def test_the_fullest_round_has_its_share_of_pairs(pairs: str, ranks: int, together: int) -> None:
    assert schedule(pairs, ranks).together == together


def test_the_cost_of_a_map_grows_with_its_rounds() -> None:
    plan = Plan(
        (PlanPart(("PingPong",), 128, sizes=(8, 1 << 20), pairs="all"),), "mpich", 1, launches=1
    )
    known = cost(plan, Rates(start_s=1.0, cell_s=0.1))
    assert (known.launches, known.cells) == ((1, 1), 2 * 8128)
    assert known.seconds[0] == pytest.approx(1 + 127 * (ROUND_S + 2 * 0.1))
    alone = replace(plan, parts=(replace(plan.parts[0], pairs="each"),))
    assert cost(alone, known.rates).seconds[0] == pytest.approx(1 + 8128 * (ROUND_S + 2 * 0.1))


# --- what is found --------------------------------------------------------------------------
def test_levels_of_the_rome_are_found_with_their_times() -> None:
    (sheet,) = drawn().sheets
    found = {each.level: (len(each.pairs), each.median_s) for each in sheet.clusters}
    assert {level: count for level, (count, _) in found.items()} == Levels.of(ROME).shared()
    for level, (_, middle) in found.items():
        assert middle == pytest.approx(TIMES[level], rel=0.01)
    assert not sheet.odd
    assert not sheet.odd_ranks


def test_a_topology_comes_back_out_of_a_passport() -> None:
    for path in sorted(MACHINES.glob("*.xml")):
        it = topology.built(path)
        assert stored(plain(asdict(it))) == it


def test_cores_that_nobody_has_described_share_the_host() -> None:
    levels = {"a": Levels.of(ROME)}
    known, other = Seat("a", frozenset({0})), Seat("a", frozenset({9999}))
    assert level_of(known, Seat("a", frozenset({1})), levels) != "host"
    assert level_of(known, other, levels) == level_of(other, known, levels) == "host"
    assert level_of(known, Seat("a", frozenset()), levels) == "host"
    assert level_of(Seat("a", frozenset()), known, levels) == "host"
    assert level_of(known, Seat("a", frozenset({1})), {}) == "host"


def test_other_hosts_are_a_level_of_their_own() -> None:
    where = [*seats(2, host="a"), *seats(2, host="b")]
    found = pair_map(rows(where), where, {"a": Levels.of(ROME), "b": Levels.of(ROME)})
    assert found is not None
    (sheet,) = found.sheets
    assert {each.level: len(each.pairs) for each in sheet.clusters} == {"l3": 2, "hosts": 4}
    assert [found.name(rank) for rank in range(4)] == ["a:0", "a:1", "b:0", "b:1"]


def test_what_was_measured_again_holds() -> None:
    where = seats(32)
    slow = {(0, 5): 3.0, (3, 4): 3.0}
    again = rows(where, {(0, 5): 3.0}, groups=1, only=[(0, 5), (3, 4)])
    found = pair_map([*rows(where, slow), *again], where, {ROME.hostname: Levels.of(ROME)})
    assert found is not None
    (sheet,) = found.sheets
    assert [each.pair[:2] for each in sheet.odd] == [(0, 5)]
    assert set(sheet.again) == {(0, 5), (3, 4)}
    shown = text(found)
    assert max(map(len, shown.splitlines())) <= 80
    shown = " ".join(shown.split())
    assert "slow: core 0 with core 5 (ranks 0 and 5) takes" in shown
    assert "measured twice" in shown
    assert "1 pair stood out beside the others, and not when measured again alone" in shown


def test_the_worst_are_measured_again_alone() -> None:
    where = seats(32)
    site = HostResources(ROME.hostname, ROME)
    resources = Resources(ROME, (site,))
    request = Request(place=("compact",), np=32)
    part = resources.seated(
        PlanPart(("PingPong",), 32, pairs="all"), *resources.placements(request, 32)
    )
    odd = OddPairs(part, resources)
    slow = {(0, 5): 3.0, (3, 4): 2.0}
    (found,) = odd.parts(Results(0.05, [row.cell for row in rows(where, slow)]))
    assert found == replace(part, pairs="0-5;3-4")
    assert odd.parts(Results(0.05, [row.cell for row in rows(where)])) == []
    many = dict.fromkeys(list(combinations(range(32), 2))[::4], 4.0)
    (found,) = odd.parts(Results(0.05, [row.cell for row in rows(where, many)]))
    assert len(found.pairs.split(";")) == MOST_AGAIN


def test_cache_lines_are_shown_in_ns() -> None:
    """Without a size, for there is no message."""
    shown = text(drawn(4, step=4, size=-1))
    assert "PingPong, ns between every two ranks" in shown
    assert "cores of one NUMA node  301 ns" in shown


def test_a_map_without_time_says_so() -> None:
    """On a busy machine a launch may use up its share before the first pair."""
    left_out = planted.run([], [Skip(0, {}, "no time was left for it")] * 2)
    with pytest.raises(RunError, match="no pair was measured: no time was left for it; give it"):
        refuse_nothing(left_out)


def test_rows_without_pairs_are_no_map() -> None:
    assert pair_map(rows_of([cells.cell()], 0.05), seats(2), {}) is None


# --- what is shown --------------------------------------------------------------------------
def test_few_ranks_are_numbers() -> None:
    shown = text(drawn(4, step=16))
    assert shown.splitlines()[3:] == [
        "PingPong 8 B, µs between every two ranks",
        "         rank     0     1     2     3",
        "core 0      0     – 0.400 0.401 0.401",
        "core 16     1 0.400     – 0.402 0.400",
        "core 32     2 0.401 0.402     – 0.401",
        "core 48     3 0.401 0.400 0.401     –",
        "",
        "cores of one socket  0.401 µs  ±1.0 %  0.400 … 0.402  6 pairs",
    ]


@pytest.mark.parametrize("count", [12, 36, 37, 72, 73, 128])
@pytest.mark.parametrize("colour", [False, True])
def test_many_ranks_are_shades_that_fit_the_screen(count: int, colour: bool) -> None:
    found = drawn(count)
    screen = Screen(colours=256 if colour else 0)
    shown = render("map", Document((), cells.cards(), Facts(host="n"), pairs=found), screen)
    plain_text = re.sub(r"\033\[[0-9;]*m", "", shown)
    assert max(map(len, plain_text.splitlines())) <= 80
    assert ("48;5;" in shown) == colour


def test_bandwidth_of_large_messages() -> None:
    shown = text(drawn(4, step=16, size=1 << 20))
    assert "PingPong 1 MiB, MB/s between every two ranks" in shown
    assert f"{(1 << 20) / 0.4:.0f}"[:3] in shown


def test_the_picture_is_well_formed_and_escaped() -> None:
    found = drawn(16)
    evil = replace(found, seats=tuple(Seat("<script>&", s.pus) for s in found.seats))
    evil = replace(evil, several_hosts=True)
    root = ET.fromstring(text(evil, "svg"))
    titles = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 16 * 15
    assert titles[0].startswith("<script>&:0 – <script>&:1: 0.2")
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


@pytest.mark.parametrize(
    ("ranks", "wide", "squares"), [(2, 600, 2), (12, 804, 132), (97, 820, 49 * 49)]
)
def test_a_picture_is_as_large_as_its_ranks_need(ranks: int, wide: int, squares: int) -> None:
    """Of 97 ranks each square stands for 2 by 2, those on the diagonal too, but for the last."""
    root = ET.fromstring(text(drawn(ranks), "svg"))
    assert root.get("width") == str(wide)
    many = len(list(root.iter("{http://www.w3.org/2000/svg}title")))
    assert many == squares - (ranks > 96)
    assert ("each square stands for 2 × 2 ranks" in "".join(root.itertext())) == (ranks > 96)


@pytest.mark.parametrize("form", ["map", "svg"])
def test_a_run_without_pairs_has_no_map(form: str) -> None:
    with pytest.raises(UserError, match="holds no pairs"):
        render(form, Document((), cells.cards()))


def test_a_scale_gets_darker() -> None:
    scale = ColourScale.of([1.0, 10.0, 100.0])
    assert scale.place(10.0) == pytest.approx(0.5)
    assert scale.colour(1.0) == STOPS[0]
    assert scale.colour(100.0) == STOPS[-1]
    light = [sum(scale.colour(value)) for value in (1, 2, 5, 10, 20, 50, 100)]
    assert light == sorted(light, reverse=True)
    assert ColourScale.of([3.0]).colour(3.0) == STOPS[0]
