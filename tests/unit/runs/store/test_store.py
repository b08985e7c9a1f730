# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

import errno
import fcntl
import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpigauge.model.errors import RunError, UserError
from mpigauge.model.record import Carried, CellRecord, End, Launch
from mpigauge.result.stats.launches import rows
from mpigauge.result.stats.recompute import recompute
from mpigauge.runs.store import RunWriter, files, list_runs, load, run_folders
from tests import cells, planted, runs

if TYPE_CHECKING:
    from pathlib import Path

HEADER = {
    "version": "0.1",
    "command": ["mpigauge", "run", "PingPong"],
    "plan": {"benchmarks": ["PingPong"]},
    "mpi": {"name": "mpich", "version": "5.0.2"},
}
PROGRESS = {
    "key": {"benchmark": "PingPong", "suite": "MPI1", "message_bytes": 8},
    "time_p50_s": 3e-6,
    "ci_low_s": 2e-6,
    "ci_high_s": 4e-6,
    "time_scale": 0.5,
    "moved_bytes": 8,
    "messages": 1,
    "samples": 40,
    "rounds": 7,
}


def create(path: Path, **where: Any) -> RunWriter:
    return RunWriter.create(HEADER, cells.cards_text(), **where or {"output": path / "run"})


def cell_line(launch: int = 0, **changed: Any) -> str:
    return cells.line("cell", **cells.fields(launch=launch, **changed))


