# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Threads of a rank and memory of other NUMA nodes: words, plans on recorded machines, the page."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from mpigauge.cli.main import run
from mpigauge.measuring.plan import Plan, Resources, kernel_words, read_request, resolve
from mpigauge.measuring.plan.plan import LaunchPlan, PlanPart
from mpigauge.model import openmp
from mpigauge.model.columns import Cell
from mpigauge.model.errors import UserError
from mpigauge.model.suite_options import read_suite_options
from mpigauge.products.node.plan import node_plan
from mpigauge.site import topology
from tests.unit.measuring.plan.test_plan import MPICH
from tests.unit.products.node.test_node import (
    MACHINES,
    X86,
    clock,
    of_node,
    resources,
    seen,
    stream,
    text,
)

OPTIONS = ("threads", "thread-order", "memory-on")
POOLED = ("Triad", "Triad_tuned", "Copy")
CARDS = replace(
    X86,
    benchmarks=tuple(
        replace(card, options=OPTIONS if card.name in POOLED else OPTIONS[2:])
        if card.suite == "NODE"
        else card
        for card in X86.benchmarks
    ),
)
NPS4 = "epyc-rome-2s-nps4.xml"
TWO = "skylake-2s-snc-off.xml"


def planned(benchmarks: str, machine: str = TWO, **said: Any) -> Plan:
    request = read_request({"benchmarks": benchmarks.split(","), **said})
    return resolve(request, CARDS, resources(machine), MPICH)


def of_page(machine: str, **said: Any) -> list[PlanPart]:
    """The parts that threads and memory add to the page of a machine."""
    made = node_plan(read_request(said), CARDS, resources(machine), MPICH)
    return [part for part in made.parts if part.suite_options]


# --- words ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("said", "heard"),
    [({"threads": "1..4"}, "1,2,3,4"), ({"threads": "2, 1,2"}, "2,1"),
     ({"thread_order": "scatter,compact"}, "scatter,compact"),
     ({"memory_on": "0+1, remote,7"}, "0+1,remote,7")],
)  # fmt: skip
def test_lists_are_understood(said: dict[str, str], heard: str) -> None:
    assert list(read_suite_options(said, {}).values()) == [heard]


@pytest.mark.parametrize(
    ("said", "why"),
    [({"threads": "0..4"}, "--threads: '0' is not a whole number"),
     ({"threads": "8..2"}, "goes down; write 2..8"),
     ({"threads": "1..x"}, "--threads: 'x' is not a whole number"),
     ({"thread_order": "compcat"}, "no order 'compcat'; did you mean 'compact'"),
     ({"memory_on": "remot"}, "'remot' does not name NUMA nodes; did you mean 'remote'"),
     ({"memory_on": "0-1"}, "write local, remote, interleaved, all, or numbers such as 1 or 0+1"),
     ({"memory_on": "0,"}, "'' does not name NUMA nodes")],
)  # fmt: skip
def test_what_is_not_understood_is_named(said: dict[str, str], why: str) -> None:
    with pytest.raises(UserError, match=why.replace("+", r"\+")):
        read_suite_options(said, {})


def test_openmp_says_how_many_threads() -> None:
    environment = {"OMP_NUM_THREADS": "6,2", "OMP_PLACES": "{0,1},{4:2}:2:8"}
    said = read_suite_options({"threads": "1,omp", "thread_order": "omp"}, environment)
    assert said == {"threads": "1,6", "thread-order": "0+1:4+5:12+13"}


@pytest.mark.parametrize(
    ("places", "bind", "order"),
    [("cores", "", "compact"), ("threads(8)", "close", "compact"), ("cores", "spread", "scatter"),
     ("{0},{2}", "", "0:2"), ("{0:4:2}", "", "0+2+4+6"), ("{0:2}:3", "", "0+1:2+3:4+5")],
)  # fmt: skip
def test_openmp_says_where_threads_are(places: str, bind: str, order: str) -> None:
    assert openmp.order({"OMP_PLACES": places, "OMP_PROC_BIND": bind}) == order


@pytest.mark.parametrize("places", ["sockets", "{0", "{0},", "{0}{1}", "{a}", "{0}:2:-4", "0,1"])
def test_places_that_are_not_understood_are_named(places: str) -> None:
    with pytest.raises(UserError, match="which is not understood here"):
        assert openmp.order({"OMP_PLACES": places}) != "0", places


def test_an_environment_that_says_nothing_is_told() -> None:
    with pytest.raises(UserError, match="OMP_NUM_THREADS is not set"):
        openmp.threads({})
    with pytest.raises(UserError, match="is 'all', which is not a number"):
        openmp.threads({"OMP_NUM_THREADS": "all"})
    with pytest.raises(UserError, match="OMP_PLACES is not set"):
        openmp.order({})


