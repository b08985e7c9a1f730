# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Every registered benchmark on 1, 2, 3 and 4 ranks of every MPI: right data, no cell lost.

How cells are sampled does not depend on the suite, so that is tested with MPI1, in launches that
get more time until they have reached each cell. See every_cell.py.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import pytest

from tests.cases.every_cell import FEW_CALLS, MISSING, SUITES, check_benchmarks, run_all
from tests.cases.launching import OTHER_SUITES, ROUGH, Site, run, site
from tests.conftest import ABIS, MPIS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.mpi

RANKS = (1, 2, 3, 4)
ON_RANKS = dict.fromkeys(MPIS, RANKS) | {"openmpi": (*RANKS, 6), "mpich@std": (2, 3)}
"""Six make an uneven grid, where ranks that wait for each other leave the core to others."""
ENOUGH = {"NODE": 2, "IO": 2}
"""Ranks of some suites: test_node.py and test_io.py have on more ranks what differs there."""
A_WHILE = ("--seconds", 5)
"""The option of a launch by a clock: beside other jobs nearly every start may come late."""


@pytest.mark.parametrize(
    ("where", "ranks", "suite"),
    [
        (spec, ranks, suite)
        for suite in SUITES
        for spec in ABIS
        for ranks in ON_RANKS[spec]
        if ranks <= ENOUGH.get(suite, ranks)
    ],
    indirect=["where"],
)
def test_every_benchmark_is_right(where: Site, ranks: int, suite: str, tmp_path: Path) -> None:
    cards = [card for card in where.cards if card.suite == suite]
    check_benchmarks(where, ranks, cards, tmp_path)


def test_every_benchmark_is_right_in_classic_mode(where: Site) -> None:
    mpi1 = [card.name for card in where.cards if card.suite == "MPI1"]
    ended = run_all(where, 2, ",".join(mpi1), "--sizes", FEW_CALLS, "--mode", "classic",
                    "--repetitions", 10)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {c.benchmark for c in ended.cells} == set(mpi1)
    assert {c.stop for c in ended.cells} == {"schedule"}
    assert all(c.time_min_s <= c.time_avg_s <= c.time_max_s for c in ended.cells)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_data_type_and_operation_is_exact(where: Site, ranks: int) -> None:
    ended = run(where, ranks, "--benchmarks", "Reductions", "--sizes", 4096, "--ranks", ranks,
                *ROUGH)  # fmt: skip
    assert (ended.status, ended.errors) == (0, "")
    assert ended.cell("Reductions", 4096).wrong_count == 0


@pytest.mark.parametrize(
    ("datatype", "op"),
    [("double", "max"), ("char", "bxor"), ("double_complex", "prod"), ("2int", "maxloc")],
)
def test_reductions_take_a_data_type_and_an_operation(datatype: str, op: str) -> None:
    names = "Allreduce,Reduce,Reduce_local,Reduce_scatter,Reduce_scatter_block"
    ended = run(site("mpich"), 2, "--benchmarks", names, "--datatype", datatype, "--op", op,
                "--sizes", "0,1,1000", *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(c.datatype, c.op) for c in ended.cells} == {(datatype, op)}
    assert {c.benchmark for c in ended.cells} == set(names.split(","))


