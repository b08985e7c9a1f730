# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Files of the profiler are read as they were written, whatever ended their process."""

from __future__ import annotations

import re
import subprocess
import tracemalloc
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from mpigauge.model.errors import UserError
from mpigauge.products.profile.match.merge import merged, quantile
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.files import numbered, read_folder, read_rank
from mpigauge.products.profile.read.layout import BlockKind, Counted
from mpigauge.products.profile.read.rank_file import RankFile
from mpigauge.site.builds.cxx import compiler_words
from tests.loaded_tools import load_tool
from tests.profiled.written import HZ, SECOND, START_UTC_S, Written

generate_layout = load_tool("generate_layout")
SEND, WAIT = 3, 4


def test_python_and_c_mean_the_same_file(repository: Path, tmp_path: Path) -> None:
    header = (repository / "profiler" / "layout.hpp").read_text()
    places = {}
    for name in re.findall(r"^struct (\w+)", header, re.MULTILINE):
        dtype = getattr(layout, generate_layout.python_name(name))
        places[f"sizeof(layout::{name})"] = dtype.itemsize
        is_block = name != "Block" and dtype.names[:2] == layout.BLOCK.names
        for index, each in enumerate(dtype.names):
            member = f"block.{each}" if is_block and index < 2 else each
            places[f"offsetof(layout::{name}, {member})"] = dtype.fields[each][1]
    assert len(places) > 150
    source = tmp_path / "layout.cpp"
    source.write_text(
        '#include "layout.hpp"\n#include <cstddef>\n#include <cstdio>\nusing namespace '
        "mpigauge::profile;\nint main() {\n"
        + "".join(f'std::printf("%zu\\n", {each});\n' for each in places)
        + "}\n"
    )
    program = tmp_path / "layout"
    words = [*compiler_words("a test"), "-std=c++20", f"-I{repository / 'profiler'}"]
    subprocess.run([*words, str(source), "-o", str(program)], check=True)
    text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert dict(zip(places, map(int, text.split()), strict=True)) == places


def bytes_held_by(ranks: int, folder: Path) -> int:
    """The memory of all files of a job whose ranks each list the members of a communicator."""
    folder.mkdir()
    everyone = np.arange(ranks, dtype="i4").tobytes()
    for rank in range(ranks):
        file = Written(rank=rank, ranks=ranks, job=1, pid=rank)
        file.block(BlockKind.MEMBERS, layout.MEMBERS, everyone, members=1, count=ranks)
        file.block(BlockKind.COMM, layout.COMM, comm=1, rank=rank, size=ranks, members=1)
        file.write(folder / f"{rank}.mpiprof")
    tracemalloc.start()
    try:
        files = read_folder(folder)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert [len(file.comms[1].members) for file in files] == [ranks] * ranks
    return held


def test_the_memory_of_a_profile_is_linear_in_ranks(tmp_path: Path) -> None:
    few, many = (bytes_held_by(ranks, tmp_path / str(ranks)) for ranks in (200, 1600))
    assert many < 10 * few


BARRIER, KINDS, BLOCKS = 5, 4, 4


def recorded(rank: int, ranks: int, missing: int | None = None) -> Written:
    """A rank of a job with four sizes of a collective, of each 1024 recorded calls. `missing`: the
    number of a block that is not there."""
    file = Written(rank=rank, ranks=ranks, job=1, pid=rank)
    everyone = np.arange(ranks, dtype="i4").tobytes()
    file.block(BlockKind.MEMBERS, layout.MEMBERS, everyone, members=1, count=ranks)
    file.block(BlockKind.COMM, layout.COMM, comm=1, rank=rank, size=ranks, members=1)
    file.block(BlockKind.TEXT, layout.TEXT, b"solver\0", about=layout.About.WORDS, length=7)
    file.block(BlockKind.MODULE, layout.MODULE, b"/solver", module=3, path_length=7)
    file.call(BARRIER, "MPI_Allreduce", "collective")
    file.thread(0)
    stack = np.array([(16, 3, 0), (32, 3, 0)], layout.FRAME).tobytes()
    times = np.bincount([10] * KINDS * BLOCKS * layout.KEPT_PLACES, minlength=layout.BINS)
    file.block(BlockKind.SITE, layout.SITE, stack, call=BARRIER, frames=2, times=times)
    index = np.arange(BLOCKS * layout.KEPT_PLACES)
    records = np.zeros(len(index), layout.INSTANCE)
    for kind in range(KINDS):
        records["index"], records["entered"] = index, (KINDS * index + kind) * 100 + SECOND
        records["left"] = records["entered"] + 10
        file.block(
            BlockKind.INSTANCES,
            layout.INSTANCES,
            comm=1,
            call=BARRIER,
            bin=kind,
            waits=1,
            kept=kind,
            count=len(index),
            used=len(index),
        )
        for part, instance in enumerate(np.split(records, BLOCKS)):
            if part != missing:
                file.block(BlockKind.KEPT, layout.KEPT, of=kind, part=part, instance=instance)
    return file


