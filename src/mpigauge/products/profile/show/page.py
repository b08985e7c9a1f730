# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shows a profile as an HTML page: a summary, call sites, ranks, peers, sizes."""

from __future__ import annotations

import base64
import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.hostlist import compress
from mpigauge.model.units import duration, many, memory, percent
from mpigauge.model.width import cut_apart
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.bound import WhatBounds
from mpigauge.products.profile.analyse.efficiencies import (
    LABELS,
    NAMES,
    EfficienciesOverLaunches,
    over_launches,
)
from mpigauge.products.profile.analyse.entries import Called, Waited
from mpigauge.products.profile.analyse.jobs import accounts_of, main_jobs
from mpigauge.products.profile.analyse.over_launches import OverLaunches
from mpigauge.products.profile.show import overview, pictures
from mpigauge.products.profile.show.iterations import iterations
from mpigauge.products.profile.show.json import as_csv
from mpigauge.products.profile.show.sentences import LAST, error_words, ratio_words, sentences
from mpigauge.products.profile.show.text import missing_of_all, place_of, told_words
from mpigauge.products.profile.show.timeline import timeline, zoom_data
from mpigauge.result.facts import facts_of_run
from mpigauge.show.heading import heading
from mpigauge.show.topology.picture import picture as machine_picture
from mpigauge.show.web.page import filled
from mpigauge.show.web.quoted import QuotedNumber

if TYPE_CHECKING:
    from mpigauge.draw.plot import Picture
    from mpigauge.products.profile.beside.joined import Joined, JoinedSite
    from mpigauge.products.profile.store.stored import ProfiledJob
    from mpigauge.runs.store import Run

PICTURES: dict[str, Callable[[Account], Picture | None]] = {
    "ranks": pictures.ranks,
    "sites": overview.top_sites,
    "timeline": timeline,
    "arrivals": pictures.arrivals,
    "peers": pictures.peers,
    "peer_messages": partial(pictures.peers, measure="messages"),
    "peer_time": partial(pictures.peers, measure="time"),
    "sizes": pictures.sizes,
    "time": pictures.over_time,
    "iterations": iterations,
    "sent": pictures.sent_over_time,
    "memory": pictures.memory_over_time,
}
MOST_SITES = 1000
MOST_MACHINES = 2
LONGEST_NAME = 48
"""The maximum number of letters of a name in a table."""
WIDE_NAME = 24
"""The number of letters from which on a name may take several lines."""
FEW_CORES = 4
"""The maximum number of cores of a rank that is shown in the picture of the machine."""


class SortedCell(NamedTuple):
    """The text of a cell, and the value to sort by."""

    word: str
    value: float | str
    full: str = ""
    """The whole name, if the word is a part of it."""


@dataclass(frozen=True)
class SortedTable:
    """A table that the reader can sort and search."""

    id: str
    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[SortedCell]]
    left: str = ""
    """A sentence about rows left out."""


class BuiltMachine(NamedTuple):
    name: str
    svg: str


def profile_page(
    name: str,
    run: Run,
    jobs: Sequence[ProfiledJob],
    home: str = "",
    beside: Joined | None = None,
    word: str = LAST,
) -> str:
    """Returns the page. `home`: the page of all runs. `beside`: the join with its machine. `word`:
    the word that names the run in commands."""
    accounts = accounts_of(main_jobs(jobs))
    content = _content(run, accounts, beside, word) if accounts else _NOTHING
    facts = facts_of_run(run)
    return filled(
        "profile",
        home=home,
        name=_title(name, accounts),
        run=name,
        version=facts.version or "",
        facts=heading(facts),
        wide_name=WIDE_NAME,
        others=_other_jobs(len(jobs) - len(accounts)),
        command=_command_of(run),
        file=f"{name}.csv",
        **content,
    )


def _title(name: str, accounts: Sequence[Account]) -> str:
    """Returns the program and its machine; without MPI calls the name of the run."""
    if not accounts:
        return name
    hosts = list(dict.fromkeys(file.host for file in accounts[0].ranks if file.host))
    where = f" on {compress(hosts)}" if hosts else ""
    return f"Profile of {accounts[0].job.program}{where}"


