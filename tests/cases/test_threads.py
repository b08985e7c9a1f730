# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Threads of each rank that call MPI at once: right data, levels, strides, cores."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.cases.launching import Site, run, site, words

pytestmark = pytest.mark.mpi

BLOCKING = ("PingPongMT", "SendRecvMT", "BiBandMT", "AllReduceMT", "BarrierMT")


@pytest.mark.parametrize("mode", ["adaptive", "classic"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_two_threads_of_each_rank(where: Site, ranks: int, mode: str) -> None:
    ended = run(where, ranks, "--benchmarks", ",".join(BLOCKING), "--ranks", ranks, "--threads", 2,
                "--sizes", 1 << 20, "--inflight", 2, "--mode", mode, "--seconds", 20)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert ended.launch.thread_level == "multiple"
    expected = set(BLOCKING) - ({"PingPongMT", "BiBandMT"} if ranks == 1 else set())
    assert {cell.benchmark for cell in ended.cells} == expected
    assert {cell.threads for cell in ended.cells} == {2}


@pytest.mark.parametrize("memory", ["parallel", "serial", "continuous"])
def test_buffers_of_threads(memory: str) -> None:
    ended = run(site("mpich"), 2, "--benchmarks", "ExchangeMT,BcastMT", "--threads", 3,
                "--thread-memory", memory, "--sizes", "0,5,70000", "--mode", "classic",
                "--seconds", 20)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert len(ended.cells) == 6


def test_ranks_without_a_partner_do_not_count() -> None:
    """Their time would be 0."""
    ended = run(site("mpich"), 3, "--benchmarks", "PingPongMT", "--ranks", 3, "--sizes", 1 << 20,
                "--mode", "classic")  # fmt: skip
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
                "--seconds", 1)  # fmt: skip
    assert ended.status == 0, ended.errors
    levels = ["single", "funneled", "serialized", "multiple"]
    assert levels.index(ended.launch.thread_level) >= levels.index(level)


def test_settings_and_cores_of_threads_are_recorded() -> None:
    argv, env = words(site("mpich"), 1, "--benchmarks", "BarrierMT", "--threads", 2)
    output = subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout
    records = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    launch = next(r for r in records if r["record"] == "launch")
    rank = next(r for r in records if r["record"] == "rank")
    assert launch["threads"] == 2
    cores = rank["thread_cpusets"].split()
    assert len(cores) == len(set(cores)) <= 2
