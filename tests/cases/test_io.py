# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Benchmarks on files: right data on every MPI, nothing left behind, reasons instead of crashes.

Two repetitions of everything are enough here, which IMB's schedule can be told.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from mpigauge.model.record import CellRecord, Skip, parse
from tests import patience
from tests.cases.launching import ROUGH, Site, finish, run, site, start
from tests.conftest import ABIS

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.cards import Card
    from mpigauge.model.columns import Cell

pytestmark = [pytest.mark.mpi, pytest.mark.alone]

CORES = len(os.sched_getaffinity(0))


def cards_of(where: Site) -> list[Card]:
    return [card for card in where.cards if card.suite == "IO"]


def run_few(where: Site, ranks: int, folder: Path, sizes: tuple[int, ...]) -> list[Cell]:
    """All benchmarks on files, a few repetitions of each row; the rows of all ranks together."""
    files, lengths, records = (folder / name for name in ("files", "lengths", "records"))
    files.mkdir()
    lengths.write_text("".join(f"{size}\n" for size in sizes))
    names = [card.name for card in cards_of(where)]
    ended = run(where, ranks, "--imb", "IMB-IO", *names, "-iter", "2,1,1", "-npmin", ranks,
                "-msglen", lengths, "-dir", files, "-records", records)  # fmt: skip
    assert ended.status == 0, ended.errors
    assert not any(files.iterdir())
    found = [parse(line) for line in records.read_text().splitlines()]
    assert [record.reason for record in found if isinstance(record, Skip)] == []
    return [record.cell for record in found if isinstance(record, CellRecord)]


def wait_until_empty(folder: Path) -> None:
    """At once, or when the watcher has seen that a job was killed."""
    patience.wait_for(lambda: not any(folder.iterdir()))


def test_there_are_all_37(where: Site) -> None:
    assert len(cards_of(where)) == 37


@pytest.mark.parametrize(
    ("where", "ranks"),
    [(spec, ranks) for spec in ABIS for ranks in ((2, 3) if "@" in spec else (1, 2, 3, 4))],
    indirect=["where"],
)
def test_every_benchmark_on_files_is_right(where: Site, ranks: int, tmp_path: Path) -> None:
    """Sizes of which some ranks get nothing, or which are no whole units, among them."""
    sizes = (0, 1, 6, 4096, 70001) if ranks <= CORES else (6, 4099)
    cells = run_few(where, ranks, tmp_path, sizes)
    assert {cell.benchmark for cell in cells} == {card.name for card in cards_of(where)}
    assert [cell.benchmark for cell in cells if cell.wrong_count] == []
    assert {c.message_bytes for c in cells if c.benchmark == "P_Write_Shared"} == set(sizes)


def test_writes_are_completed_each_and_at_the_end(tmp_path: Path) -> None:
    cells = run_few(site("mpich"), 1, tmp_path, (8,))
    completions = {(c.benchmark, c.completion) for c in cells}
    assert {c for name, c in completions if name == "S_Write_Indv"} == {"end", "each"}
    assert {c for name, c in completions if name == "S_Read_Indv"} == {"end"}
    assert {c for name, c in completions if name == "S_IWrite_Indv"} == {"end"}
    assert {c for name, c in completions if name == "Open_Close"} == {""}


def test_directories_are_measured_side_by_side(where: Site, tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    ended = run(where, 2, "--benchmarks", "P_Write_Expl,Open_Close", "--ranks", 2, "--sizes",
                1 << 20, "--dir", ",".join(map(str, folders)), *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(c.benchmark, c.completion, c.directory) for c in ended.cells} == {
        (name, completion, str(folder))
        for name, completion in [("P_Write_Expl", "end"), ("P_Write_Expl", "each"),
                                 ("Open_Close", "")]
        for folder in folders
    }  # fmt: skip
    assert not any(any(folder.iterdir()) for folder in folders)


def test_a_directory_that_is_not_there_is_refused_before_anything_runs(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "S_Read_Indv", "--dir", "/dev/null/nowhere")
    assert ended.status == 2
    assert ended.errors.count("--dir: no file can be made in '/dev/null/nowhere'") == 1
    assert not ended.cells


def test_directories_do_not_matter_to_others() -> None:
    ended = run(site("mpich"), 2, "--benchmarks", "PingPong", "--sizes", 8, "--dir", "/nowhere",
                *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.cells) == (0, 1)


def test_a_file_for_which_there_is_no_room_is_a_reason(where: Site, small_disk: Path) -> None:
    ended = run(where, 1, "--benchmarks", "S_Write_Expl", "--sizes", f"{1 << 30},8",
                "--memory-limit", 1 << 45, "--dir", small_disk, *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {s.key["message_bytes"] for s in ended.skips} == {1 << 30}
    assert all("not enough room: needs" in skip.reason for skip in ended.skips)
    assert {c.message_bytes for c in ended.cells} == {8}


@pytest.mark.parametrize("cache", ["keep", "drop", "direct"])
def test_what_is_done_about_caches_is_said(where: Site, cache: str, tmp_path: Path) -> None:
    ended = run(where, 2, "--benchmarks", "P_Read_Indv,P_Read_Priv,C_Read_Expl", "--ranks", 2,
                "--sizes", 1 << 20, "--io-cache", cache, "--dir", tmp_path,
                *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {c.benchmark for c in ended.cells} == {"P_Read_Indv", "P_Read_Priv", "C_Read_Expl"}
    assert {c.settings for c in ended.cells} == {"" if cache == "keep" else f"io-cache={cache}"}
    flags = {flag for c in ended.cells for flag in c.flags}
    assert flags & {"cached", "buffered"} <= {"drop": {"cached"}, "direct": {"buffered"}}.get(
        cache, set()
    )


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_job_leaves_no_file(where: Site, how: signal.Signals, tmp_path: Path) -> None:
    job = start(where, 2, "--benchmarks", "P_Write_Expl,P_Read_Priv", "--ranks", 2, "--sizes",
                1 << 20, "--seconds", 3600, "--use-all", 1, "--dir", tmp_path)  # fmt: skip
    patience.wait_for(lambda: any(tmp_path.glob("*/data*")))
    if how == signal.SIGKILL:  # of a rank, as when the system is out of memory
        os.kill(rank_at_work(tmp_path), how)
    else:
        os.killpg(job.pid, how)
    finish(job)
    wait_until_empty(tmp_path)


def rank_at_work(folder: Path) -> int:
    """The process that made the folder has its number in the name."""
    made = next(folder.iterdir())
    return int(made.name.rsplit("-", 2)[1])