def test_recorded_calls_are_read_up_to_the_first_missing_block(tmp_path: Path) -> None:
    for missing, blocks in ((None, 4), (2, 2), (0, 0)):
        file = read_rank(recorded(0, 2, missing).write(tmp_path / f"{missing}.mpiprof"))
        assert [len(each.records()) for each in file.instances] == [blocks * 256] * KINDS
        for each in file.instances:
            assert each.records()["index"].tolist() == list(range(blocks * 256))


def test_files_of_a_job_share_what_is_equal(tmp_path: Path) -> None:
    for rank in range(3):
        recorded(rank, 3).write(tmp_path / f"{rank}.mpiprof")
    first, *others = read_folder(tmp_path)
    for file in others:
        assert file.comms[1].members is first.comms[1].members
        assert file.sites[0].frames is first.sites[0].frames
        assert file.words is first.words
        assert file.executable is first.executable


def peak_of_joining(ranks: int, folder: Path) -> int:
    folder.mkdir()
    for rank in range(ranks):
        recorded(rank, ranks).write(folder / f"{rank}.mpiprof")
    tracemalloc.start()
    try:
        profile = merged(read_folder(folder), timeline_bytes=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert profile.waits["kept"].tolist() == [KINDS * BLOCKS * layout.KEPT_PLACES] * ranks
    return peak


def test_recorded_calls_of_all_ranks_are_not_held_together(tmp_path: Path) -> None:
    """The times of one kind of calls are, as each rank waits for the last one."""
    _, few, many = (peak_of_joining(n, tmp_path / str(place)) for place, n in enumerate((8, 8, 24)))
    records = KINDS * BLOCKS * layout.KEPT_PLACES * layout.INSTANCE.itemsize
    assert (many - few) / 16 < records / 3


def test_a_form_that_is_no_layout_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot read 'union Either"):
        generate_layout.python_module("namespace layout {\nunion Either { int one; };\n}")
    with pytest.raises(ValueError, match=r"cannot read 'int one\[2\]' of Pair"):
        generate_layout.python_module("namespace layout {\nstruct Pair { int one[2]; };\n}")


def simple(**head: object) -> Written:
    """20 sends of 1 to 5 ticks and 4 waits of 10."""
    file = Written(**head)
    file.call(SEND, "MPI_Send", "send")
    file.call(WAIT, "MPI_Wait", "wait")
    file.thread(0)
    file.site(0, SEND, [1, 2, 3, 4, 5] * 4)
    file.site(1, WAIT, [10] * 4)
    file.cells(
        [
            (0, 0, 1, Counted.SENT, 4, 0, 20, 200, 8, 12, 1, 0),
            (1, 0, layout.NO_RANK, Counted.REQUESTS, 1, 0, 4, 4, 1, 1, 0, 0),
        ]
    )
    return file


def test_sites_and_cells_are_as_written(tmp_path: Path) -> None:
    file = read_rank(simple().write(tmp_path / "a.mpiprof"))
    send, wait = file.sites
    assert (send.call, send.group, send.calls, wait.calls) == ("MPI_Send", "send", 20, 4)
    assert send.seconds == pytest.approx(60 / HZ)
    assert (send.least_s, send.most_s) == (1 / HZ, 5 / HZ)
    assert file.cells["most"].tolist() == [12, 1]
    assert (file.run_s, file.ended, file.hz) == (10.0, "finalized", HZ)
    assert file.began_utc_s == START_UTC_S + 1


def test_a_profile_joins_threads_and_ranks(tmp_path: Path) -> None:
    both = simple()
    both.thread(1)
    both.site(0, SEND, [7], thread=1)
    both.cells([(0, 0, 1, Counted.SENT, 4, 0, 1, 15, 15, 15, 1, 0)], thread=1)
    files = [read_rank(file.write(tmp_path / f"{n}")) for n, file in enumerate((both, simple()))]
    profile = merged(files)
    assert [spot.call for spot in profile.spots] == ["MPI_Send", "MPI_Wait"]
    assert profile.rows[["rank", "calls"]].tolist() == [(0, 21), (0, 4), (1, 20), (1, 4)]
    sent = profile.cells[profile.cells["way"] == Counted.SENT]
    numbers = ["rank", "count", "amount", "least", "most"]
    assert sent[numbers].tolist() == [(0, 21, 215, 8, 15), (1, 20, 200, 8, 12)]


def test_threads_that_did_not_call_since_a_new_start_are_left_out(tmp_path: Path) -> None:
    file = simple(resets=2)
    file.thread(1, resets=2)
    file.site(0, WAIT, [3], thread=1)
    read = read_rank(file.write(tmp_path / "a.mpiprof"))
    assert [(site.thread, site.call) for site in read.sites] == [(1, "MPI_Wait")]
    assert len(read.cells) == 0
    assert [line.thread for line in read.timelines] == [1]


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_file_that_was_cut_gives_what_is_whole_in_it(tmp_path: Path, part: float) -> None:
    path = simple(ended=0).write(tmp_path / "a.mpiprof")
    content = path.read_bytes()
    cut = layout.PAGE + int((len(content) - layout.PAGE) * part)
    path.write_bytes(content[:cut])
    file = read_rank(path)
    assert file.ended == "killed"
    assert len(file.sites) <= 2


def test_other_files_are_named(tmp_path: Path) -> None:
    other = tmp_path / "other.mpiprof"
    other.write_text("text")
    with pytest.raises(UserError, match="is not a file of the profiler"):
        read_rank(other)
    newer = Written(version=layout.VERSION + 1).write(tmp_path / "newer.mpiprof")
    with pytest.raises(UserError, match="this mpigauge reads version"):
        read_rank(newer)


def member(rank: int, ranks: int, began_s: float, job: int = 0) -> RankFile:
    """Of a world that is in MPI for 10 seconds."""
    return replace(of_nobody(), rank=rank, ranks=ranks, job=job, began_utc_s=began_s)


@cache
def of_nobody() -> RankFile:
    with TemporaryDirectory() as folder:
        return read_rank(Written().write(Path(folder) / "a.mpiprof"))


def worlds(files: list[RankFile]) -> list[set[float]]:
    """When the members of each world began."""
    numbers = sorted({file.job for file in files})
    return [{file.began_utc_s for file in files if file.job == number} for number in numbers]


def test_launches_one_after_the_other_are_worlds_of_their_own() -> None:
    files = [member(rank, 3, start + rank / 10) for start in (0, 20, 40) for rank in (2, 0, 1)]
    assert [len(world) for world in worlds(numbered(files))] == [3, 3, 3]


def test_a_rank_that_left_nothing_is_not_taken_from_the_next_launch() -> None:
    first, second = [member(0, 2, 0.0)], [member(0, 2, 20.0), member(1, 2, 20.1)]
    assert worlds(numbered([*second, *first])) == [{0.0}, {20.0, 20.1}]


def test_ranks_of_a_short_program_that_never_ran_together_are_one_world() -> None:
    """One sends what fits and ends, before the other has left MPI_Init."""
    short = [replace(member(rank, 2, 0.001 * rank), run_s=0.0001) for rank in (0, 1)]
    assert [len(world) for world in worlds(numbered(short))] == [2]


def test_what_launchers_tell_keeps_worlds_apart_that_run_together() -> None:
    files = [member(rank, 2, 0.1 * rank, job) for job in (8, 9) for rank in (0, 1)]
    found = numbered(files)
    assert sorted((file.job, file.rank) for file in found) == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_a_process_without_a_rank_is_of_no_world(tmp_path: Path) -> None:
    simple().write(tmp_path / "a.mpiprof")
    simple(rank=-1).write(tmp_path / "b.mpiprof")
    assert [(file.job, file.rank) for file in read_folder(tmp_path)] == [(1, 0), (0, None)]


def test_quantiles_are_right_to_within_a_bin() -> None:
    times = np.zeros(layout.BINS, np.uint64)
    times[5], times[100] = 99, 1
    assert quantile(times, HZ, 0.5, 5 / HZ, 1.0) * HZ == pytest.approx(5.5, abs=0.5)
    assert np.isnan(quantile(np.zeros(layout.BINS, np.uint64), HZ, 0.5, 0, 1))