# --- plans on recorded machines -------------------------------------------------------------
def test_one_rank_has_the_cores_for_its_threads() -> None:
    plan = planned("NODE:Triad", threads="1..4", thread_order="scatter")
    (part,) = plan.parts
    assert part.world_ranks == 1
    assert [bound.replace("+", ",") for bound in part.bind] == ["0-39"]
    words = kernel_words(plan, LaunchPlan(0, part, 1))
    assert words[words.index("--threads") + 1] == "1,2,3,4"
    assert words[words.index("--thread-order") + 1] == "scatter"


def test_several_ranks_share_the_cores() -> None:
    (part,) = planned("NODE:Triad", threads="20", np=2, ranks="2").parts
    evens, odds = ("+".join(map(str, range(first, 40, 2))) for first in (0, 1))
    assert part.bind == (evens, odds)  # of a NUMA node each


def test_more_threads_than_cores_are_refused_with_the_numbers() -> None:
    with pytest.raises(UserError, match=r"41 threads are more than the 40 cores that rank 0 may"):
        planned("NODE:Triad", threads="1..41")
    with pytest.raises(UserError, match=r"2 threads are more than the 1 core .* use \(3\)"):
        planned("NODE:Triad", threads="2", bind="3", np=1)
    with pytest.raises(UserError, match=r"11 threads are more than the 10 cores that rank 0 may"):
        planned("NODE:Triad", threads="11", np=4, ranks="4")


def test_one_number_of_threads_where_they_talk() -> None:
    cards = CARDS.chosen(["PingPong"])
    talking = replace(cards[0], suite="MT", name="PingPongMT", options=("threads", "thread-level"))
    both = replace(CARDS, benchmarks=(*CARDS.benchmarks, talking))
    request = read_request({"benchmarks": ["PingPongMT"], "threads": "1..2"})
    with pytest.raises(UserError, match="threads of PingPongMT talk to each other; write one"):
        resolve(request, both, resources(TWO), MPICH)


def test_a_node_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(
        UserError, match=r"there is no NUMA node 7 on .*; there is memory on 0 and 1"
    ):
        planned("NODE:Triad", memory_on="0,7")
    with pytest.raises(UserError, match=r"only NUMA node 0 has memory, so there is no remote"):
        planned("NODE:Triad", machine="laptop-i7-8550u-smt.txt", memory_on="remote")


def test_a_node_without_memory_is_refused() -> None:
    machine = topology.built(MACHINES / TWO)
    first, second = machine.numa
    empty = replace(machine, numa=(first, replace(second, bytes=0)))
    closed = replace(machine, allowed_numa=frozenset({0}))
    request = read_request({"benchmarks": ["NODE:Triad"], "memory_on": "0+1"})
    for odd, why in ((empty, "has no memory"), (closed, r"may not be used here \(cpuset\)")):
        with pytest.raises(UserError, match=rf"NUMA node 1 of .* {why}; only NUMA node 0 has"):
            resolve(request, CARDS, Resources(odd), MPICH)


def test_all_is_every_node_and_all_of_them_in_turn() -> None:
    assert planned("NODE:Chase", memory_on="all").suite_options == {"memory-on": "0,1,interleaved"}


def test_the_option_has_no_effect_elsewhere() -> None:
    with pytest.raises(UserError, match="--memory-on has no effect on PingPong"):
        planned("PingPong", memory_on="local")


def test_each_node_computes_with_memory_on_each() -> None:
    parts = of_page(NPS4, memory_on="all")
    assert [part.placement for part in parts] == [f"numa:{n}" for n in range(8)]
    assert parts[2].suite_options == {
        "threads": "16",
        "thread-order": "compact",
        "memory-on": "0,1,2,3,4,5,6,7,interleaved",
    }
    assert {part.bind for part in parts[2:3]} == {("32-47",)}
    assert all("NODE:Chase_huge" in part.benchmarks for part in parts)


def test_remote_is_every_other_node() -> None:
    first, second = of_page(TWO, memory_on="local,remote")
    assert first.suite_options["memory-on"] == "0,1"
    assert second.suite_options["memory-on"] == "1,0"
    assert of_page(TWO) == []


def test_more_and_more_threads_are_on_one_rank_with_all_cores() -> None:
    (part,) = of_page(TWO, threads="1..3", thread_order="compact,scatter")
    assert (part.world_ranks, part.bind) == (1, ("0-39",))
    assert part.suite_options == {"threads": "1,2,3", "thread-order": "compact,scatter"}
    assert part.weight == 2 * 1 * 6
    (usual,) = of_page(TWO, thread_order="scatter")
    assert usual.suite_options["threads"] == "1,2,4,8,16,32,40"
    with pytest.raises(UserError, match="41 threads are more than the 40 cores"):
        of_page(TWO, threads="1..41")


