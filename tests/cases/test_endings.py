# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How launches end early, what they leave out, and who is idle meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mpigauge.model.record import CellRecord, End, Progress, Rank, parse
from mpigauge.site import topology
from tests import patience
from tests.cases.launching import ROUGH, Site, finish, run, site, start

pytestmark = pytest.mark.mpi

GIB = 1 << 30
LARGE = 2 * GIB + 8
MEMORY_FOR_LARGE = 12 * GIB
ENOUGH_TICKS = 2 * os.sysconf("SC_CLK_TCK")
"""Of processor time, to be compared with."""
SINGLE_CALL = ("--cell-seconds", 1e-9)
"""The options with which a cell is a single call."""


def in_progress(records: Path) -> set[tuple[str, int]]:
    """The benchmarks and sizes whose progress a launch has written."""
    if not records.exists():
        return set()
    lines = [parse(line) for line in records.read_text().split("\n")[:-1]]
    keys = [line.key for line in lines if isinstance(line, Progress)]
    return {(key["benchmark"], key["message_bytes"]) for key in keys}


def test_a_stop_file_ends_a_launch_with_all_that_it_has(where: Site, tmp_path: Path) -> None:
    stop, records = tmp_path / "stop", tmp_path / "records"
    job = start(where, 2, "--benchmarks", "PingPong,Bcast", "--sizes", "0,8,4096", "--seconds",
                3600, "--use-all", 1, "--stop-file", stop, "--records", records)  # fmt: skip
    patience.wait_for(lambda: len(in_progress(records)) == 6)
    stop.touch()
    ended = finish(job)
    lines = [parse(line) for line in records.read_text().splitlines()]
    cells = [line.cell for line in lines if isinstance(line, CellRecord)]
    assert (ended.status, ended.errors) == (0, "")
    assert len(cells) == 6
    assert {cell.stop for cell in cells} <= {"interrupted", "precise"}
    assert isinstance(lines[-1], End)
    assert lines[-1].stopped == "interrupted"


def test_what_does_not_fit_is_left_out_and_the_rest_goes_on(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "PingPong,Alltoall", "--sizes", "8,100000",
                "--memory-limit", 300000, *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(s.key["benchmark"], s.key["message_bytes"]) for s in ended.skips} == {
        ("Alltoall", 100000)
    }
    assert ended.skips[0].reason.startswith("not enough memory: needs 0.000 GiB per rank")
    assert {(c.benchmark, c.message_bytes) for c in ended.cells} == {
        ("PingPong", 8),
        ("PingPong", 100000),
        ("Alltoall", 8),
    }


def test_out_of_time_is_said(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "PingPong", "--sizes", "8", "--seconds", 0.3,
                "--use-all", 1, "--precision", 1e-6)  # fmt: skip
    assert ended.status == 0
    assert ended.cells[0].stop in ("time", "precise")
    quick = run(where, 2, "--benchmarks", "Alltoall,Allreduce,Bcast", "--seconds", 1e-6)
    assert (quick.status, quick.end.stopped) == (0, "time")
    assert quick.cells, "a launch that was started measures something"
    assert len(quick.cells) + len(quick.skips) == 24 + 22 + 24


@pytest.mark.heavy
def test_messages_above_2_gib() -> None:
    if topology.read().memory_bytes < MEMORY_FOR_LARGE:
        pytest.skip("needs 12 GiB of free memory")
    ended = run(site("mpich"), 2, "--benchmarks", "PingPong,Bcast,Allgather", "--sizes", LARGE,
                *SINGLE_CALL)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {c.benchmark for c in ended.cells} == {"PingPong", "Bcast"}
    reasons = {s.reason for s in ended.skips}
    assert reasons == {"more than 2147483647 elements, which MPI counts as int here"}


def test_large_messages_need_large_counts() -> None:
    """Open MPI 5.0 has none."""
    ended = run(site("openmpi"), 2, "--benchmarks", "PingPong", "--sizes", LARGE, "--seconds", 1)
    assert ended.status == 0
    assert [s.reason for s in ended.skips] == [
        "more than 2147483647 elements, and this MPI library has no large-count calls (MPI_Send_c)"
    ]


def cpu_ticks(pid: int) -> int:
    """User and system time of a process; fields 14 and 15, after a name that may hold blanks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_idle_ranks_sleep(where: Site, tmp_path: Path) -> None:
    """Ranks 2 and 3 belong to no group: others have their cores."""
    stop, records = tmp_path / "stop", tmp_path / "records"
    job = start(where, 4, "--benchmarks", "PingPong,Allreduce", "--ranks", 2, "--sizes", "8",
                "--seconds", 3600, "--use-all", 1, "--stop-file", stop,
                "--records", records)  # fmt: skip
    patience.wait_for(lambda: in_progress(records))
    ranks = [r for r in map(parse, records.read_text().splitlines()) if isinstance(r, Rank)]
    before = {r.rank: cpu_ticks(r.pid) for r in ranks}

    def used() -> dict[int, int]:
        return {r.rank: cpu_ticks(r.pid) - before[r.rank] for r in ranks}

    patience.wait_for(lambda: used()[0] + used()[1] >= ENOUGH_TICKS)
    ticks = used()
    stop.touch()
    assert finish(job).status == 0
    assert ticks[2] + ticks[3] < 0.1 * (ticks[0] + ticks[1])


def test_a_cell_without_time_is_a_single_call(where: Site) -> None:
    """In chains, in starts of their own, of what is completed together, and in several groups."""
    names = "PingPong,Allreduce,EXT:Unidir_Put,MPI4:Bcast_persist"
    ended = run(where, 2, "--benchmarks", names, "--ranks", 2, "--sizes", "8,70000",
                *SINGLE_CALL)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {cell.benchmark for cell in ended.cells} == {
        word.rpartition(":")[2] for word in names.split(",")
    }
    assert {(cell.samples, cell.calls, cell.stop) for cell in ended.cells} == {(1, 1, "budget")}
    assert all(cell.time_p50_s > 0 for cell in ended.cells)


def test_groups_agree_on_a_single_call(where: Site) -> None:
    ended = run(where, 4, "--benchmarks", "Bcast", "--ranks", 2, "--multi", 1, "--sizes", 8,
                *SINGLE_CALL)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert [(cell.group, cell.samples) for cell in ended.cells] == [(0, 1), (1, 1)]
