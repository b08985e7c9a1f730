# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Every registered benchmark on 1, 2, 3 and 4 ranks of every MPI: right data, and no cell lost.

Where there are fewer cores than ranks some libraries spin, and a call takes time slices; there one
size must do. Times are never judged, and a launch that had not time enough for all cells is
followed by a longer one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cases.launching import Ended, Site, run, site

if TYPE_CHECKING:
    from mpigauge.model.cards import Card

pytestmark = pytest.mark.mpi

MPIS = ("mpich", "openmpi", "intel", "mpich@std")
CORES = len(os.sched_getaffinity(0))
FEW_CALLS = 1 << 20
"""A size that IMB repeats 40 times, not 1000."""
NO_TIME = "no time was left for it"


@pytest.fixture(params=MPIS)
def where(request: pytest.FixtureRequest) -> Site:
    return site(str(request.param))


def run_all(where: Site, ranks: int, *options: object) -> Ended:
    """All benchmarks in one launch, in as much time as it takes to reach each cell."""
    words = ("--benchmarks", ",".join(where.names()), "--ranks", ranks, *options)
    seconds = 2.0 if ranks <= CORES else 8.0
    while True:
        ended = run(where, ranks, *words, "--inflight", 16, "--seconds", seconds)
        if seconds > 60 or all(skip.reason != NO_TIME for skip in ended.skips):
            return ended
        seconds *= 4


def reason_of(card: Card, ranks: int) -> str:
    """Why a benchmark does not run on so many ranks; empty when it does."""
    if card.ranks == "pair":
        return "" if ranks >= 2 else "needs 2 ranks"
    odd = card.ranks == "pairs" and ranks % 2 == 1
    return "needs an even number of ranks" if odd else ""


def sizes_on(ranks: int) -> tuple[int, ...]:
    return (0, 8, 4096) if ranks <= CORES else (4096,)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_benchmark_is_right(where: Site, ranks: int) -> None:
    sizes = sizes_on(ranks)
    ended = run_all(where, ranks, "--sizes", ",".join(map(str, sizes)))
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    measured = {(c.benchmark, c.message_bytes): c for c in ended.cells}
    skipped = {(s.key["benchmark"], s.key["message_bytes"]): s.reason for s in ended.skips}
    expected = {(card.name, size): reason_of(card, ranks) for card in where.cards
                if card.suite != "SELFTEST"
                for size in ([-1] if card.unit == "none" else sizes)}  # fmt: skip
    assert skipped == {cell: reason for cell, reason in expected.items() if reason}
    assert set(measured) == {cell for cell, reason in expected.items() if not reason}
    for cell in measured.values():
        assert cell.samples > 0
        assert cell.wrong_count == 0
        assert 0 <= cell.time_min_s <= cell.time_max_s


def test_every_benchmark_is_right_in_classic_mode(where: Site) -> None:
    ended = run_all(where, 2, "--sizes", FEW_CALLS, "--mode", "classic")
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {c.benchmark for c in ended.cells} == set(where.names())
    assert {c.stop for c in ended.cells} == {"schedule"}
    assert all(c.time_min_s <= c.time_avg_s <= c.time_max_s for c in ended.cells)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_data_type_and_operation_is_exact(where: Site, ranks: int) -> None:
    ended = run(where, ranks, "--benchmarks", "Reductions", "--sizes", 4096, "--ranks", ranks,
                "--seconds", 1)  # fmt: skip
    assert (ended.status, ended.errors) == (0, "")
    assert ended.cell("Reductions", 4096).wrong_count == 0


@pytest.mark.parametrize(
    ("datatype", "op"),
    [("double", "max"), ("char", "bxor"), ("double_complex", "prod"), ("2int", "maxloc")],
)
def test_reductions_take_a_data_type_and_an_operation(datatype: str, op: str) -> None:
    names = "Allreduce,Reduce,Reduce_local,Reduce_scatter,Reduce_scatter_block"
    ended = run(site("mpich"), 2, "--benchmarks", names, "--datatype", datatype, "--op", op,
                "--sizes", "0,1,1000", "--seconds", 2)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(c.datatype, c.op) for c in ended.cells} == {(datatype, op)}
    assert {c.benchmark for c in ended.cells} == set(names.split(","))


def test_roots_shift(where: Site) -> None:
    rooted = [card.name for card in where.cards if card.rooted]
    assert "Bcast" in rooted
    ended = run(where, 2, "--benchmarks", ",".join([*rooted, "Allreduce"]), "--root-shift", 1,
                "--sizes", "8,70000", "--seconds", 2)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {c.benchmark for c in ended.cells if c.root_shift} == set(rooted)


def test_hot_and_cold_are_cells_of_their_own(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "PingPong,Bcast,Allreduce,Barrier", "--cache", "both",
                "--cache-bytes", 1 << 20, "--sizes", "0,8,4096", "--seconds", 2)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    cells = {(c.benchmark, c.message_bytes, c.cache) for c in ended.cells}
    assert len(cells) == len(ended.cells) == 3 * 3 * 2 + 1
    assert ("Barrier", -1, "hot") in cells


def test_dissemination_starts(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "Bcast,PingPong", "--sync", "dissemination",
                "--sizes", "8", "--seconds", 2)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(c.benchmark, c.sync) for c in ended.cells} == {
        ("Bcast", "dissemination"),
        ("PingPong", "none"),
    }


def test_starts_by_a_common_clock(where: Site) -> None:
    """Late starters are dropped; what the clocks may be apart is stored."""
    ended = run(where, 2, "--benchmarks", "Bcast,Allreduce", "--sync", "clock", "--sizes", "8,4096",
                "--seconds", 5)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert len(ended.cells) + len(ended.skips) == 4
    assert all(c.sync == "clock" and 0 < c.sync_error_s < 1 for c in ended.cells)


def test_late_starters_do_not_keep_a_launch_alive() -> None:
    """With more ranks than cores nearly every start is late."""
    ended = run(site("mpich"), 3, "--benchmarks", "Bcast", "--sync", "clock", "--sizes", "8",
                "--ranks", 3, "--seconds", 3)  # fmt: skip
    assert ended.status == 0, ended.errors
    assert len(ended.cells) + len(ended.skips) == 1


@pytest.mark.parametrize("multi", [0, 1])
def test_groups_side_by_side(where: Site, multi: int) -> None:
    """On a grid of 2 x 2 ranks 0 and 2 are one group, 1 and 3 the other."""
    ended = run(where, 4, "--benchmarks", "PingPong,Sendrecv,Allreduce", "--multi", multi,
                "--map", "2x2", "--ranks", 2, "--sizes", "8", "--seconds", 4)  # fmt: skip
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
                "--seconds", 5)  # fmt: skip
    assert ended.status == 1
    assert ended.cell("Corrupt", 8).wrong_count >= 1
    assert ended.cell("PingPong", 8).wrong_count == 0
    assert ended.end.wrong_count == ended.cell("Corrupt", 8).wrong_count
