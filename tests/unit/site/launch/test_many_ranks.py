# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words that start 10 000 ranks. Linux starts no program with a word of 128 KiB, nor with two
MiB of words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.site import launch
from mpigauge.site.launch import Job, OnHost
from tests.unit.site.launch.test_launch import INTEL, MPICH, OPENMPI4, OPENMPI5

RANKS, CORES = 10_000, 128
LONGEST_WORD, MOST_WORDS = 1 << 17, 1 << 21
CLOSE = tuple((core,) for core in range(CORES))
JOBS = [Job(mpi, RANKS, ("p",)) for mpi in (MPICH, INTEL, OPENMPI4, OPENMPI5)]
JOBS += [replace(job, launcher="srun") for job in JOBS]
FILLED = tuple(
    OnHost(
        f"node-{host:05}", min(CORES, RANKS - first), ("--bind", ",".join(map(str, range(CORES))))
    )
    for host, first in enumerate(range(0, RANKS, CORES))
)
SINGLE = tuple(OnHost(f"n{host:05}", 1) for host in range(RANKS))
NAMED = tuple(OnHost(f"node-{host:05}.cluster.example", 1) for host in range(RANKS))


def name_of(job: object) -> str:
    return f"{job.mpi.label} {job.launcher}" if isinstance(job, Job) else ""


def check_words(job: Job) -> None:
    made = launch.command(job)
    assert max(map(len, made.words)) < LONGEST_WORD
    assert sum(len(word) + 9 for word in made.words) < MOST_WORDS


@pytest.mark.parametrize("job", JOBS, ids=name_of)
def test_ranks_of_79_hosts_are_started_by_one_line(job: Job) -> None:
    """The last host has fewer ranks, and other words."""
    last = replace(FILLED[-1], words=("--bind", "0-15"))
    check_words(replace(job, hosts=(*FILLED[:-1], last), stem="/run/launch-000"))


@pytest.mark.parametrize("job", JOBS, ids=name_of)
@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("hosts", [SINGLE, NAMED], ids=["short", "long"])
def test_as_many_hosts_of_one_rank_are_too(
    job: Job, hosts: tuple[OnHost, ...], in_turn: bool
) -> None:
    check_words(replace(job, hosts=hosts, in_turn=in_turn, stem="/run/launch-000"))


@pytest.mark.parametrize(
    ("mpi", "options", "file", "line"),
    [
        (MPICH, ("-f", "f.hosts"), "f.hosts", "{}:1"),
        (INTEL, ("-f", "f.hosts", "-ppn", "1"), "f.hosts", "{}"),
        (OPENMPI5, ("--hostfile", "f-0.hosts", "p"), "f-0.hosts", "{} slots=1"),
        (OPENMPI4, ("--hostfile", "f-0.hosts", "p"), "f-0.hosts", "{} slots=1"),
    ],
    ids=["mpich", "intel", "openmpi5", "openmpi4"],
)
def test_launchers_read_very_many_hosts_from_a_file(
    mpi: Mpi, options: tuple[str, ...], file: str, line: str
) -> None:
    made = launch.command(Job(mpi, RANKS, ("p",), hosts=NAMED, stem="f"))
    at = made.words.index(options[0])
    assert made.words[at : at + len(options)] == options
    assert made.files[file].splitlines() == [line.format(host.name) for host in NAMED]


def test_srun_reads_the_hosts_of_many_ranks_from_a_file() -> None:
    made = launch.command(
        Job(MPICH, RANKS, ("p",), hosts=FILLED, launcher="srun", stem="/run/launch-000")
    )
    at = made.words.index("--nodelist")
    assert made.words[at - 1 : at + 2] == (
        "--distribution=arbitrary",
        "--nodelist",
        "/run/launch-000.hosts",
    )
    lines = made.files["/run/launch-000.hosts"].splitlines()
    assert lines == [host.name for host in FILLED for _ in range(host.ranks)]
    assert len(lines) == RANKS


def test_few_ranks_need_no_file() -> None:
    made = launch.command(Job(MPICH, 256, ("p",), hosts=FILLED[:2], launcher="srun", stem="f"))
    assert not made.files


def test_kinds_of_memory_are_answered_on_hosts_of_very_many_ranks() -> None:
    """Requests of so many ranks at the same time would stop MPICH's Hydra."""
    option = ("-memory-alloc-kinds", "mpi")

    def options(job: Job) -> tuple[str, ...]:
        return launch.command(job).words[1:3]

    assert options(Job(MPICH, 512, ("p",))) == option
    assert options(Job(replace(MPICH, version="4.2.3"), 512, ("p",))) == option
    assert options(Job(MPICH, 512, ("p",), hosts=(OnHost("a", 384), OnHost("b", 128)))) == option
    assert options(Job(MPICH, 64, ("p",))) != option
    assert options(Job(MPICH, RANKS, ("p",), hosts=FILLED)) != option
    assert options(Job(replace(MPICH, version="4.1.3"), 512, ("p",))) != option
    assert options(Job(replace(MPICH, name="mvapich", version="4.2"), 512, ("p",))) != option
    assert options(Job(INTEL, 512, ("p",))) != option
