# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A profile in the sections of mpiP's report, for scripts that read those.

Each call at each place is a call site. Times are the calls' own and shares of the time between
MPI_Init and MPI_Finalize.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from shlex import join
from typing import Any, NamedTuple

import numpy as np

import mpigauge
from mpigauge.features.profile.account import Account, Called
from mpigauge.features.profile.files import Frame
from mpigauge.features.profile.layout import Way
from mpigauge.site.mpi.programs.abi import family_of

RULE = "-" * 75
TOP = 20
_UTC = "%Y-%m-%dT%H:%M:%SZ"
_SHOWN = "%Y %m %d %H:%M:%S"
_IO = "file"
"""The group of calls that move data to files, which are no messages."""


class Sent(NamedTuple):
    """What was sent at a place, by one rank or by all."""

    called: Called
    rank: str
    messages: int
    most: int
    least: int
    bytes: int


def mpip(account: Account) -> list[str]:
    sites = account.inside
    return [
        *_head(account),
        *_title("MPI Time (seconds)"),
        *_times(account),
        *_title(f"Callsites: {len(sites)}"),
        *_sites(account, sites),
        *_title("Aggregate Time (top twenty, descending, milliseconds)"),
        *_aggregate(account, sites[:TOP]),
        *_title("Aggregate Sent Message Size (top twenty, descending, bytes)"),
        *_aggregate_sent(account, sites),
        *_title(f"Callsite Time statistics (all, milliseconds): {_entries(sites)}"),
        *_statistics(account, sites),
        *_title("Callsite Message Sent statistics (all, sent bytes)"),
        *_sent_statistics(account, sites),
        *_title("End of Report"),
    ]


def _title(text: str) -> list[str]:
    return [RULE, f"@--- {text} ".ljust(75, "-"), RULE]


def _head(account: Account) -> Iterator[str]:
    first = account.ranks[0]
    began = datetime.strptime(first.started, _UTC)
    ended = began + timedelta(seconds=float(account.run_s.max()))
    yield "@ mpiP"
    yield f"@ Command : {join(first.words)}"
    for name, value in {
        "Version": f"mpigauge {mpigauge.__version__}",
        "MPIP Build date": "[none]",
        "Start time": began.strftime(_SHOWN),
        "Stop time": ended.strftime(_SHOWN),
        "Timer Used": "time stamp counter",
        "MPIP env var": "[null]",
        "Collector Rank": "0",
        "Collector PID": str(first.pid),
        "Final Output Dir": ".",
        "Report generation": "after the end of the program",
    }.items():
        yield f"@ {name:<25}: {value}"
    for file in account.ranks:
        yield f"@ {'MPI Task Assignment':<25}: {file.rank} {file.host}"
    yield ""


def _times(account: Account) -> Iterator[str]:
    yield "Task    AppTime    MPITime     MPI%"
    for file, run, mpi, share in zip(
        account.ranks, account.run_s, account.mpi_s, account.share, strict=True
    ):
        yield f"{file.rank:>4} {_number(run)} {_number(mpi)} {_percent(share)}"
    whole = account.run_s.sum(), account.mpi_s.sum()
    yield f"   * {_number(whole[0])} {_number(whole[1])} {_percent(account.mean_share)}"


def _sites(account: Account, sites: Sequence[Called]) -> Iterator[str]:
    yield " ID Lev File/Address        Line Parent_Funct             MPI_Call"
    for site in sites:
        frames: list[Frame | None] = [f for f in site.spot.frames if not _is_mpi(f)]
        for level, frame in enumerate(frames or [None]):
            file, line, function = _place(account, frame)
            call = site.spot.call.removeprefix("MPI_") if level == 0 else ""
            text = f"{site.number:>3} {level:>3} {file:<18} {line:>5} {function:<24} {call}"
            yield text.rstrip()


def _is_mpi(frame: Frame) -> bool:
    return bool(frame.module and family_of(Path(frame.module.path).name))


def _place(account: Account, frame: Frame | None) -> tuple[str, str, str]:
    """File, line and function; an address where nothing is known."""
    places = account.job.places.get(frame, ()) if frame else ()
    if not places or not places[0].file:
        address = f"{frame.offset:#x}" if frame else "[unknown]"
        return address, "", places[0].function if places else "[unknown]"
    return Path(places[0].file).name, str(places[0].line), places[0].function