_NOTHING: Mapping[str, Any] = {
    "answers": [],
    "sentences": [],
    "tables": [],
    "regions": None,
    "waiting": None,
    "tree": None,
    "drawn": dict.fromkeys(PICTURES),
    "zoom": "",
    "communicators": None,
    "machines": [],
    "download": "",
}
"""The contents of the page of a run without MPI calls."""


def _content(
    run: Run, accounts: Sequence[Account], beside: Joined | None, word: str
) -> dict[str, Any]:
    """Returns the contents of the page of a run with MPI calls."""
    first = accounts[0]
    lines, tables = list(missing_of_all(accounts)), list(_tables(accounts))
    lines += sentences(accounts, word, beside, seen="report")
    waiting = _waiting_table(first)
    if beside:
        tables += _joined(beside)
    return {
        "answers": list(_answers(accounts)),
        "sentences": lines,
        "tables": [with_short_names(table) for table in tables],
        "regions": _regions_table(accounts),
        "waiting": with_short_names(waiting) if waiting else None,
        "tree": overview.tree(accounts),
        "drawn": _drawn(first),
        "zoom": zoom_data(first),
        "communicators": _communicators(first),
        "machines": list(_machines(run, first)),
        "download": _download(first.job),
    }


def _other_jobs(count: int) -> str:
    if not count:
        return ""
    return f"{many(count, 'other job')} of MPI in this run: `mpigauge show` lists them."


def _command_of(run: Run) -> str:
    command = run.header.get("command") or ""
    if isinstance(command, str):
        return command
    return shlex.join(str(word) for word in command)


# --- the answer -----------------------------------------------------------------------------------
def _answers(accounts: Sequence[Account]) -> Iterator[QuotedNumber]:
    first = accounts[0]
    runs, shares = OverLaunches.of_run_s(accounts), OverLaunches.of_mpi_share(accounts)
    launches = many(len(accounts), "launch")
    yield QuotedNumber("Share of MPI", percent(shares.median), error_words(shares), launches)
    yield QuotedNumber(
        "Run time", duration(runs.median), error_words(runs), "MPI_Init to MPI_Finalize"
    )
    if len(first.ranks) > 1:
        how = "longest time outside MPI over the mean, less 1"
        yield QuotedNumber("Imbalance", percent(first.imbalance), "", how)
    if math.isfinite(first.cost_s):
        each = f"{duration(first.cost_s)} a call"
        yield QuotedNumber("Cost of the profiler", percent(first.cost_share), "", each)


def _drawn(account: Account) -> dict[str, Picture | None]:
    return {name: draw(account) for name, draw in PICTURES.items()}


def _machines(run: Run, account: Account) -> Iterator[BuiltMachine]:
    """Yields pictures of the machine, with the ranks that stayed on few cores."""
    from mpigauge.result.run_view import RunView

    topologies = RunView.of(run, []).topologies
    for host in list(topologies)[:MOST_MACHINES]:
        names = _ranks_on_cores(account, host)
        yield BuiltMachine(host, machine_picture(topologies[host], names))


def _ranks_on_cores(account: Account, host: str) -> dict[int, str]:
    """Returns the labels of the cores of a host."""
    on: dict[int, list[str]] = {}
    for file in account.ranks:
        if file.host != host or len(file.cpus) > FEW_CORES:
            continue
        for cpu in file.cpus:
            on.setdefault(cpu, []).append(str(file.rank))
    return {cpu: f"rank {', '.join(ranks)}" for cpu, ranks in on.items()}


# --- call sites -----------------------------------------------------------------------------------
_HEADS = (
    *("#", "call", "place", "calls", "time", "±", "% MPI", "median", "longest", "99 %", "uneven"),
    *("bytes", "failed", "stack"),
)
_ERROR = _HEADS.index("±")


