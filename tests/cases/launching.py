# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Starts the kernels on ranks, and reads what they say."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from mpigauge.measuring.jobs.reasons import failed_to_start
from mpigauge.model.cards import NCCL_SUITE, Cards
from mpigauge.model.pair_block import spread
from mpigauge.model.record import CellRecord, End, Launch, Rank, Record, Skip, parse
from mpigauge.products.profile.launch.library import library
from mpigauge.site import launch
from mpigauge.site.launch import Job
from mpigauge.site.mpi import find, kernels
from mpigauge.site.mpi.make.translation import translation
from tests import patience

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mpigauge.model.columns import Cell
    from mpigauge.model.mpi import Kernels, Mpi

PATIENCE_S = 180.0
OTHER_SUITES = ("SELFTEST", NCCL_SUITE)
"""Suites that test ourselves, or that need a GPU: see test_nccl.py."""
ROUGH = ("--precision", 10, "--cell-seconds", 1)
"""The options with which a cell takes the fewest samples, or on a busy machine less: one call at
least. A launch with a time of its own would leave out cells there."""
SEGMENTATION_FAULT = 128 + 11
ONE_SIDED = ("EXT", "RMA")
"""The suites of one-sided communication."""


@dataclass(frozen=True)
class Site:
    """An MPI with kernels for it."""

    mpi: Mpi
    kernels: Kernels

    @property
    def cards(self) -> Cards:
        return Cards.load(self.kernels.cards)

    def names(self) -> list[str]:
        """All benchmarks but those that test ourselves or need a GPU."""
        return [card.name for card in self.cards if card.suite not in OTHER_SUITES]


@dataclass(frozen=True)
class Ended:
    """What a job left behind."""

    status: int
    records: tuple[Record, ...]
    errors: str

    @property
    def cells(self) -> list[Cell]:
        return [r.cell for r in self.records if isinstance(r, CellRecord)]

    @property
    def skips(self) -> list[Skip]:
        return [r for r in self.records if isinstance(r, Skip)]

    @property
    def ranks(self) -> list[Rank]:
        return [r for r in self.records if isinstance(r, Rank)]

    @property
    def launch(self) -> Launch:
        return next(r for r in self.records if isinstance(r, Launch))

    @property
    def end(self) -> End:
        """The last record. AssertionError, with what the job printed, where there is none."""
        ends = [r for r in self.records if isinstance(r, End)]
        assert ends, f"status {self.status}: {self.errors}"
        return ends[0]

    def cell(self, benchmark: str, size: int = -1) -> Cell:
        return next(c for c in self.cells if c.benchmark == benchmark and c.message_bytes == size)


@cache
def site(spec: str) -> Site:
    """An MPI that `make test` installs, with its kernels."""
    mpi = find(spec)
    return Site(mpi, kernels(mpi))


@cache
def translated_site(program: str, target: str) -> Site:
    """The kernels for one MPI on an MPI of another ABI: what they open is the translation."""
    own, other = site(program), find(target)
    made = translation(own.mpi.abi, other)
    mpi = replace(
        other, abi=own.mpi.abi, library=made.preload[0], env={**other.env, **made.env}
    )  # fmt: skip
    return Site(mpi, own.kernels)


def profiled_site(where: Site, folder: Path) -> Site:
    """The same with the profiler, whose files go to the folder."""
    settings = {"LD_PRELOAD": str(library()), "MPIGAUGE_PROFILE": str(folder)}
    return Site(replace(where.mpi, env={**where.mpi.env, **settings}), where.kernels)


def words(
    where: Site, ranks: int, *options: object, bind: tuple[tuple[int, ...], ...] = ()
) -> tuple[list[str], dict[str, str]]:
    """The words that start the kernels, and the environment for them. `bind`: the cores that the
    launcher gives each rank."""
    program = (
        str(where.kernels.executable),
        *("--libmpi", str(where.mpi.library)),
        *("--plugin", str(where.kernels.plugin)),
        *map(str, options),
    )
    command = launch.command(Job(where.mpi, ranks, program, oversubscribe=True, bind=bind))
    return list(command.words), {**os.environ, **command.env}


def start(
    where: Site,
    ranks: int,
    *options: object,
    bind: tuple[tuple[int, ...], ...] = (),
    before: Sequence[str] = (),
) -> subprocess.Popen[str]:
    """`before`: words that the launcher is started by."""
    argv, env = words(where, ranks, *options, bind=bind)
    return subprocess.Popen(
        [*before, *argv],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(job: subprocess.Popen[str]) -> Ended:
    """Waits for the end; a job that hangs is ended with all its ranks, and fails the test."""
    try:
        output, errors = patience.communicate(job, PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGTERM)
        output, errors = job.communicate()
        pytest.fail(f"{job.args!r} did not end; it said: {output[-2000:]}{errors[-2000:]}")
    return Ended(job.returncode, tuple(_records(output)), errors)


def run(where: Site, ranks: int, *options: object, before: Sequence[str] = ()) -> Ended:
    """Starts the kernels again, once, after a launcher's race or the known fault of Open MPI."""
    ended = finish(start(where, ranks, *options, before=before))
    if failed_to_start([ended.errors]) or is_fault_of_open_mpi(where, ended, options):
        print(f"{where.mpi.name} is started again after: {ended.errors}")
        ended = finish(start(where, ranks, *options, before=before))
    return ended


def is_fault_of_open_mpi(where: Site, ended: Ended, options: Sequence[object]) -> bool:
    """True for a known fault: Open MPI 5.0.11 ends one-sided communication by signal 11 in three of
    some ten runs of all tests, another test each time, and never in fifty launches in a row. Under
    our profiler or translation, a signal may be a fault of ours."""
    mpi = where.mpi
    if (mpi.name, mpi.version, ended.status) != ("openmpi", "5.0.11", SEGMENTATION_FAULT):
        return False
    cards = map(where.cards.get, ",".join(map(str, options)).split(","))
    return mpi == find("openmpi") and any(card.suite in ONE_SIDED for card in cards if card)


def _records(output: str) -> Iterator[Record]:
    for line in output.splitlines():
        if (record := parse(line)) is not None:
            yield from spread([record])