# --- what is written is read again --------------------------------------------------------
def test_a_whole_run(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.write_passport({"machine": {"hostname": "a"}})
        writer.write_command(0, ["mpiexec", "-n", "2", "a b"], {"X": "1 2"})
        writer.append(cells.line("launch", **cells.LAUNCH))
        writer.append("[0] " + cell_line())
        writer.append(cells.end())
        writer.log(0, "stdout", "hello\n")
        writer.log(0, "stdout", "again\n")
        writer.finish("done", launches=1)
    run = load(tmp_path / "run")
    assert run.plan == HEADER["plan"]
    assert run.passport == {"machine": {"hostname": "a"}}
    assert run.status["status"] == "done"
    assert run.complete == {0}
    assert run.cells == [cells.cell()]
    assert run.cards.names() == cells.cards().names()
    assert run.damaged == ()
    assert [type(record) for record in run.records] == [Launch, CellRecord, End]
    logs = run.path / "logs"
    assert (logs / "launch-000.stdout").read_text(encoding="utf-8") == "hello\nagain\n"
    command = (logs / "launch-000.command").read_text(encoding="utf-8")
    assert command == "X='1 2' \\\n  mpiexec -n 2 'a b'\n"


@pytest.mark.parametrize(
    ("told", "used"),
    [
        ((), ""),
        (("netmod ucx", "netmod ucx"), "netmod ucx"),
        (("tcp between hosts", "sm within a host"), "sm within a host, tcp between hosts"),
        (
            ("sm within a host, tcp between hosts", "tcp between hosts"),
            "sm within a host, tcp between hosts",
        ),
        (("sm within a host", "tcp within a host"), ""),
        (("provider tcp on eth0, eth1", "shm within a host"), ""),
    ],
)
def test_what_launches_tell_together(told: tuple[str, ...], used: str) -> None:
    """Of what carried their messages."""
    assert planted.run([], [Carried(n, text) for n, text in enumerate(told)]).used == used


def test_run_json_is_there_first(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        header = json.loads((writer.folder / "run.json").read_text(encoding="utf-8"))
    assert header["schema"] == files.SCHEMA
    assert header["command"] == HEADER["command"]
    assert load(tmp_path / "run").status == {}


def test_other_output_is_not_stored(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        assert writer.append("UCX warning") is None
        assert writer.append('{"record":"cell"') is None
    assert not (tmp_path / "run" / "records.jsonl").exists()


def test_samples_have_a_file_of_their_own(tmp_path: Path) -> None:
    ticks = [[100 + i, 101 + i, 102 + i] for i in range(6)]
    with create(tmp_path) as writer:
        for benchmark in ("PingPong", "PingPing"):
            writer.append(cell_line(benchmark=benchmark, raw=cells.raw(ticks)))
    run = load(tmp_path / "run")
    assert "ticks" not in (run.path / "records.jsonl").read_text(encoding="utf-8")
    first, second = (record.raw for record in run.of(CellRecord))
    assert first is not None
    assert second is not None
    assert (first.file, first.offset, second.offset) == ("samples/launch-000.bin", 0, 216)
    slowest = [tick for chunk in ticks for tick in chunk]
    assert run.ticks(second).tolist() == [
        slowest,
        [t - 2 for t in slowest],
        [t - 1 for t in slowest],
    ]
    times = recompute(second, run.ticks(second), calls=1)
    assert times["time_p50_s"] == pytest.approx(103.5e-9)


def test_samples_that_are_not_whole_are_left_out_and_the_cell_kept(tmp_path: Path) -> None:
    raw = cells.raw([[10, 20]]) | {"ticks": "AAAA"}
    with create(tmp_path) as writer:
        writer.append(cell_line(raw=raw))
    (record,) = load(tmp_path / "run").of(CellRecord)
    assert record.raw is None


def test_lost_samples_are_named(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.append(cell_line(raw=cells.raw([[1000, 2000]])))
    run = load(tmp_path / "run")
    (record,) = run.of(CellRecord)
    (run.path / "samples" / "launch-000.bin").write_bytes(b"1234")
    assert record.raw is not None
    with pytest.raises(UserError, match=r"launch-000\.bin ends before the samples"):
        run.ticks(record.raw)


# --- killed runs --------------------------------------------------------------------------
def test_what_a_killed_launch_knew_is_kept(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.append(cell_line(0, message_bytes=8))
        writer.append(cells.end(0))
        for samples in (20, 40):
            key = cells.fields(message_bytes=8)
            writer.append(
                cells.line("progress", launch=1, **PROGRESS | {"key": key, "samples": samples})
            )
    run = load(tmp_path / "run")
    assert run.complete == {0}
    (row,) = rows(run.cells)
    assert row.launches == 2
    assert row.samples == 160
    assert row.stops == ("precise", "interrupted")


def test_progress_of_a_launch_that_ended_is_forgotten(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.append(cells.line("progress", launch=0, **PROGRESS | {"key": cells.fields()}))
        writer.append(cells.end(0, "interrupted"))
        assert list((writer.folder / "progress").iterdir()) == []
    run = load(tmp_path / "run")
    assert run.cells == []
    assert run.complete == frozenset()


def test_a_damaged_file_beside_the_records_is_named(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.append(cell_line())
        writer.finish("done", launches=1)
    for name in ("passport.json", "status.json"):
        (tmp_path / "run" / name).write_text("{", encoding="utf-8")
    run = load(tmp_path / "run")
    files = [tmp_path / "run" / name for name in ("passport.json", "status.json")]
    assert run.damaged == tuple(f"{file} is damaged and left out" for file in files)
    assert run.cells


def test_a_half_written_last_line_is_named_and_left_out(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.append(cell_line())
    with (tmp_path / "run" / "records.jsonl").open("a", encoding="utf-8") as file:
        file.write(cell_line(1)[:100])
    run = load(tmp_path / "run")
    assert len(run.cells) == 1
    assert len(run.damaged) == 1
    assert "line 2 of" in run.damaged[0]
    assert "it is not whole" in run.damaged[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.data())
def test_any_damage_costs_no_more_than_the_lines_it_hits(tmp_path: Path, data: Any) -> None:
    lines = [cell_line(i).encode() for i in range(4)]
    where = data.draw(st.integers(0, 3))
    at = data.draw(st.integers(0, len(lines[where]) - 1))
    lines[where] = lines[where][:at] + b"\xff\x00" + lines[where][at + 2 :]
    folder = tmp_path / "run"
    if not folder.exists():
        create(tmp_path).close()
    (folder / "records.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    kept = {cell.launch for cell in load(folder).cells}
    assert kept >= {0, 1, 2, 3} - {where}


def test_resume_knows_what_is_complete_and_appends(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        for launch, stopped in enumerate(["done", "time", "interrupted"]):
            writer.append(cell_line(launch))
            writer.append(cells.end(launch, stopped))
        writer.finish("interrupted")
    with (tmp_path / "run" / "records.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"record":"cel')
    with RunWriter.resume(tmp_path / "run") as writer:
        assert writer.complete == {0, 1}
        writer.append(cell_line(2, time_p50_s=2e-6))
        writer.append(cells.end(2))
    run = load(tmp_path / "run")
    assert run.complete == {0, 1, 2}
    assert run.status == {}
    (row,) = rows(run.cells)
    assert row.values_s == (1e-6, 1e-6, 2e-6)
    assert len(run.damaged) == 1


# --- refusals before anything is launched -------------------------------------------------
def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    create(tmp_path).close()
    with pytest.raises(UserError, match="is not empty; two runs cannot share a folder"):
        create(tmp_path)


def test_an_empty_folder_may_be_used_once(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    create(tmp_path).close()
    with pytest.raises(UserError, match="is not empty"):
        create(tmp_path)


def test_a_missing_parent_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no folder .*/a"):
        create(tmp_path, output=tmp_path / "a" / "b")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="is a file"):
        create(tmp_path)


@pytest.mark.parametrize("where", ["output", "root"])
def test_a_read_only_place_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    with pytest.raises(UserError, match="Read-only file system"):
        create(tmp_path, **{where: tmp_path / "x"})


def test_only_one_process_writes(tmp_path: Path) -> None:
    with create(tmp_path), pytest.raises(UserError, match="another mpigauge is writing"):
        RunWriter.resume(tmp_path / "run")
    RunWriter.resume(tmp_path / "run").close()


def test_the_lock_is_one_that_nfs_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS locks a file for one process alone only where that may write to it."""
    modes = []

    def lock(file: Any, how: int) -> None:
        modes.append((fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE, how))

    monkeypatch.setattr(fcntl, "flock", lock)
    create(tmp_path).close()
    assert modes == [(os.O_RDWR, fcntl.LOCK_EX | fcntl.LOCK_NB)]


def test_a_run_leaves_nothing_but_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with create(tmp_path) as writer:
        writer.append(cell_line())
        writer.finish("done")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "cards.json", "logs", "progress", "records.jsonl", "run.json", "samples", "status.json"
    ]  # fmt: skip


def test_jobs_that_start_in_the_same_second_get_folders_of_their_own(tmp_path: Path) -> None:
    def start(_: int) -> Path:
        with create(tmp_path, root=tmp_path / "runs", label="quick") as writer:
            return writer.folder

    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(start, range(24)))
    assert len(set(folders)) == 24
    assert all(folder.name.count("quick") == 1 for folder in folders)


def test_of_many_that_want_one_empty_folder_one_gets_it(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()

    def start(_: int) -> bool:
        try:
            create(tmp_path).close()
        except UserError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(start, range(16))) == 1


# --- refusals on the way ------------------------------------------------------------------
class FullDisk:
    """A system whose disk is full after so many bytes."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.write = os.write

    def __call__(self, handle: int, data: bytes) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self.write(handle, bytes(data)[: self.room])
        self.room -= written
        return written


@pytest.mark.parametrize("room", [0, 1, 100, 1500])
def test_a_full_disk_is_named_and_keeps_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    with create(tmp_path) as writer:
        writer.append(cell_line(0))
        monkeypatch.setattr(os, "write", FullDisk(room))
        lines = [cell_line(launch, raw=cells.raw([[1000] * 30])) for launch in range(1, 9)]
        with pytest.raises(RunError, match=r"cannot write .*: No space left on device"):
            list(map(writer.append, lines))
        monkeypatch.undo()
        writer.append(cell_line(9))
    run = load(tmp_path / "run")
    assert {0, 9} <= {cell.launch for cell in run.cells}
    assert run.damaged == ()


@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.parametrize("file", ["cards.json", "run.json"])
def test_a_run_that_cannot_be_begun_leaves_its_place_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, is_there: bool
) -> None:
    folder = tmp_path / "run"
    if is_there:
        folder.mkdir()

    def full(path: Path, text: str) -> None:
        if path.name == file:
            raise OSError(errno.ENOSPC, "No space left on device")
        path.write_text(text)

    with monkeypatch.context() as patch:
        patch.setattr("mpigauge.runs.store.writer.write_whole", full)
        with pytest.raises(UserError, match="No space left on device"):
            create(tmp_path)
    assert folder.exists() == is_there
    with create(tmp_path) as writer:
        writer.discard()
    assert folder.exists() == is_there


# --- what is not a run, or of another time ---------------------------------------------------
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "is not a run folder: it has no run.json"),
        ("{", "is damaged: it names no schema"),
        ('{"schema": 99}', r"written by a newer mpigauge \(schema 99; this one reads up to 1\)"),
    ],
)
def test_other_folders_are_refused(tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=says):
        load(tmp_path)
    with pytest.raises(UserError, match=says):
        RunWriter.resume(tmp_path)


def test_a_run_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        load(tmp_path / "nowhere")


def test_runs_are_listed_oldest_first(tmp_path: Path) -> None:
    for i, status in enumerate(["done", None]):
        with create(tmp_path, output=tmp_path / f"r{i}") as writer:
            if status:
                writer.finish(status)
    (tmp_path / "other").mkdir()
    (tmp_path / "r1" / "run.json").rename(tmp_path / "kept")
    (tmp_path / "r1" / "run.json").write_text("{", encoding="utf-8")
    assert [run.path.name for run in list_runs(tmp_path)] == ["r0"]
    (tmp_path / "kept").rename(tmp_path / "r1" / "run.json")
    (tmp_path / "r1").rename(tmp_path / ".r1")
    assert list(run_folders(tmp_path)) == ["r0"]
    (tmp_path / ".r1").rename(tmp_path / "r1")
    found = list_runs(tmp_path)
    assert [(run.path.name, run.status) for run in found] == [("r0", "done"), ("r1", "unfinished")]
    assert found[0].command == ("mpigauge", "run", "PingPong")
    assert found[0].mpi == "mpich 5.0.2"


def test_runs_of_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder"):
        list_runs(tmp_path / "nowhere")


@pytest.mark.parametrize("text", ["x", "-1", "0-99999999", "9" * 5000, "0,,x"])
@pytest.mark.parametrize("name", ["cpuset", "wanted_cpuset"])
def test_a_rank_on_cores_that_are_none_is_left_out(tmp_path: Path, name: str, text: str) -> None:
    lines = [runs.launch(), runs.rank(0), runs.rank(1, **{name: text}), runs.cell(), cells.end()]
    folder = runs.write(tmp_path / "run", lines[:2])
    with (folder / "records.jsonl").open("a", encoding="utf-8") as records:
        records.write("\n".join(lines[2:]) + "\n")
    stored = load(folder)
    assert [rank.rank for rank in stored.ranks] == [0]
    (left_out,) = stored.damaged
    assert f"is left out: {name} of rank 1: " in left_out
    assert len(left_out) < 400
