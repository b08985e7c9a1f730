# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A profile as one page for any browser: the answer in words, call sites, ranks, peers, sizes."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.features.profile import pictures
from mpigauge.features.profile.account import Account, Called, Told, Waited
from mpigauge.features.profile.merge import frames_of_program
from mpigauge.features.profile.show import (
    accounts_of,
    error_words,
    main_jobs,
    place_of,
    saved_at_most,
    sentences,
    times_of,
    told_words,
)
from mpigauge.features.profile.show_json import as_csv
from mpigauge.model.units import duration, many, memory, percent
from mpigauge.result.facts import facts_of_run
from mpigauge.result.stats.figures import estimate
from mpigauge.show.formats.table import heading
from mpigauge.show.picture import picture as machine_picture
from mpigauge.show.web.answer import MOST_OPENING
from mpigauge.show.web.page import filled
from mpigauge.show.web.quoted import QuotedNumber

if TYPE_CHECKING:
    from mpigauge.draw.plot import Picture
    from mpigauge.features.profile.joined import Joined
    from mpigauge.features.profile.stored import Job
    from mpigauge.runs.store import Run

PICTURES: dict[str, Callable[[Account], Picture | None]] = {
    "ranks": pictures.ranks,
    "arrivals": pictures.arrivals,
    "peers": pictures.peers,
    "sizes": pictures.sizes,
    "time": pictures.over_time,
}
MOST_SITES = 1000
MOST_MACHINES = 2
FEW_CORES = 4
"""A rank that was on more than these stands at none of them in the picture of the machine."""


class Cell(NamedTuple):
    """A word of a table, and what the table is sorted by."""

    word: str
    value: float | str


@dataclass(frozen=True)
class SortedTable:
    """A table that a reader may sort and search."""

    id: str
    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left: str = ""
    """What is said of rows that are not on the page."""


class BuiltMachine(NamedTuple):
    name: str
    svg: str


def profile_page(
    name: str, run: Run, jobs: Sequence[Job], home: str = "", found: Joined | None = None
) -> str:
    """`home`: a page with all runs to go back to. `found`: beside its machine."""
    accounts = accounts_of(main_jobs(jobs))
    first = accounts[0] if accounts else None
    facts = facts_of_run(run)
    command = run.header.get("command") or ""
    drawn = dict(_drawn(first)) if first else dict.fromkeys(PICTURES)
    waiting = _waiting_table(first) if first and first.waited else None
    tables = [*_tables(accounts), *_joined(found)] if first else []
    said = [*sentences(accounts), *([saved_at_most(found)] if found else [])] if first else []
    machines = list(_machines(run, first)) if first else []
    others = len(jobs) - len(accounts)
    return filled(
        "profile",
        home=home,
        name=name,
        version=facts.version or "",
        facts=heading(facts),
        answers=list(_answers(accounts)) if first else [],
        sentences=said,
        most_opening=MOST_OPENING,
        others=f"{many(others, 'other job')} of MPI in this run: `mpigauge show`."
        if others
        else "",
        tables=tables,
        waiting=waiting,
        drawn=drawn,
        machines=machines,
        command=command if isinstance(command, str) else shlex.join(map(str, command)),
        download=_download(accounts[0].job) if first else "",
        file=f"{name}.csv",
    )


# --- the answer -----------------------------------------------------------------------------------
def _answers(accounts: Sequence[Account]) -> Iterator[QuotedNumber]:
    first = accounts[0]
    runs = [float(each.run_s.mean()) for each in accounts]
    shares = [each.mean_share for each in accounts]
    launches = many(len(accounts), "launch")
    yield QuotedNumber(
        "Share of MPI", percent(estimate(shares).value), error_words(shares), launches
    )
    yield QuotedNumber(
        "Run time", duration(estimate(runs).value), error_words(runs), "MPI_Init to MPI_Finalize"
    )
    if len(first.ranks) > 1:
        how = "longest time outside MPI over the mean, less 1"
        yield QuotedNumber("Imbalance", percent(first.imbalance), "", how)
    each = f"{duration(first.cost_s)} a call"
    yield QuotedNumber("Cost of the profiler", percent(first.cost_share), "", each)


def _drawn(account: Account) -> Iterator[tuple[str, Picture | None]]:
    yield from ((name, draw(account)) for name, draw in PICTURES.items())


def _machines(run: Run, account: Account) -> Iterator[BuiltMachine]:
    """How the machine is built, with the ranks that stayed on their cores."""
    from mpigauge.result.run_view import RunView

    for host, topology in list(RunView.of(run, []).topologies.items())[:MOST_MACHINES]:
        on: dict[int, list[str]] = {}
        for file in account.ranks:
            if file.host == host and len(file.cpus) <= FEW_CORES:
                for cpu in file.cpus:
                    on.setdefault(cpu, []).append(str(file.rank))
        names = {cpu: f"rank {', '.join(ranks)}" for cpu, ranks in on.items()}
        yield BuiltMachine(host, machine_picture(topology, names))


# --- call sites -----------------------------------------------------------------------------------
_HEADS = (
    *("#", "call", "place", "calls", "time", "±", "% MPI", "uneven", "median", "99 %", "longest"),
    *("bytes", "failed", "stack"),
)
_ERROR = _HEADS.index("±")


