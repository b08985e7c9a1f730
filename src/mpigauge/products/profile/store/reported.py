# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Converts reports of other profilers to profiled jobs, to show and explain them like our own.

A report may have a call site only as a sum over ranks. Its time is then divided among ranks in
proportion to the time in MPI without other rows. Time that no row accounts for is a call site of
its own, so that the time in MPI of each rank is as in the report.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mpigauge.model.units import many, percent
from mpigauge.products.profile import KIND
from mpigauge.products.profile.match.merge import CELL, NOWHERE, ROW, Profile, Spot
from mpigauge.products.profile.read.layout import CELL as FILE_CELL
from mpigauge.products.profile.read.layout import OTHER_SIZES, Counted
from mpigauge.products.profile.read.rank_file import (
    Comm,
    Lost,
    RankFile,
    ReturnAddress,
    Type,
    Usage,
)
from mpigauge.products.profile.read.symbols import Place
from mpigauge.products.profile.store.stored import ProfiledJob, save
from mpigauge.result.nature import nature
from mpigauge.runs.readers.dates import printed_date
from mpigauge.runs.readers.reported import ALL_RANKS, ReportedTime

if TYPE_CHECKING:
    from mpigauge.runs.readers.reading import Reading
    from mpigauge.runs.readers.reported import (
        ReportedMessages,
        ReportedProfile,
        ReportedRank,
        ReportedSite,
    )

NOT_LISTED = "calls not listed"
"""The call of the time in MPI that no row of a report accounts for."""
SUMS = (
    "The report has some call sites only as sums over ranks; their time is shared out by the time "
    "in MPI of each rank."
)
_UNKNOWN = -1
_LEVELS = 256
_NOBODY = Comm(0, "", -1, 0, 0, (), 0, 0, 0, "")
Times = npt.NDArray[np.float64]


def reported_jobs(reading: Reading) -> list[ProfiledJob]:
    """Returns the jobs of a text that only has reports of profilers; none if it has tables, too.
    Reports of the same program on as many ranks have the same number, in other launches."""
    figures_of = {profile.launch for profile in reading.profiles}
    if reading.tables or any(figure.launch not in figures_of for figure in reading.figures):
        return []
    jobs = [job_of(profile) for profile in reading.profiles if _listed(profile)]
    numbers: dict[tuple[str, int], int] = {}
    return [
        replace(job, number=numbers.setdefault((job.program, job.expected), len(numbers)))
        for job in jobs
    ]


def job_of(report: ReportedProfile) -> ProfiledJob:
    """Returns the job of a report; a remark mentions ranks whose calls are not listed."""
    ranks = _listed(report)
    spots, places = _spots(report.sites)
    rows = np.concatenate([np.empty(0, ROW), *_rows(report.sites, ranks)])
    spots.append(Spot(NOT_LISTED, "", "", ()))
    rows = np.concatenate([rows, _rest(rows, ranks, len(spots) - 1)])
    cells = list(_cells(report.sites, ranks))
    profile = Profile(
        files=tuple(_file(report, rank) for rank in ranks),
        spots=tuple(spots),
        rows=rows,
        cells=np.array(cells, dtype=CELL),
        comms=(_NOBODY,),
        types=(Type("", "", 0),),
    )
    job = ProfiledJob(report.launch, 0, profile, places, source=report.source)
    return replace(job, remarks=tuple(_remarks(report, ranks)))


# --- ranks ----------------------------------------------------------------------------------------
def _listed(report: ReportedProfile) -> list[ReportedRank]:
    """Returns the ranks whose calls are listed: all ranks if the report has sums over ranks."""
    listed = {time.rank for site in report.sites for time in site.times}
    if ALL_RANKS in listed:
        return list(report.ranks)
    return [rank for rank in report.ranks if rank.rank in listed]


def _file(report: ReportedProfile, rank: ReportedRank) -> RankFile:
    date = printed_date([report.started])
    return RankFile(
        host=rank.host,
        pid=0,
        job=1,
        rank=rank.rank,
        ranks=len(report.ranks),
        words=report.words,
        executable=report.words[0] if report.words else "",
        library="",
        abi="",
        thread_level=_UNKNOWN,
        started=date.strftime("%Y-%m-%dT%H:%M:%SZ") if date else "",
        hz=1.0,
        run_s=rank.run_s,
        on_s=rank.run_s,
        ended="finalized",
        usage=Usage(rank.user_s, rank.system_s, *[_UNKNOWN] * 5),
        cpus={},
        own_s=math.nan,
        inner_s=math.nan,
        cut=0,
        nested=0,
        lost=Lost(0, 0, ""),
        comms={},
        types={},
        regions=(),
        timelines=(),
        sites=(),
        cells=np.empty(0, FILE_CELL),
    )


def _remarks(report: ReportedProfile, ranks: Sequence[ReportedRank]) -> Iterator[str]:
    """Yields sentences about what the report leaves out."""
    yield from report.remarks
    if len(ranks) < len(report.ranks):
        yield f"The report lists the calls of {len(ranks)} of {many(len(report.ranks), 'rank')}."
        yield from _of_all_ranks(report.ranks)
    if any(time.rank == ALL_RANKS for site in report.sites for time in site.times):
        yield SUMS