def test_roots_shift(where: Site) -> None:
    rooted = [card.name for card in where.cards if card.rooted and card.suite == "MPI1"]
    assert "Bcast" in rooted
    ended = run(where, 2, "--benchmarks", ",".join([*rooted, "Allreduce"]), "--root-shift", 1,
                "--sizes", "8,70000", *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {c.benchmark for c in ended.cells if c.root_shift} == set(rooted)


def test_a_root_that_stays(where: Site) -> None:
    """Another rank than the first has or gets what counts, in every form of these collectives."""
    rooted = [card.word for card in where.cards if card.rooted and card.suite not in OTHER_SUITES]
    assert {"Bcast", "NBC:Ireduce", "MPI4:Gather_persist", "MT:BcastMT", "MORE:Reduce_c"} <= set(
        rooted
    )
    ended = run(where, 2, "--benchmarks", ",".join(rooted), "--root", 1, "--sizes", 8,
                *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {"root=1"} == {c.settings for c in ended.cells}
    assert {c.benchmark for c in ended.cells} | {s.key["benchmark"] for s in ended.skips} == {
        word.rpartition(":")[2] for word in rooted
    }


def test_the_suites_are_those_of_the_registry(where: Site) -> None:
    assert set(SUITES) == set(where.cards.suites()) - set(OTHER_SUITES)


@pytest.mark.parametrize("layout", ["base_vec", "resize", "resize_vec"])
def test_layouts_of_messages(where: Site, layout: str) -> None:
    names = ",".join(card.name for card in where.cards
                     if card.suite == "MPI1" and card.unit != "none")  # fmt: skip
    ended = run_all(where, 2, names, "--layout", layout, "--sizes", "0,8,4096")
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {c.layout for c in ended.cells} == {layout}
    assert {c.benchmark for c in ended.cells} == set(names.split(","))


def test_sixteen_bit_numbers_where_there_are_any(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "PingPong,Allreduce", "--datatype", "float16",
                "--sizes", "8,4096", *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert len(ended.cells) == 4 or {s.reason for s in ended.skips} == {
        MISSING + "data type float16"
    }


def test_hot_and_cold_are_cells_of_their_own(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "PingPong,Bcast,Allreduce,Barrier", "--cache", "both",
                "--cache-bytes", 1 << 20, "--sizes", "0,8,4096", *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    cells = {(c.benchmark, c.message_bytes, c.cache) for c in ended.cells}
    assert len(cells) == len(ended.cells) == 3 * 3 * 2 + 1
    assert ("Barrier", -1, "hot") in cells


def test_dissemination_starts(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "Bcast,PingPong", "--sync", "dissemination",
                "--sizes", "8", *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(c.benchmark, c.sync) for c in ended.cells} == {
        ("Bcast", "dissemination"),
        ("PingPong", "none"),
    }


def test_starts_by_a_common_clock(where: Site) -> None:
    """Late starters are dropped; what the clocks may be apart is stored."""
    ended = run(where, 2, "--benchmarks", "Bcast,Allreduce", "--sync", "clock", "--sizes", "8,4096",
                *ROUGH, *A_WHILE)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert len(ended.cells) + len(ended.skips) == 4
    assert all(c.sync == "clock" and 0 < c.sync_error_s < 1 for c in ended.cells)


def test_ranks_that_share_a_clock_start_by_it(where: Site) -> None:
    """All forms of a collective; what follows each other needs no start. Nobody measured the
    offset of a clock: the error is about a reading of it."""
    ended = run(where, 2, "--benchmarks", "PingPong,Bcast,Ibcast,Ibcast_pure", "--sync", "auto",
                "--sizes", "8,4096", *ROUGH, *A_WHILE)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert len(ended.cells) + len(ended.skips) == 8  # beside others some start may be missed
    assert {c.sync for c in ended.cells if c.benchmark == "PingPong"} == {"none"}
    assert {c.sync for c in ended.cells if c.benchmark != "PingPong"} == {"clock"}
    assert all(c.sync_error_s > 0 for c in ended.cells if c.sync == "clock")


def test_every_blocking_collective_with_ranks_that_come_apart(where: Site) -> None:
    """Beside all at once; from the last one on, of each rank, and with data that are right."""
    patterns = ("late:1:20us", "uniform:20us", "sorted:20us", "profile:x")
    names = [card.name for card in where.cards if "arrival" in card.options]
    assert {"Allreduce", "Bcast", "Barrier", "Alltoallv", "Gather"} <= set(names)
    words = "together,late:1:20,uniform:20,sorted:20,profile:x=0+5/9.5+0"
    ended = run_all(where, 2, ",".join(names), "--sizes", "8", "--arrival", words,
                    "--cell-seconds", 0.02)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(c.benchmark, c.arrival) for c in ended.cells} == {
        (name, pattern) for name in names for pattern in ("", *patterns)
    }
    apart = [c for c in ended.cells if c.arrival]
    assert all(c.sync == "clock" and c.time_own_s > 0 for c in apart)
    skews = {c.arrival: c.time_skew_s for c in apart}
    assert skews["late:1:20us"] == skews["sorted:20us"] == pytest.approx(20e-6, rel=1e-3)
    assert 0 < skews["uniform:20us"] < 20e-6
    assert 4.9e-6 < skews["profile:x"] < 9.6e-6
    assert all(math.isnan(c.time_own_s) for c in ended.cells if not c.arrival)


def test_groups_in_which_nobody_can_be_late() -> None:
    ended = run(site("mpich"), 2, "--benchmarks", "Bcast", "--sizes", "8", "--arrival", "late:2:5",
                "--seconds", 1)  # fmt: skip
    assert (ended.status, ended.cells) == (0, [])
    assert [skip.reason for skip in ended.skips] == ["arrival late:2:5us: there is no rank 2 of 2"]


def test_ranks_that_share_cores_start_after_a_barrier() -> None:
    ranks = len(os.sched_getaffinity(0)) + 1
    ended = run(site("mpich"), ranks, "--benchmarks", "Bcast", "--sync", "auto", "--sizes", "8",
                "--ranks", ranks, *ROUGH)  # fmt: skip
    assert ended.status == 0, ended.errors
    assert {c.sync for c in ended.cells} == {"barrier"}


def test_late_starters_do_not_keep_a_launch_alive() -> None:
    """With more ranks than cores nearly every start is late. There is a row all the same."""
    ended = run(site("mpich"), 3, "--benchmarks", "Bcast", "--sync", "clock", "--sizes", "8",
                "--ranks", 3, "--seconds", 3)  # fmt: skip
    assert ended.status == 0, ended.errors
    assert [c.sync for c in ended.cells] == ["clock"]
    assert not ended.skips


@pytest.mark.parametrize("multi", [0, 1])
def test_groups_side_by_side(where: Site, multi: int) -> None:
    """On a grid of 2 x 2 ranks 0 and 2 are one group, 1 and 3 the other."""
    ended = run(where, 4, "--benchmarks", "PingPong,Sendrecv,Allreduce", "--multi", multi,
                "--map", "2x2", "--ranks", 2, "--sizes", "8", *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    groups = {0: [-1], 1: [0, 1]}[multi]
    assert sorted((c.benchmark, c.group) for c in ended.cells) == sorted(
        (name, group) for name in ("PingPong", "Sendrecv", "Allreduce") for group in groups
    )
    assert {c.groups for c in ended.cells} == {2}
    assert ended.end.cells == len(ended.cells)


def test_a_grid_that_is_too_large_is_refused(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "PingPong", "--map", "2x2")
    assert ended.status == 2
    assert ended.errors.count("--map: 2x2 has more places than the job has ranks, 2") == 1
    assert not ended.cells


def test_groups_that_do_not_fit_are_refused(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "Bcast", "--ranks", 3)
    assert ended.status == 2
    assert ended.errors.count("--ranks: 3 ranks are wanted, the job has 2") == 1


@pytest.mark.parametrize("mode", ["adaptive", "classic"])
def test_wrong_data_end_the_job_with_a_status(where: Site, mode: str) -> None:
    ended = run(where, 2, "--benchmarks", "Corrupt,PingPong", "--sizes", "0,8", "--mode", mode,
                *ROUGH)  # fmt: skip
    assert ended.status == 1
    assert ended.cell("Corrupt", 8).wrong_count >= 1
    assert ended.cell("PingPong", 8).wrong_count == 0
    assert ended.end.wrong_count == ended.cell("Corrupt", 8).wrong_count