def _tables(accounts: Sequence[Account]) -> Iterator[SortedTable]:
    first = accounts[0]
    sites = first.sites[:MOST_SITES]
    left = len(first.sites) - len(sites)
    said = f"{many(left, 'call site')} that take less are left out." if left else ""
    times = times_of(accounts)
    heads = list(_HEADS)
    rows = [list(_row(first, each, times[each.spot])) for each in sites]
    if len(accounts) < 2:
        del heads[_ERROR]
        for row in rows:
            del row[_ERROR]
    yield SortedTable("call-sites", "Call sites", heads, rows, said)
    for what, fold in (("function", _function), ("file", _file), ("call", _call)):
        found: dict[str, list[Called]] = {}
        for each in first.inside:
            found.setdefault(fold(first, each) or "unknown", []).append(each)
        if len(found) < len(first.inside):
            yield _folded(first, what, found)


def _waiting_table(account: Account) -> SortedTable:
    """Waiting apart from moving, of all ranks together, by call site."""
    rows = [list(_waited_row(account, each)) for each in account.waited[:MOST_SITES]]
    return SortedTable("waiting-by-site", "Waiting apart from moving", _WAITING_HEADS, rows)


_WAITING_HEADS = (
    *("call", "place", "waiting", "from", "to", "operation", "disturbance", "longest by rank"),
    "who comes last",
)


def _waited_row(account: Account, of: Waited) -> Iterator[Cell]:
    yield Cell(of.called.spot.call, of.called.spot.call)
    yield Cell(place_of(of.called), place_of(of.called))
    yield from _waiting_cells(of)
    for seconds in (of.moving_s, of.disturbed_s):
        yield Cell(duration(seconds), seconds)
    rank = account.ranks[of.rank].rank or 0
    yield Cell(str(rank) if of.is_told else "", rank)
    last = account.last_to_come(of.called) if of.is_told else None
    yield Cell(last.words if last else "", last.share if last else 0.0)


def _waiting_cells(of: Waited) -> Iterator[Cell]:
    """A time that is no longer than the operation, or not known to within itself, is not told."""
    told: Told = of.waiting
    for seconds in (told.value, told.low, told.high):
        yield Cell(duration(seconds) if of.is_told else "", seconds)


def _joined(found: Joined | None) -> Iterator[SortedTable]:
    """Call sites beside what the machine does with their calls."""
    rows = [
        [
            Cell(str(each.called.number), each.called.number),
            Cell(each.called.spot.call, each.called.spot.call),
            Cell(place_of(each.called), place_of(each.called)),
            *(
                Cell(told_words(told), told.value if told else 0.0)
                for told in (each.waiting, each.machine, each.above)
            ),
        ]
        for each in (found.sites if found else ())
    ]
    heads = ("#", "call", "place", "waiting", "moving, as the machine can do it", "above that")
    if rows:
        yield SortedTable("joined", "Beside this machine", heads, rows[:MOST_SITES])


def _row(account: Account, of: Called, times: Sequence[float]) -> Iterator[Cell]:
    """`times`: of each launch."""
    time = estimate(times)
    whole = account.mpi_s.sum()
    share = of.total_s / whole if whole > 0 and not of.outside else 0.0
    yield Cell(str(of.number), of.number)
    yield Cell(of.spot.call, of.spot.call)
    yield Cell(place_of(of), place_of(of))
    yield Cell(str(of.calls), of.calls)
    yield Cell(duration(time.value), time.value)
    yield Cell(error_words(times), time.relative_error)
    yield Cell("" if of.outside else percent(share), share)
    yield Cell(percent(of.uneven), of.uneven)
    for seconds in (of.median_s, of.late_s, of.most_s):
        yield Cell(duration(seconds), seconds)
    yield Cell(memory(of.sent) if of.sent else "", of.sent)
    yield Cell(str(of.failures) if of.failures else "", of.failures)
    yield _stack(account, of)


def _stack(account: Account, of: Called) -> Cell:
    """From inside out."""
    words = " ← ".join(account.stack(of.spot))
    return Cell(words, words)


def _folded(account: Account, what: str, found: dict[str, list[Called]]) -> SortedTable:
    whole = account.mpi_s.sum()
    rows = []
    for name, sites in found.items():
        calls, sent = sum(each.calls for each in sites), sum(each.sent for each in sites)
        seconds = sum(each.mean_s for each in sites)
        share = sum(each.total_s for each in sites) / whole if whole > 0 else 0.0
        rows.append([
            Cell(name, name),
            Cell(str(len(sites)), len(sites)),
            Cell(str(calls), calls),
            Cell(duration(seconds), seconds),
            Cell(percent(share), share),
            Cell(memory(sent) if sent else "", sent),
        ])  # fmt: skip
    rows.sort(key=lambda row: -float(row[3].value))
    heads = (what, "call sites", "calls", "time", "% MPI", "bytes")
    return SortedTable(f"by-{what}", f"Call sites by {what}", heads, rows)


def _function(account: Account, of: Called) -> str:
    return next(iter(account.functions(of.spot)), "")


def _file(account: Account, of: Called) -> str:
    for frame in frames_of_program(of.spot):
        places = account.job.places.get(frame, ())
        if places and places[0].file:
            return PurePath(places[0].file).name
        return PurePath(frame.module.path).name if frame.module else ""
    return ""


def _call(account: Account, of: Called) -> str:
    del account
    return of.spot.call


def _download(job: Job) -> str:
    """All call sites by rank as CSV, in seconds and bytes, as an address."""
    data = base64.b64encode(as_csv([job]).encode(errors="backslashreplace")).decode()
    return f"data:text/csv;charset=utf-8;base64,{data}"
