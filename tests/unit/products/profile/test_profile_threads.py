# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles of programs in which several threads of a rank call MPI: wall time stays wall time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.read.rank_file import RankFile, Timeline
from mpigauge.products.profile.show.text import lines_of, page
from mpigauge.products.profile.store.stored import ProfiledJob
from tests.profiles import IN_MPI, MAIN, NORM, PLACES, rank_file, site

STEPS = 10
A_STEP = 0.1


def with_threads(rank: int, shares: Sequence[Sequence[float]]) -> RankFile:
    """A rank of 1 s, each of whose threads spends these shares of ten steps in MPI_Allreduce."""
    lines = [
        Timeline(thread, 0.0, A_STEP, np.array(each) * A_STEP) for thread, each in enumerate(shares)
    ]
    sites = tuple(
        replace(
            site("MPI_Allreduce", "collective", (IN_MPI, NORM, MAIN), [line.mpi_s.sum() / 5] * 5),
            thread=line.thread,
        )
        for line in lines
        if line.mpi_s.sum()
    )
    cells = rank_file(rank).cells[:0]
    return replace(rank_file(rank), regions=(), timelines=tuple(lines), sites=sites, cells=cells)


def account(*shares: Sequence[float]) -> Account:
    files = [with_threads(rank, shares) for rank in range(2)]
    return Account(ProfiledJob(0, 0, merged(files), PLACES))


EIGHT, NONE = [0.8] * STEPS, [0.0] * STEPS


@pytest.mark.parametrize(
    ("threads", "mpi_s"),
    [
        ([EIGHT], 0.8),
        ([EIGHT, NONE], 0.8),
        ([EIGHT, EIGHT, EIGHT], 0.8),
        ([EIGHT, [0.5] * STEPS], 0.8),
        ([EIGHT[:5] + NONE[:5], NONE[:5] + EIGHT[:5]], 0.8),  # one after the other
        ([[0.9, 0.1] * 5, [0.1, 0.9] * 5], 0.9),
    ],
)
def test_the_time_of_a_rank_is_wall_time(threads: Sequence[Sequence[float]], mpi_s: float) -> None:
    of = account(*threads)
    assert of.run_s == pytest.approx([1.0, 1.0])
    assert of.mpi_s == pytest.approx([mpi_s, mpi_s])
    (called,) = of.inside
    assert called.seconds == pytest.approx([mpi_s, mpi_s])
    whole = sum(map(sum, threads)) * A_STEP
    assert called.mean_call_s == pytest.approx(2 * whole / called.calls)


def test_the_time_of_the_busiest_thread_is_labelled() -> None:
    label = "Up to 2 threads of a rank call MPI: its time in MPI is that of its busiest thread"
    assert label in " ".join(page([account(EIGHT, EIGHT).job], 200))
    assert label not in " ".join(page([account(EIGHT, NONE).job], 200))


def test_the_format_of_mpip_keeps_the_sum_over_threads() -> None:
    """mpiP adds the times of threads."""
    text = "\n".join(lines_of([account(EIGHT, EIGHT).job], "mpip"))
    assert "1.6" in text