def _of_all_ranks(ranks: Sequence[ReportedRank]) -> Iterator[str]:
    """Yields the share of MPI and the imbalance over all ranks, in words, if known."""
    run = np.array([rank.run_s for rank in ranks])
    mpi = np.array([rank.mpi_s for rank in ranks])
    if not (np.isfinite(run) & np.isfinite(mpi)).all() or not (run > mpi).all():
        return
    share, own = mpi / run, run - mpi
    least, most = int(share.argmin()), int(share.argmax())
    yield (
        f"Over all ranks MPI takes {percent(mpi.sum() / run.sum())} of the run time: least on rank "
        f"{ranks[least].rank} ({percent(share[least])}), most on rank {ranks[most].rank} "
        f"({percent(share[most])}); imbalance {percent(own.max() / own.mean() - 1)}, by rank "
        f"{ranks[int(own.argmax())].rank}."
    )


# --- call sites -----------------------------------------------------------------------------------
def _spots(
    sites: Sequence[ReportedSite],
) -> tuple[list[Spot], dict[ReturnAddress, tuple[Place, ...]]]:
    """Returns a distinct spot for each site, and the places of their frames."""
    spots: list[Spot] = []
    places: dict[ReturnAddress, tuple[Place, ...]] = {}
    for site in sites:
        stack = []
        for level, frame in enumerate(site.frames):
            address = frame.address or site.number * _LEVELS + level
            stack.append(ReturnAddress(None, address))
            if frame.function or frame.source_file:
                place = Place(frame.function, frame.source_file, frame.line, frame.address)
                places[stack[-1]] = (place,)
        spot = Spot(site.call, _group(site), "", tuple(stack))
        if site.number and (not stack or spot in spots):
            spot = replace(spot, region=f"site {site.number}")
        spots.append(spot)
    return spots, places


def _group(site: ReportedSite) -> str:
    if site.is_file:
        return "file"
    return "collective" if _is_collective(site) else ""


def _is_collective(site: ReportedSite) -> bool:
    return nature("MPI1", site.call.removeprefix("MPI_")).does == "collective"


def _rows(
    sites: Sequence[ReportedSite], ranks: Sequence[ReportedRank]
) -> Iterator[npt.NDArray[np.void]]:
    """Yields the rows of all sites; sums over ranks come last."""
    place = {rank.rank: at for at, rank in enumerate(ranks)}
    single, whole = [], []
    for number, site in enumerate(sites):
        for time in site.times:
            if time.rank == ALL_RANKS:
                whole.append((number, time))
            elif time.rank in place:
                single.append(_row(number, place[time.rank], time))
    rows = np.array(single, dtype=ROW)
    yield rows
    part = _open(rows, ranks)
    for number, time in whole:
        yield np.array(list(_shared_out(number, time, part)), dtype=ROW)


def _row(site: int, at: int, time: ReportedTime) -> tuple[float, ...]:
    least_s, most_s = time.least_s, time.most_s
    return site, at, time.calls or 0, time.seconds, 0, least_s, math.nan, math.nan, most_s


def _open(rows: npt.NDArray[np.void], ranks: Sequence[ReportedRank]) -> Times:
    """Returns the shares of ranks in the time in MPI that these rows do not account for."""
    left = _left(rows, ranks)
    if left.sum() > 0:
        return np.asarray(left / left.sum())
    return np.full(len(ranks), 1 / len(ranks))


def _left(rows: npt.NDArray[np.void], ranks: Sequence[ReportedRank]) -> Times:
    """Returns the seconds in MPI of each rank that these rows do not account for."""
    left = np.nan_to_num(np.array([rank.mpi_s for rank in ranks]))
    np.subtract.at(left, rows["rank"], rows["seconds"])
    return np.asarray(np.clip(left, 0, None))


def _shared_out(site: int, time: ReportedTime, part: Times) -> Iterator[tuple[float, ...]]:
    """Yields the rows of a sum over ranks, with its calls divided evenly."""
    calls = time.calls or 0
    for at, share in enumerate(part):
        own = calls // len(part) + (at < calls % len(part))
        yield _row(site, at, replace(time, calls=own, seconds=time.seconds * float(share)))


def _rest(
    rows: npt.NDArray[np.void], ranks: Sequence[ReportedRank], site: int
) -> npt.NDArray[np.void]:
    """Returns rows with the time in MPI of each rank that no other row accounts for."""
    rest = []
    for at, seconds in enumerate(_left(rows, ranks)):
        if seconds > 0:
            rest.append(_row(site, at, ReportedTime(at, 0, float(seconds))))
    return np.array(rest, dtype=ROW)


def _cells(
    sites: Sequence[ReportedSite], ranks: Sequence[ReportedRank]
) -> Iterator[tuple[int, ...]]:
    """Yields the cells of all sites. Sums over ranks are assigned to the first rank."""
    place = {rank.rank: at for at, rank in enumerate(ranks)}
    for number, site in enumerate(sites):
        collective = site.is_file or _is_collective(site)
        for each in site.messages:
            yield _cell(number, place.get(each.rank, 0), each, collective)


def _cell(number: int, at: int, of: ReportedMessages, collective: bool) -> tuple[int, ...]:
    way = Counted.RECEIVED if of.is_received else Counted.SENT
    peer = NOWHERE if collective or of.peer < 0 else of.peer
    size = OTHER_SIZES if of.is_mean else min(of.most.bit_length(), OTHER_SIZES - 1)
    return (
        *(number, at, 0, peer, peer, Counted.NONE if collective else way),
        *(size, 0, of.count, of.bytes, of.least, of.most, 0 if of.is_received else 1),
    )


def save_reported(jobs: Sequence[ProfiledJob], folder: Path) -> None:
    """Stores the jobs in a run folder."""
    for job in jobs:
        save(job, folder)


def header_of(jobs: Sequence[ProfiledJob]) -> dict[str, object]:
    """Returns the header of a run of reports, except the fields that name their origin."""
    return {"kind": KIND, "profile": {"program": jobs[0].program, "source": jobs[0].source}}