def test_a_part_keeps_its_options_when_it_is_stored() -> None:
    plan = node_plan(read_request({"memory_on": "all"}), CARDS, resources(TWO), MPICH)
    assert Plan.from_json(plan.to_json()).parts == plan.parts
    assert [part.suite_options for part in Plan.from_json(plan.to_json()).parts] == [
        part.suite_options for part in plan.parts
    ]


# --- the page -------------------------------------------------------------------------------
def on_threads(threads: int, gigabytes: float, order: str = "compact") -> Cell:
    cell = stream("Triad_tuned", 1, gigabytes, "avx2")
    return replace(cell, threads=threads, settings=f"thread-order={order}")


def on_memory(compute: int, memory: str, gigabytes: float, benchmark: str = "Triad_tuned") -> Cell:
    cell = stream(benchmark, 1, gigabytes, f"avx2; memory on node {memory}")
    return replace(cell, threads=14, settings=f"thread-order=compact memory-on={memory}",
                   placement=f"numa:{compute}")  # fmt: skip


def test_the_knee_is_named() -> None:
    speeds = {1: 20.0, 2: 38.0, 3: 54.0, 4: 66.0, 5: 70.0, 6: 71.0, 8: 69.0}
    found = seen(
        *(on_threads(n, speed) for n, speed in speeds.items()), on_threads(2, 40, "scatter")
    )
    compact, scatter = found.sweeps
    assert (compact.order, compact.enough) == ("compact", (5, 5, 5))
    assert (scatter.order, scatter.enough) == ("scatter", None)
    assert found.streams == ()
    shown = text(*(on_threads(n, speed) for n, speed in speeds.items()))
    assert "Triad on threads of one rank, compact, GB/s" in shown
    assert "95 % of the best with 5 threads" in shown


def test_a_knee_that_errors_hide_is_a_range() -> None:
    """1 % to each side: 66.5 may be 95 % of the best, and 68 less."""
    speeds = {2: 38.0, 4: 66.5, 5: 68.0, 6: 71.0, 8: 70.9}
    shown = text(*(on_threads(n, speed) for n, speed in speeds.items()))
    assert "95 % of the best with 5 threads (4 to 6 within the errors)" in shown


def test_the_matrix_has_cores_in_rows_and_memory_in_columns() -> None:
    measured = [on_memory(0, "0", 100), on_memory(0, "1", 61), on_memory(0, "interleaved", 80),
                on_memory(1, "1", 100), on_memory(1, "0", 61)]  # fmt: skip
    lines = text(*measured).splitlines()
    (head,) = [i for i, line in enumerate(lines) if "Triad, tuned, GB/s" in line]
    assert lines[head + 1].split() == ["node", "0", "node", "1", "interleaved"]
    rows = [lines[head + i].replace("±1.0 %", "").split() for i in (2, 3)]
    assert rows == [["node", "0", "100", "61.0", "80.0"], ["node", "1", "61.0", "100", "–"]]
    assert "  remote memory: 0.61 of local; every page was found on the nodes" in "\n".join(lines)


def test_shares_of_many_nodes_are_a_range() -> None:
    shown = text(on_memory(0, "0", 100), on_memory(0, "1", 81), on_memory(0, "4", 44))
    assert "remote memory: 0.44 to 0.81 of local" in shown


def test_latency_has_a_matrix_of_its_own() -> None:
    chase = of_node("Chase_huge", message_bytes=128 << 20, settings="memory-on=1",
                    placement="numa:0", time_scale=1 / 1024, time_p50_s=1024 * 170e-9)  # fmt: skip
    shown = text(chase, on_memory(0, "1", 61))
    assert "time of one load in huge pages, ns" in shown
    assert "170" in shown


def test_rows_of_placed_memory_are_no_usual_streams() -> None:
    found = seen(stream("Triad", 1, 16.0), on_memory(0, "1", 9.0), clock("Clock_xor", 3.7))
    assert [each.row.cell.settings for each in found.streams] == [""]
    assert len(found.places) == 1
    assert not math.isnan(found.streams[0].bandwidth.value)


def test_the_command_refuses_before_anything_is_launched(capsys: Any) -> None:
    assert run(["node", "--memory-on", "99"]) == 2
    assert "there is no NUMA node 99" in capsys.readouterr().err
    assert run(["node", "--threads", "4000"]) == 2
    assert "4000 threads are more than the" in capsys.readouterr().err