def _tables(accounts: Sequence[Account]) -> Iterator[SortedTable]:
    first = accounts[0]
    sites = first.sites[:MOST_SITES]
    times = OverLaunches.of_sites(accounts)
    heads = list(_HEADS)
    rows = [list(_row(first, each, times[each.spot])) for each in sites]
    if len(accounts) < 2:
        del heads[_ERROR]
        for row in rows:
            del row[_ERROR]
    left = _left_out(len(first.sites) - len(sites))
    yield SortedTable("call-sites", "Call sites", heads, rows, left)
    for what, fold in (("function", _function), ("file", _file), ("call", _call)):
        groups: dict[str, list[Called]] = {}
        for each in first.inside:
            groups.setdefault(fold(first, each) or "unknown", []).append(each)
        if len(groups) < len(first.inside):
            yield _folded(first, what, groups)


def with_short_names(table: SortedTable) -> SortedTable:
    """Returns the table with the middle of long names left out, so that all columns are in view;
    names that differ remain distinct."""
    columns = []
    for cells in zip(*table.rows, strict=True):
        short = cut_apart([cell.word for cell in cells], LONGEST_NAME)
        columns.append([_cut(cell, word) for cell, word in zip(cells, short, strict=True)])
    return replace(table, rows=list(zip(*columns, strict=True)))


def _cut(cell: SortedCell, word: str) -> SortedCell:
    return cell if word == cell.word else cell._replace(word=word, full=cell.word)


def _left_out(count: int) -> str:
    if not count:
        return ""
    return f"{many(count, 'call site')} that take less are left out."


def _regions_table(accounts: Sequence[Account]) -> SortedTable | None:
    """Returns a table of POP's efficiencies by region; None: there is no region, or one rank, or
    cores were lost."""
    regions = over_launches(accounts)[1:]
    if not regions or len(accounts[0].ranks) < 2 or WhatBounds(accounts[0]).is_starved:
        return None
    heads = ("region", "entered", "an entry", *(LABELS[name] for name in NAMES))
    rows = [list(_region_row(each)) for each in regions]
    return with_short_names(SortedTable("regions-of-run", "Efficiencies by region", heads, rows))


def _region_row(of: EfficienciesOverLaunches) -> Iterator[SortedCell]:
    yield _text(of.first.region)
    yield _count(of.first.entered)
    yield _time(of.first.run_s / max(of.first.entered, 1))
    for name in NAMES:
        ratio = of.interval(name)
        yield SortedCell(ratio_words(ratio), ratio.value if math.isfinite(ratio.value) else "")


def _waiting_table(account: Account) -> SortedTable | None:
    """Returns a table of waiting and moving of all ranks by call site; None: nothing was split."""
    if not account.waited:
        return None
    rows = [list(_waited_row(account, each)) for each in account.waited[:MOST_SITES]]
    return SortedTable("waiting-by-site", "Waiting apart from moving", _WAITING_HEADS, rows)


_WAITING_HEADS = (
    *("call", "place", "waiting", "from", "to", "operation", "disturbance", "longest by rank"),
    "who comes last",
)


def _waited_row(account: Account, of: Waited) -> Iterator[SortedCell]:
    yield _text(of.called.spot.call)
    yield _text(place_of(of.called))
    interval = of.waiting
    waiting = [_time(seconds) for seconds in (interval.value, interval.low, interval.high)]
    if not of.is_told:
        waiting = _without_words(waiting)
    yield from waiting
    yield _time(of.moving_s)
    yield _time(of.disturbed_s)
    yield from _longest_and_last(account, of)


def _longest_and_last(account: Account, of: Waited) -> list[SortedCell]:
    """Returns the rank that waits longest, and the rank that arrives last."""
    rank = account.ranks[of.rank].rank or 0
    if not of.is_told:
        return [SortedCell("", rank), SortedCell("", 0.0)]
    last = account.last_to_come(of.called)
    if last is None:
        return [_count(rank), SortedCell("", 0.0)]
    return [_count(rank), SortedCell(last.words, last.share)]


def _without_words(cells: Sequence[SortedCell]) -> list[SortedCell]:
    """Returns cells without text, for times that are too short or too uncertain to show."""
    return [SortedCell("", each.value) for each in cells]


