# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Converts the time of several threads in MPI to wall time of their rank.

Several threads may be in MPI at once, so the sum of their times may exceed the run time. The time
of a rank in MPI is that of its busiest thread in each of 1000 steps of time. Threads that call MPI
one after the other count in full.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.merge import Profile
from mpigauge.products.profile.read.rank_file import RankFile, Timeline

_STEPS = 1000
_TIMES = ("waiting", "moving", "disturbed")


def threads_in_mpi(file: RankFile) -> int:
    """Returns the number of threads of a rank with time in MPI."""
    return sum(bool(each.mpi_s.sum() > 0) for each in file.timelines)


def has_several_threads(profile: Profile) -> bool:
    """True if several threads of a rank are in MPI."""
    return any(threads_in_mpi(file) > 1 for file in profile.files)


def in_wall_time(profile: Profile) -> Profile:
    """Returns the profile with the wall time of each rank in its calls."""
    if not has_several_threads(profile):
        return profile
    shares = np.array([_share_of_busiest(file) for file in profile.files])
    rows, waits = profile.rows.copy(), profile.waits.copy()
    rows["seconds"] *= shares[rows["rank"]]
    for part in _TIMES:
        for name in (f"{part}_s", f"{part}_low_s", f"{part}_high_s"):
            waits[name] *= shares[waits["rank"]]
    return replace(profile, rows=rows, waits=waits)


def _share_of_busiest(file: RankFile) -> float:
    """Returns the time of the busiest thread in each step, over that of all threads."""
    if threads_in_mpi(file) < 2:
        return 1.0
    end_s = max(each.start_s + each.step_s * len(each.mpi_s) for each in file.timelines)
    edges = np.linspace(0.0, end_s, _STEPS + 1)
    times = np.array([_by_step(each, edges) for each in file.timelines])
    return float(times.max(axis=0).sum() / times.sum())


def _by_step(line: Timeline, edges: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns the time of a thread in MPI between edges."""
    ends = line.start_s + line.step_s * np.arange(len(line.mpi_s) + 1)
    return np.diff(np.interp(edges, ends, np.concatenate([[0.0], np.cumsum(line.mpi_s)])))
