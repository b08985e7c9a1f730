# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles as the profiler's library leaves them, without a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.launch.profiling import NO_CARDS, header, records_of
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.rank_file import (
    Comm,
    Lost,
    Module,
    RankFile,
    Records,
    Region,
    ReturnAddress,
    Site,
    Timeline,
    Type,
    Usage,
    bin_edges,
    histogram_of,
)
from mpigauge.products.profile.read.symbols import Place
from mpigauge.products.profile.store.stored import ProfiledJob, save
from mpigauge.runs.store import RunWriter

APP = Module("/home/ann/secret/solver", "ab12")
LIBMPI = Module("/opt/mpi/lib/libmpi.so.12", "cd34")
IN_MPI, NORM, MAIN = (
    ReturnAddress(LIBMPI, 0x10),
    ReturnAddress(APP, 0x200),
    ReturnAddress(APP, 0x300),
)
PLACES = {
    NORM: (Place("norm(double*)", "/home/ann/secret/norm.cpp", 88),),
    MAIN: (Place("main", offset=0x1C),),
}
WORLD = Comm(1, "MPI_COMM_WORLD", 0, 2, 0, (0, 1), 7, 1, 0, "")
GRID = Comm(2, "secret grid", 0, 2, 0, (1, 0), 8, 1, 1, "MPI_Comm_split")
HZ = 1e9


def bins_of(times_s: Any, hz: float = HZ) -> npt.NDArray[np.uint64]:
    """Calls by bins of time, as the library counts them."""
    counts, _ = np.histogram(np.asarray(times_s) * hz, bin_edges())
    return counts.astype(np.uint64)


def site(
    call: str,
    group: str,
    frames: Sequence[ReturnAddress],
    times_s: Sequence[float],
    hz: float = HZ,
) -> Site:
    region = "secret step" if group == "collective" else ""
    return Site(
        thread=0,
        call=call,
        group=group,
        region=region,
        frames=tuple(frames),
        calls=len(times_s),
        seconds=sum(times_s),
        least_s=min(times_s),
        most_s=max(times_s),
        failures=0,
        histogram=histogram_of(bins_of(times_s, hz)),
    )


def stored_records(records: npt.NDArray[np.void]) -> Records:
    """Reads these records each time, as if they were in a file."""
    return lambda: records


def rank_file(rank: int, slower: float = 1.0) -> RankFile:
    """100 sums and 10 messages to the other rank in a second, and Init before."""
    sites = (
        site("MPI_Allreduce", "collective", (IN_MPI, NORM, MAIN), [1e-3 * slower] * 100),
        site("MPI_Send", "send", (MAIN,), [2e-3] * 10),
        site("MPI_Init", "environment", (MAIN,), [0.5]),
        site("MPI_Waitall", "wait", (MAIN,), [1e-3] * 5),
    )
    cells = np.array(
        [
            (0, 2, -3, layout.Counted.NONE, 4, 1, 100, 800, 8, 8, 1, 0),
            (1, 1, 1 - rank, layout.Counted.SENT, 11, 0, 8, 8192, 1024, 1024, 1, 0),
            (1, 1, 1 - rank, layout.Counted.SENT, 0, 0, 2, 0, 0, 0, 1, 0),
            (3, 0, -3, layout.Counted.REQUESTS, 2, 0, 5, 10, 2, 2, 0, 0),
        ],
        layout.CELL,
    )
    return RankFile(
        host=f"node{rank}",
        pid=100 + rank,
        job=5,
        rank=rank,
        ranks=2,
        words=("/home/ann/secret/solver", "--input", "secret.dat"),
        executable="/home/ann/secret/solver",
        library="MPICH Version:      5.0.2",
        abi="mpich",
        thread_level=0,
        started="2026-11-21T05:00:00Z",
        hz=HZ,
        run_s=1.0,
        on_s=1.5,
        ended="finalized",
        usage=Usage(0.9, 0.1, 50 << 20, 1000, 2, 30, 4),
        cpus={rank: (0, 12)},
        own_s=40e-9,
        inner_s=10e-9,
        cut=0,
        nested=0,
        lost=Lost(0, 0, ""),
        comms={1: WORLD, 2: GRID},
        types={1: Type("MPI_DOUBLE", "MPI_SUM", 8)},
        regions=(Region("secret step", 3, 0.8),),
        timelines=(Timeline(0, 0.0, 0.1, np.linspace(0, 9e-3, 10)),),
        sites=sites,
        cells=cells,
    )


def job(launch: int = 0, slower: float = 2.0) -> ProfiledJob:
    """Two ranks, of which the second is longer in its sums."""
    return ProfiledJob(launch, 0, merged([rank_file(0), rank_file(1, slower)]), PLACES)


def after_an_edit(launch: int = 0, slower: float = 2.0) -> ProfiledJob:
    """The same from another build: a file of another name, code and lines have moved."""
    before = job(launch, slower)
    built = Module("/home/ann/secret/solver-new", "ef56")

    def moved(frame: ReturnAddress) -> ReturnAddress:
        return ReturnAddress(built, frame.offset + 0x40) if frame.module == APP else frame

    places = {
        moved(frame): tuple(replace(place, line=place.line and place.line + 7) for place in of)
        for frame, of in before.places.items()
    }
    spots = tuple(
        replace(spot, frames=tuple(map(moved, spot.frames))) for spot in before.profile.spots
    )
    return replace(before, profile=replace(before.profile, spots=spots), places=places)


def stored(folder: Path, *jobs: ProfiledJob) -> Path:
    """A run folder that holds them."""
    folder.parent.mkdir(exist_ok=True)
    with RunWriter.create(header(["./solver"]), NO_CARDS, output=folder) as writer:
        for each in jobs:
            save(each, folder)
            for line in records_of(each):
                writer.append(line)
        writer.amend(header(["./solver"], jobs))
        writer.finish("done")
    return folder
