# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints a profile in the sections of mpiP's report, for scripts that parse it.

Each call at each place is a call site. Times are of the calls themselves, and shares are of the
time between MPI_Init and MPI_Finalize.
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
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.entries import Called
from mpigauge.products.profile.read.layout import Counted
from mpigauge.products.profile.read.rank_file import ReturnAddress

RULE = "-" * 75
TOP = 20
_UTC = "%Y-%m-%dT%H:%M:%SZ"
_SHOWN = "%Y %m %d %H:%M:%S"


class Sent(NamedTuple):
    """The messages sent at a call site, by one rank or by all."""

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
    for at, file in enumerate(account.ranks):
        run, mpi, share = account.run_s[at], account.mpi_s[at], account.share[at]
        yield f"{file.rank:>4} {_number(run)} {_number(mpi)} {_percent(share)}"
    run, mpi, share = account.run_s.sum(), account.mpi_s.sum(), account.mean_share
    yield f"   * {_number(run)} {_number(mpi)} {_percent(share)}"


def _sites(account: Account, sites: Sequence[Called]) -> Iterator[str]:
    yield " ID Lev File/Address        Line Parent_Funct             MPI_Call"
    for site in sites:
        call = _call(site)
        places = [_place(account, frame) for frame in site.spot.frames_of_program]
        for level, (file, line, function) in enumerate(places or [_NOWHERE]):
            text = f"{site.number:>3} {level:>3} {file:<18} {line:>5} {function:<24} {call}"
            yield text.rstrip()
            call = ""  # stands beside the innermost alone


_UNKNOWN = "[unknown]"
_NOWHERE = (_UNKNOWN, "", _UNKNOWN)


def _place(account: Account, frame: ReturnAddress) -> tuple[str, str, str]:
    """Returns file, line and function; an address if they are unknown."""
    places = account.job.places.get(frame, ())
    if not places:
        return f"{frame.offset:#x}", "", _UNKNOWN
    inner = places[0]
    if not inner.file:
        return f"{frame.offset:#x}", "", inner.function
    return Path(inner.file).name, str(inner.line), inner.function


def _aggregate(account: Account, sites: Sequence[Called]) -> Iterator[str]:
    yield "Call                 Site       Time    App%    MPI%      Count     COV"
    for site in sites:
        of_run = _percent(site.total_s / account.run_s.sum())
        of_mpi = _percent(_of(site.total_s, account.mpi_s.sum()))
        yield (
            f"{_call(site):<20} {site.number:>4} {_number(site.total_s * 1e3)} {of_run} {of_mpi} "
            f"{site.calls:>10} {_variation(site):7.2f}"
        )


def _variation(site: Called) -> float:
    """Returns the coefficient of variation of times over the ranks that call the site."""
    times = site.seconds[site.calls_of > 0]
    if len(times) < 2 or not times.mean() > 0:
        return 0.0
    return float(times.std(ddof=1) / times.mean())


def _aggregate_sent(account: Account, sites: Sequence[Called]) -> Iterator[str]:
    yield "Call                 Site      Count      Total       Avrg  Sent%"
    totals = []
    for site in sites:
        totals += [sent for sent in _sent(account, site) if sent.rank == "*"]
    whole = sum(sent.bytes for sent in totals)
    for sent in sorted(totals, key=lambda each: -each.bytes)[:TOP]:
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
            rank, calls, seconds = int(row["rank"]), int(row["calls"]), float(row["seconds"])
            numbers = (float(row["most_s"]), seconds / calls, float(row["least_s"]))
            shares = (_of(seconds, account.run_s[rank]), _of(seconds, account.mpi_s[rank]))
            yield _statistic(site, str(account.ranks[rank].rank), calls, numbers, shares)
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
        entries = list(_sent(account, site))
        for sent in entries:
            numbers = (sent.most, sent.bytes / sent.messages, sent.least, float(sent.bytes))
            text = " ".join(_number(each, 9) for each in numbers)
            yield f"{_call(site):<18} {site.number:>3} {sent.rank:>4} {sent.messages:>7} {text}"
        if entries:
            yield ""


def _sent(account: Account, site: Called) -> Iterator[Sent]:
    """Yields the messages of each rank that sent any at a call site, and of all together."""
    if site.spot.is_file:
        return
    cells = account.profile.cells
    number = account.profile.spots.index(site.spot)
    kept = cells[(cells["site"] == number) & (cells["amount"] > 0)]
    kept = kept[(kept["way"] == Counted.SENT) | (kept["way"] == Counted.NONE)]
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
    if whole > 0:
        return part / whole
    return 0.0


def _number(value: float, width: int = 10) -> str:
    """Formats a number as mpiP does, with one more digit."""
    if not math.isfinite(value):
        return f"{0:{width}}"
    return f"{value:{width}.4g}"


def _percent(ratio: float) -> str:
    if not math.isfinite(ratio):
        ratio = 0.0
    return f"{100 * ratio:7.2f}"