def _aggregate(account: Account, sites: Sequence[Called]) -> Iterator[str]:
    yield "Call                 Site       Time    App%    MPI%      Count     COV"
    for site in sites:
        mean = site.seconds[site.calls_of > 0]
        spread = mean.std(ddof=1) / mean.mean() if len(mean) > 1 and mean.mean() > 0 else 0.0
        yield (
            f"{_call(site):<20} {site.number:>4} {_number(site.total_s * 1e3)} "
            f"{_percent(site.total_s / account.run_s.sum())} "
            f"{_percent(_of(site.total_s, account.mpi_s.sum()))} {site.calls:>10} {spread:7.2f}"
        )


def _aggregate_sent(account: Account, sites: Sequence[Called]) -> Iterator[str]:
    yield "Call                 Site      Count      Total       Avrg  Sent%"
    found = [sent for site in sites for sent in _sent(account, site) if sent.rank == "*"]
    whole = sum(sent.bytes for sent in found)
    for sent in sorted(found, key=lambda each: -each.bytes)[:TOP]:
        mean = sent.bytes / sent.messages
        yield (
            f"{_call(sent.called):<20} {sent.called.number:>4} {sent.messages:>10} "
            f"{_number(sent.bytes)} {_number(mean)} {100 * _of(sent.bytes, whole):6.2f}"
        )


def _entries(sites: Sequence[Called]) -> int:
    return sum(int((site.calls_of > 0).sum()) + 1 for site in sites)


def _statistics(account: Account, sites: Sequence[Called]) -> Iterator[str]:
    yield "Name              Site Rank  Count      Max     Mean      Min   App%   MPI%"
    rows = account.profile.rows
    spots = {spot: number for number, spot in enumerate(account.profile.spots)}
    for site in sorted(sites, key=lambda each: (_call(each), each.number)):
        for row in rows[rows["site"] == spots[site.spot]]:
            rank = int(row["rank"])
            numbers = (float(row["most_s"]), float(row["seconds"]) / int(row["calls"]),
                       float(row["least_s"]))  # fmt: skip
            shares = (
                _of(float(row["seconds"]), account.run_s[rank]),
                _of(float(row["seconds"]), account.mpi_s[rank]),
            )
            yield _statistic(
                site, str(account.ranks[rank].rank), int(row["calls"]), numbers, shares
            )
        numbers = (site.most_s, site.total_s / site.calls, site.least_s)
        shares = (_of(site.total_s, account.run_s.sum()), _of(site.total_s, account.mpi_s.sum()))
        yield _statistic(site, "*", site.calls, numbers, shares)
        yield ""


def _statistic(
    site: Called, rank: str, calls: int, seconds: Sequence[float], shares: Sequence[float]
) -> str:
    times = " ".join(_number(each * 1e3, 8) for each in seconds)
    parts = " ".join(f"{100 * each:6.2f}" for each in shares)
    return f"{_call(site):<18} {site.number:>3} {rank:>4} {calls:>6} {times} {parts}"


def _sent_statistics(account: Account, sites: Sequence[Called]) -> Iterator[str]:
    yield "Name              Site Rank   Count       Max      Mean       Min       Sum"
    for site in sorted(sites, key=lambda each: (_call(each), each.number)):
        found = list(_sent(account, site))
        for sent in found:
            numbers = (sent.most, sent.bytes / sent.messages, sent.least, float(sent.bytes))
            text = " ".join(_number(each, 9) for each in numbers)
            yield f"{_call(site):<18} {site.number:>3} {sent.rank:>4} {sent.messages:>7} {text}"
        if found:
            yield ""


def _sent(account: Account, site: Called) -> Iterator[Sent]:
    """Of each rank that sent anything at a place, and of all together."""
    if site.spot.group == _IO:
        return
    cells = account.profile.cells
    number = account.profile.spots.index(site.spot)
    kept = cells[(cells["site"] == number) & (cells["amount"] > 0)]
    kept = kept[(kept["way"] == Way.SENT) | (kept["way"] == Way.NONE)]
    for rank in np.unique(kept["rank"]):
        yield _summed(site, str(account.ranks[rank].rank), kept[kept["rank"] == rank])
    if len(kept):
        yield _summed(site, "*", kept)


def _summed(site: Called, rank: str, cells: Any) -> Sent:
    numbers = int(cells["count"].sum()), int(cells["most"].max()), int(cells["least"].min())
    return Sent(site, rank, *numbers, int(cells["amount"].sum()))


def _call(site: Called) -> str:
    return site.spot.call.removeprefix("MPI_")


def _of(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _number(value: float, width: int = 10) -> str:
    """As mpiP writes it, with one digit more."""
    return f"{value:{width}.4g}" if math.isfinite(value) else f"{0:{width}}"


def _percent(ratio: float) -> str:
    return f"{100 * ratio:7.2f}" if math.isfinite(ratio) else f"{0:7.2f}"
