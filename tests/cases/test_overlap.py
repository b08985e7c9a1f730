# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Overlap: every part is there, shares are shares, and data are right in every form.

How long a part takes is not judged, only what must hold on any machine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from tests.cases.launching import ROUGH, Ended, Site, run, site

if TYPE_CHECKING:
    from mpigauge.model.cards import Card
    from mpigauge.model.columns import Cell

pytestmark = [pytest.mark.mpi, pytest.mark.alone]

FAMILY = ("NBC:Ibcast", "NBC:Iallreduce", "NBC:Ibarrier", "MPI4:Bcast_persist",
          "MPI4:Allreduce_persist", "MPI4:Barrier_persist")  # fmt: skip
PARTITIONED = "MPI4:PingPong_partitioned,MPI4:PingPong_parrived"
NO_CALL = "this MPI library has no "


def named(card: Card) -> str:
    return f"{card.suite}:{card.name}"


def of_suites(where: Site, *suites: str) -> list[Card]:
    return [card for card in where.cards if card.suite in suites]


def assert_right(ended: Ended) -> None:
    """All right, and what is left out is left out for want of calls, by name."""
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    reasons = {skip.reason for skip in ended.skips}
    assert all(why.startswith(NO_CALL) for why in reasons), reasons


def assert_has_parts(cell: Cell, *, with_progress: bool) -> None:
    assert cell.time_pure_s > 0
    assert cell.time_cpu_s > 0
    assert math.isnan(cell.time_progress_s) != with_progress
    assert math.isnan(cell.overlap_ratio) or 0 <= cell.overlap_ratio <= 1
    if with_progress:
        assert cell.time_progress_s > 0
        assert 0 <= cell.overlap_progress_ratio <= 1


def test_every_part_of_an_overlap_is_timed(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", ",".join(FAMILY), "--sizes", "0,8,65536",
                *ROUGH)  # fmt: skip
    assert_right(ended)
    assert {c.benchmark for c in ended.cells} >= {"Ibcast", "Iallreduce", "Ibarrier"}
    for cell in ended.cells:
        assert_has_parts(cell, with_progress=True)
        assert 0 <= cell.overlap_ratio <= 1


def test_the_schedule_of_imb_has_no_progress(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", ",".join(FAMILY), "--sizes", 1 << 20,
                "--mode", "classic", "--repetitions", 4)  # fmt: skip
    assert_right(ended)
    for cell in ended.cells:
        assert math.isnan(cell.time_progress_s)
        assert cell.time_p50_s > 0


def test_other_tables_have_no_parts(where: Site) -> None:
    names = "NBC:Ibcast_pure,MPI4:Bcast_persist_pure,MPI4:Bcast_persist_init,MPI1:Bcast"
    ended = run(where, 2, "--benchmarks", names, "--sizes", 8, *ROUGH)
    assert_right(ended)
    assert all(math.isnan(c.time_pure_s) and math.isnan(c.overlap_ratio) for c in ended.cells)


def test_tests_can_be_far_apart_and_close() -> None:
    for every in (0.1, 1e6):
        ended = run(site("mpich"), 2, "--benchmarks", "NBC:Iallreduce", "--sizes", 65536,
                    "--test-every", every, *ROUGH)  # fmt: skip
        assert_right(ended)
        assert_has_parts(ended.cells[0], with_progress=True)


def test_a_computation_for_tests_needs_a_distance() -> None:
    ended = run(site("mpich"), 1, "--benchmarks", "NBC:Ibcast", "--test-every", 0)
    assert (ended.status, ended.errors) == (
        2,
        "mpigauge-kernel: --test-every: '0' is out of range\n",
    )


@pytest.mark.parametrize("ranks", [2, 3])
def test_roots_shift_in_every_form(where: Site, ranks: int) -> None:
    rooted = [named(card) for card in of_suites(where, "NBC", "MPI4") if card.rooted]
    assert {"NBC:Ireduce", "MPI4:Reduce_persist"} <= set(rooted)
    ended = run(where, ranks, "--benchmarks", ",".join(rooted), "--ranks", ranks, "--root-shift", 1,
                "--sizes", 4096, "--mode", "classic", "--repetitions", 2)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert all(c.root_shift for c in ended.cells)


def test_persistent_requests_follow_cold_buffers() -> None:
    names = "MPI4:Bcast_persist,MPI4:Alltoall_persist,MPI4:PingPong_partitioned"
    ended = run(site("mpich"), 2, "--benchmarks", names, "--cache", "cold", "--cache-bytes",
                1 << 20, "--sizes", "0,8,65536", "--root-shift", 1, *ROUGH)  # fmt: skip
    assert_right(ended)
    assert len(ended.cells) == 9
    assert {c.cache for c in ended.cells} == {"cold"}


@pytest.mark.parametrize(("datatype", "op"), [("double", "max"), ("int", "bxor")])
def test_reductions_in_every_form(where: Site, datatype: str, op: str) -> None:
    names = [named(card) for card in of_suites(where, "NBC", "MPI4") if card.unit == "reduction"]
    ended = run(where, 2, "--benchmarks", ",".join(names), "--datatype", datatype, "--op", op,
                "--sizes", "8,1000", *ROUGH)  # fmt: skip
    assert_right(ended)
    assert {(c.datatype, c.op) for c in ended.cells} == {(datatype, op)}


@pytest.mark.parametrize("parts", [1, 4, 7])
def test_messages_in_parts_are_right(parts: int) -> None:
    ended = run(site("mpich"), 2, "--benchmarks", PARTITIONED, "--partitions", parts,
                "--sizes", "0,1,1000,65536", *ROUGH)  # fmt: skip
    assert_right(ended)
    assert len(ended.cells) == 8


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_neighbours_get_what_is_theirs(where: Site, ranks: int) -> None:
    names = [named(card) for card in of_suites(where, "MORE") if "eighbor_" in card.name]
    assert len(names) == 24
    ended = run(where, ranks, "--benchmarks", ",".join(names), "--ranks", ranks,
                "--sizes", 4096, "--mode", "classic", "--repetitions", 2)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert ended.cells