def _communicators(account: Account) -> SortedTable | None:
    """Returns a table of communicators. None: no call went through one."""
    every = account.communicators
    if not every:
        return None
    rows = []
    for each in every[:MOST_SITES]:
        rows.append([
            _text(each.name),
            _count(each.size),
            _text(each.maker),
            _count(each.calls),
            _bytes(each.bytes),
            _time(each.seconds),
        ])  # fmt: skip
    heads = ("communicator", "ranks", "made by", "calls and messages", "bytes", "time")
    return SortedTable("communicators", "Communicators", heads, rows)


def _joined(beside: Joined) -> Iterator[SortedTable]:
    """Yields a table of call sites next to the machine's times for the same calls."""
    rows = [_joined_row(each) for each in beside.sites[:MOST_SITES]]
    heads = ("#", "call", "place", "waiting", "moving, as the machine can do it", "above that")
    if rows:
        yield SortedTable("joined", "Beside this machine", heads, rows)


def _joined_row(site: JoinedSite) -> list[SortedCell]:
    called = site.called
    row = [_count(called.number), _text(called.spot.call), _text(place_of(called))]
    for interval in (site.waiting, site.machine, site.above):
        row.append(
            SortedCell(told_words(interval), interval.value) if interval else SortedCell("", 0.0)
        )
    return row


def _row(account: Account, of: Called, times: OverLaunches) -> Iterator[SortedCell]:
    """Yields the cells of a call site. `times`: its time in each launch."""
    yield _count(of.number)
    yield _text(of.spot.call)
    yield _text(place_of(of))
    yield _count(of.calls)
    yield _time(times.median)
    yield SortedCell(error_words(times), times.estimate.relative_error)
    yield SortedCell("", 0.0) if of.outside else _share(account, [of])
    for seconds in (of.median_s, of.most_s, of.late_s):
        yield _time(seconds)
    yield SortedCell(percent(of.uneven), of.uneven)
    yield _bytes(of.sent)
    yield _count(of.failures) if of.failures else SortedCell("", 0)
    yield _text(" ← ".join(account.stack(of.spot)))  # from inside out


def _folded(account: Account, what: str, groups: dict[str, list[Called]]) -> SortedTable:
    rows = []
    for name, sites in groups.items():
        rows.append([
            _text(name),
            _count(len(sites)),
            _count(sum(each.calls for each in sites)),
            _time(sum(each.mean_s for each in sites)),
            _share(account, sites),
            _bytes(sum(each.sent for each in sites)),
        ])  # fmt: skip
    rows.sort(key=lambda row: -float(row[3].value))
    heads = (what, "call sites", "calls", "time", "% MPI", "bytes")
    return SortedTable(f"by-{what}", f"Call sites by {what}", heads, rows)


# --- cells ----------------------------------------------------------------------------------------
def _text(word: str) -> SortedCell:
    return SortedCell(word, word)


def _count(number: int) -> SortedCell:
    return SortedCell(str(number), number)


def _time(seconds: float) -> SortedCell:
    return SortedCell(duration(seconds), seconds)


def _bytes(number: int) -> SortedCell:
    """Returns a cell with bytes; empty for 0."""
    if not number:
        return SortedCell("", 0)
    return SortedCell(memory(number), number)


def _share(account: Account, sites: Sequence[Called]) -> SortedCell:
    """Returns a cell with the share of call sites in the time in MPI."""
    whole = float(account.mpi_s.sum())
    if not whole > 0:
        return SortedCell(percent(0.0), 0.0)
    share = float(sum(each.total_s for each in sites)) / whole
    return SortedCell(percent(share), share)


# --- what call sites are folded by ----------------------------------------------------------------
def _function(account: Account, of: Called) -> str:
    return next(iter(account.functions(of.spot)), "")


def _file(account: Account, of: Called) -> str:
    for frame in of.spot.frames_of_program:
        places = account.job.places.get(frame, ())
        if places and places[0].file:
            return PurePath(places[0].file).name
        if frame.module:
            return PurePath(frame.module.path).name
        return ""
    return ""


def _call(account: Account, of: Called) -> str:
    del account
    return of.spot.call


def _download(job: ProfiledJob) -> str:
    """Returns all call sites by rank as CSV in a data URL, in seconds and bytes."""
    data = base64.b64encode(as_csv([job]).encode(errors="backslashreplace")).decode()
    return f"data:text/csv;charset=utf-8;base64,{data}"
