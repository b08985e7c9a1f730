# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Threads of each rank that call MPI at once: right data, levels, strides, cores."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from mpigauge.model.suite_options import LEVELS
from tests.cases.launching import ROUGH, Site, run, site, words
from tests.lower_level import preloaded

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.mpi

BLOCKING = ("PingPongMT", "SendRecvMT", "BiBandMT", "AllReduceMT", "BarrierMT")
FEW = ("--repetitions", 10, *ROUGH)
"""The options with which a row takes few calls in either mode: threads that wait for each other on
few cores take a time slice for each."""


@pytest.mark.parametrize("mode", ["adaptive", "classic"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_two_threads_of_each_rank(
    where: Site, ranks: int, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Intel MPI's collectives in shared memory never end for threads of three ranks on some
    processors, see docs/howto/which-mpi.md; those of messages do."""
    monkeypatch.setenv("I_MPI_COLL_INTRANODE", "pt2pt")
    ended = run(where, ranks, "--benchmarks", ",".join(BLOCKING), "--ranks", ranks, "--threads", 2,
                "--sizes", 1 << 20, "--inflight", 2, "--mode", mode, *FEW)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert ended.launch.thread_level == "multiple"
    expected = set(BLOCKING) - ({"PingPongMT", "BiBandMT"} if ranks == 1 else set())
    assert {cell.benchmark for cell in ended.cells} == expected
    assert {cell.threads for cell in ended.cells} == {2}


@pytest.mark.parametrize("memory", ["parallel", "serial", "continuous"])
def test_buffers_of_threads(memory: str) -> None:
    ended = run(site("mpich"), 2, "--benchmarks", "ExchangeMT,BcastMT", "--threads", 3,
                "--thread-memory", memory, "--sizes", "0,5,70000", "--mode", "classic",
                *FEW)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert len(ended.cells) == 6


def test_ranks_without_a_partner_do_not_count() -> None:
    """Their time would be 0."""
    ended = run(site("mpich"), 3, "--benchmarks", "PingPongMT", "--ranks", 3, "--sizes", 1 << 20,
                "--mode", "classic", *FEW)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert ended.cells[0].time_min_s > 0


def test_a_stride_without_pairs_is_said(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "PingPongMT", "--stride", 2, "--sizes", 8)
    assert ended.status == 0
    assert [skip.reason for skip in ended.skips] == ["no rank has a partner at a stride of 2"]


def test_a_level_that_threads_cannot_do_with_is_refused(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "BcastMT", "--threads", 2, "--thread-level", "single")
    assert ended.status == 2
    assert ended.errors.count("--threads 2 needs --thread-level multiple") == 1


@pytest.mark.parametrize("level", ["single", "funneled", "serialized", "multiple"])
def test_the_level_that_was_provided_is_recorded(where: Site, level: str) -> None:
    ended = run(where, 2, "--benchmarks", "PingPong", "--thread-level", level, "--sizes", 8,
                *ROUGH)  # fmt: skip
    assert ended.status == 0, ended.errors
    assert LEVELS.index(ended.launch.thread_level) >= LEVELS.index(level)
    assert ended.launch.thread_level_asked == level
    assert {cell.thread_level for cell in ended.cells} == {ended.launch.thread_level}


def test_cells_know_no_level_where_none_was_asked_for(where: Site) -> None:
    ended = run(where, 2, "--benchmarks", "PingPong", "--sizes", 8, *ROUGH)
    assert (ended.launch.thread_level_asked, ended.cells[0].thread_level) == ("", "")


def test_rows_say_a_lower_level_that_was_provided(where: Site, tmp_path: Path) -> None:
    ended = run(where, 2, "--benchmarks", "PingPong", "--thread-level", "multiple", "--sizes", 8,
                *ROUGH, before=preloaded(tmp_path))  # fmt: skip
    assert ended.status == 0, ended.errors
    assert (ended.launch.thread_level_asked, ended.launch.thread_level) == ("multiple", "single")
    assert {cell.thread_level for cell in ended.cells} == {"single"}
    said = "thread level multiple was asked for, this MPI library provides single"
    assert ended.errors.count(said) == 1


def test_threads_are_not_made_where_a_lower_level_was_provided(where: Site, tmp_path: Path) -> None:
    ended = run(where, 2, "--benchmarks", "BcastMT", "--threads", 2, "--sizes", 8,
                before=preloaded(tmp_path))  # fmt: skip
    assert ended.status == 2
    said = "thread level multiple is needed, this MPI library provides single"
    assert ended.errors.count(said) == 1


def test_settings_and_cores_of_threads_are_recorded() -> None:
    argv, env = words(site("mpich"), 1, "--benchmarks", "BarrierMT", "--threads", 2)
    output = subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout
    records = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    launch = next(r for r in records if r["record"] == "launch")
    rank = next(r for r in records if r["record"] == "rank")
    assert launch["threads"] == 2
    cores = rank["thread_cpusets"].split()
    assert len(cores) == len(set(cores)) <= 2
