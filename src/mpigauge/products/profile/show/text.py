# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints a profile: a summary in words, then call sites, sizes, peers and ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.hostlist import compress
from mpigauge.model.units import (
    byte_count,
    duration,
    many,
    memory,
    percent,
    plus_minus,
)
from mpigauge.model.width import WIDTH, one_line, wrap
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.apart import apart_sentence
from mpigauge.products.profile.analyse.bound import WhatBounds
from mpigauge.products.profile.analyse.efficiencies import (
    NAMES,
    EfficienciesOverLaunches,
)
from mpigauge.products.profile.analyse.efficiencies import (
    over_launches as efficiencies_over_launches,
)
from mpigauge.products.profile.analyse.entries import Called, Sizes, TimeWithInterval
from mpigauge.products.profile.analyse.jobs import accounts_of, main_jobs
from mpigauge.products.profile.analyse.over_launches import OverLaunches
from mpigauge.products.profile.match.threads import threads_in_mpi
from mpigauge.products.profile.read.layout import OTHER_SIZES, Counted
from mpigauge.products.profile.show.iterations import HEADS, iteration_lines
from mpigauge.products.profile.show.sentences import (
    LAST,
    MOST,
    error_words,
    over_launches,
    ratio_words,
    sentences,
)
from mpigauge.products.profile.show.standings import standing_lines
from mpigauge.products.profile.show.tables import table_lines, without_unknown
from mpigauge.products.profile.store.stored import ProfiledJob

if TYPE_CHECKING:
    from mpigauge.products.profile.beside.joined import Joined
    from mpigauge.products.profile.read.rank_file import Ended, Lost

MOST_SITES, MOST_SIZES, MOST_PAIRS, MOST_RANKS, MOST_OTHER_JOBS = 20, 20, 10, 16, 10
JOINED = ("table", "json")
"""The formats that include measurements of the machine."""
LEAST_JOINED = 0.01
"""The least share of the time in MPI of a call site with a row."""
MOST_OTHERS, LEAST_OTHER = 2, 0.05
"""The maximum number of further call sites in words, and their least share of the time in MPI."""
MUCH_DISTURBED = 0.05
"""The least share of disturbance that is mentioned if waiting is not."""
_OF_LAUNCHES = (
    "Time is the median over launches, with its interval, or of fewer than six launches their "
    "range; all else is of the launch in the middle."
)
_WAYS = {Counted.NONE: "", Counted.SENT: "sent", Counted.RECEIVED: "received"}


def page(
    jobs: Sequence[ProfiledJob], width: int = WIDTH, beside: Joined | None = None, run: str = LAST
) -> list[str]:
    """Returns the lines of a run; single-launch numbers are of the median share of MPI. `run`: the
    word that names it in commands."""
    shown = main_jobs(jobs)
    accounts = accounts_of(shown)
    if not accounts:
        return ["nothing was profiled: no process came out of MPI_Init"]
    first = accounts[0]
    missing = list(missing_of_all(accounts))
    lines = [*_head(accounts, width)]
    for sentence in missing:
        lines += wrap(sentence, width)
    lines += ["", *_unfinished(accounts, width)]
    lines += _answer(sentences(accounts, run, beside, MOST - len(missing)), width)
    tables = [_sites(accounts, width)]
    if beside and not WhatBounds(first).is_starved:
        tables.append(joined_lines(beside, width))
    tables += [_efficiencies(accounts, width), _sizes(first, width), _pairs(first)]
    tables += [iteration_lines(first, width), _ranks(first, width)]
    tables.append(_others(jobs, shown, width))
    for table in tables:
        block = list(table)
        if block:
            lines += ["", *block]
    return lines


def lines_of(
    jobs: Sequence[ProfiledJob],
    form: str,
    width: int = WIDTH,
    beside: Joined | None = None,
    run: str = LAST,
) -> list[str]:
    """Returns the lines of a run in a format: table, json, csv, mpip, perfcatch, talp. The last
    three only have one launch. `beside`: the join with its machine, for formats in JOINED. `run`:
    the word that names the run in commands."""
    from mpigauge.products.profile.show.json import as_csv, as_json
    from mpigauge.products.profile.show.mpip import mpip
    from mpigauge.products.profile.show.perfcatch import perfcatch
    from mpigauge.products.profile.show.talp import talp

    if form == "table":
        return [one_line(line) for line in page(jobs, width, beside, run)]
    if form in ("json", "csv"):
        text = as_json(jobs, beside) if form == "json" else as_csv(jobs)
        return text.removesuffix("\n").split("\n")
    shown = main_jobs(jobs)
    if not shown:
        return []
    if form == "talp":
        return talp(accounts_of(shown)[0]).removesuffix("\n").split("\n")
    write = mpip if form == "mpip" else perfcatch
    return [one_line(line) for line in write(Account(shown[0], all_threads=True))]


# --- in words -------------------------------------------------------------------------------------
def _head(accounts: Sequence[Account], width: int) -> Iterator[str]:
    first = accounts[0]
    hosts = list(dict.fromkeys(file.host for file in first.ranks if file.host))
    where = f" on {compress(hosts)}" if hosts else ""
    parts = [
        f"{first.job.program}: {_seen(first)}{where}",
        f"reported by {first.job.source}" if first.job.source else first.mpi,
        over_launches(OverLaunches.of_run_s(accounts), duration),
    ]
    if len(accounts) > 1:
        parts.append(many(len(accounts), "launch"))
    yield from wrap(", ".join(filter(None, parts)), width)


def _seen(account: Account) -> str:
    """The ranks, and in the first place what the profile could not see of them."""
    ranks, expected = len(account.job.ranks), account.job.expected
    seen = many(ranks, "rank")
    if ranks < expected and not account.job.source:
        seen = f"incomplete, {ranks} of {many(expected, 'rank')}"
    elif any(file.lost.calls or file.lost.cells for file in account.ranks):
        seen = f"incomplete, {seen}"
    return seen


def _answer(summary: Sequence[str], width: int) -> Iterator[str]:
    """Yields the summary; its last line is a command, which stays whole."""
    for sentence in summary[:-1]:
        yield from wrap(sentence, width, break_on_hyphens=False)
    yield summary[-1]


def missing_of_all(accounts: Sequence[Account]) -> Iterator[str]:
    """Yields sentences about what is missing in the numbers of each launch."""
    for each in sorted(accounts, key=lambda account: account.job.launch):
        which = f"Launch {each.job.launch + 1}: " if len(accounts) > 1 else ""
        for sentence in _missing(each):
            yield which + sentence


def _unfinished(accounts: Sequence[Account], width: int) -> Iterator[str]:
    """Yields where ranks stood in launches that did not end in order."""
    for each in sorted(accounts, key=lambda account: account.job.launch):
        which = f" in launch {each.job.launch + 1}" if len(accounts) > 1 else ""
        block = list(standing_lines(each, f"The last call of each rank{which}:", width))
        if block:
            yield from [*block, ""]


def _missing(account: Account) -> Iterator[str]:
    """Yields sentences about what is missing in the numbers."""
    if account.job.is_apart:
        yield apart_sentence(account.job)
    yield from account.job.remarks
    if len(account.ranks) < account.job.expected and not account.job.source:
        yield f"Only {len(account.ranks)} of {account.job.expected} ranks were seen."
    if killed := _ranks_that(account, "killed"):
        yield f"{killed} did not end in order: the numbers are those of until then."
    if exited := _ranks_that(account, "exited"):
        yield f"{exited} ended without MPI_Finalize: the run time lasts until then."
    if several := [threads_in_mpi(file) for file in account.ranks if threads_in_mpi(file) > 1]:
        yield (
            f"Up to {max(several)} threads of a rank call MPI: its time in MPI is that of its "
            "busiest thread, and call sites have their share of it."
        )
    for file in account.ranks:
        if file.lost.calls or file.lost.cells:
            yield f"Rank {file.rank}: {_lost(file.lost)}."


def _lost(lost: Lost) -> str:
    count = many(lost.cells, "size of messages")
    if lost.calls:
        count = many(lost.calls, "call")
    why = "its disk was full" if lost.reason == "disk" else "there were too many"
    return f"{count} could not be kept, since {why}"


def _ranks_that(account: Account, ended: Ended) -> str:
    """Returns the ranks that ended so, as the beginning of a sentence; empty: none."""
    ranks = []
    for file in account.ranks:
        if file.ended == ended and file.rank is not None:
            ranks.append(file.rank)
    if not ranks:
        return ""
    if len(ranks) == 1:
        return f"Rank {ranks[0]}"
    return f"Ranks {as_list(ranks)}"


# --- tables ---------------------------------------------------------------------------------------
def _sites(accounts: Sequence[Account], width: int) -> Iterator[str]:
    """Yields the table of call sites; times are medians over launches."""
    first = accounts[0]
    several = len(accounts) > 1
    sites = first.sites[:MOST_SITES]
    if not sites:
        return
    heads = list(_SITE_HEADS)
    over = OverLaunches.of_sites(accounts)
    rows = [_site_row(first, each, over[each.spot]) for each in sites]
    legend = f"Calls are of all ranks, time is the mean of ranks, {_LEGENDS[_typical(sites)]}."
    heads[_SITE_TYPICAL] = _typical(sites)
    if several:
        legend += f" {_OF_LAUNCHES}"
    else:
        for row in (heads, *rows):
            del row[_SITE_ERROR]
    yield from table_lines(*without_unknown(heads, rows, ("longest",)), width, 2, (1, 2))
    if len(first.sites) > len(sites):
        yield f"and {many(len(first.sites) - len(sites), 'more call site')}"
    yield from wrap(legend, width)


_SITE_HEADS = ("#", "call", "place", "calls", "time", "±", "% MPI", "median", "longest")
_SITE_ERROR, _SITE_TYPICAL = _SITE_HEADS.index("±"), _SITE_HEADS.index("median")
_LEGENDS = {"median": "the median that of the middle one", "mean": "the mean that of all calls"}


def _typical(sites: Sequence[Called]) -> str:
    """Returns which average of call times is known; other profilers' reports have the mean."""
    return "median" if any(math.isfinite(each.median_s) for each in sites) else "mean"


def _duration_or_empty(seconds: float) -> str:
    """Returns a time in words; empty if it is unknown."""
    return duration(seconds) if math.isfinite(seconds) else ""


def _resolved(account: Account, seconds: float) -> str:
    """Returns the time of a call; below the cost of the clock it is not resolved."""
    if 0 <= seconds < account.clock_s:
        return f"<{duration(account.clock_s)}"
    return _duration_or_empty(seconds)


def _site_row(account: Account, called: Called, times: OverLaunches) -> list[str]:
    """Returns the row of a call site. `times`: its time in each launch."""
    whole = account.mpi_s.sum()
    share = ""
    if whole and not called.outside:
        share = percent(called.total_s / whole)
    return [
        str(called.number),
        called.spot.call.removeprefix("MPI_"),
        place_of(called),
        str(called.calls) if called.calls or called.failures else "",
        duration(times.median),
        error_words(times),
        share,
        _resolved(account, _typical_s(called)),
        _resolved(account, called.most_s),
    ]


def _typical_s(called: Called) -> float:
    """Returns the median time of a call, or the mean if only that is known."""
    return called.median_s if math.isfinite(called.median_s) else called.mean_call_s


def joined_lines(beside: Joined, width: int = WIDTH) -> Iterator[str]:
    """Yields a table of call sites next to the machine's times for the same calls."""
    whole = sum(each.called.mean_s for each in beside.sites)
    rows = []
    for each in beside.sites:
        called = each.called
        if called.mean_s >= LEAST_JOINED * whole:
            row = [str(called.number), called.spot.call.removeprefix("MPI_"), place_of(called)]
            row += [told_words(each.waiting), told_words(each.machine), told_words(each.above)]
            rows.append(row)
    if not rows:
        return
    heads = ["#", "call", "place", "waiting", "machine's own", "above that"]
    yield from table_lines(heads, rows[:MOST_SITES], width, 2, (1, 2))
    legend = (
        "Of a rank in the mean: waiting for others; moving, as this machine can do it (measured: "
        "`mpigauge profile --measure`); moving above that, with waiting where that is not known."
    )
    yield from wrap(legend, width)


def told_words(time: TimeWithInterval | None) -> str:
    """Returns a time with its interval in words; empty if it is unknown."""
    if time is None:
        return ""
    if time.value <= 0:
        return "0 s"
    if not time.is_sure:
        return f"{duration(max(time.low, 0.0))}…{duration(time.high)}"
    error = max(time.high - time.value, time.value - time.low)
    return f"{duration(time.value)} {plus_minus(error / time.value)}"


def place_of(called: Called) -> str:
    """Returns the place and the region of a call site."""
    words = [called.where]
    if called.spot.region:
        words.append(f"[{called.spot.region}]")
    return " ".join(filter(None, words))


def _sizes(account: Account, width: int) -> Iterator[str]:
    every = [each for each in account.sizes if each.most]
    sizes = every[:MOST_SIZES]
    if not sizes:
        return
    rows = [
        [
            each.call.removeprefix("MPI_"),
            _WAYS[each.way],
            between(each),
            str(each.count),
            memory(each.bytes),
            memory(each.mean),
        ]
        for each in sizes
    ]
    heads = ["call", "", "size", "messages", "together", "mean"]
    yield from table_lines(heads, rows, width, 0, (0, 1))
    if len(every) > len(sizes):
        yield f"and {many(len(every) - len(sizes), 'more size')}"
    yield from _files(account)


def _files(account: Account) -> Iterator[str]:
    """Yields the bytes of files."""
    written, read = account.file_bytes
    if written or read:
        yield f"MPI-IO writes {memory(written)} and reads {memory(read)}."


def between(sizes: Sizes) -> str:
    """Returns the size of messages in words: 8 B, 9 B to 12 B, or about the mean."""
    if sizes.bin == OTHER_SIZES:
        return f"about {memory(sizes.mean)}"
    if sizes.least == sizes.most:
        return byte_count(sizes.least)
    return f"{byte_count(sizes.least)} to {byte_count(sizes.most)}"


def _pairs(account: Account) -> Iterator[str]:
    pairs = account.pairs[:MOST_PAIRS]
    if not pairs:
        return
    rows = [[str(p.source), str(p.target), str(p.messages), memory(p.bytes)] for p in pairs]
    yield from table_lines(["from rank", "to rank", "messages", "bytes"], rows, left=())
    if len(account.pairs) > len(pairs):
        yield f"and {many(len(account.pairs) - len(pairs), 'more pair')}"


def _efficiencies(accounts: Sequence[Account], width: int) -> Iterator[str]:
    """Yields POP's efficiencies of the program and of its regions; none if cores were lost."""
    bounds = WhatBounds(accounts[0])
    if bounds.is_starved and accounts[0].regions:
        yield from _regions(accounts[0], width)
    if bounds.is_starved or len(accounts[0].ranks) < 2:
        return
    every = efficiencies_over_launches(accounts)
    rows = [_efficiency_row(each) for each in every if each.first.run_s > 0]
    if not rows:
        return
    heads = ["region", "entered", "an entry", *HEADS]
    yield from table_lines(heads, rows, width)
    legend = (
        "POP's efficiencies: parallel = balance × comm. (communication), comm. = serial. "
        "(serialisation) × transfer. The last two are estimates from waiting and moving"
    )
    left_out = every[0].first.left_out
    if not every[0].first.is_split:
        legend += f", and unknown here: calls that cannot be split take {percent(left_out)} of MPI"
    yield from wrap(f"{legend}.", width)


def _efficiency_row(of: EfficienciesOverLaunches) -> list[str]:
    first = of.first
    words = [
        first.region or "whole program",
        str(first.entered) if first.region else "",
        duration(first.run_s / max(first.entered, 1)),
    ]
    return [*words, *(ratio_words(of.interval(name)) for name in NAMES)]


def _regions(account: Account, width: int) -> Iterator[str]:
    rows = []
    for each in account.regions:
        share = percent(each.mpi_s / each.seconds) if each.seconds > 0 else ""
        rows.append([each.region, str(each.entered), duration(each.seconds), share])
    heads = ["region", "entered", "time", "in MPI"]
    yield from table_lines(heads, rows, width)


def _others(jobs: Sequence[ProfiledJob], shown: Sequence[ProfiledJob], width: int) -> Iterator[str]:
    """Yields a line for each other job of the same launches."""
    shown_keys = {(job.launch, job.number) for job in shown}
    others = [job for job in jobs if job.ranks and (job.launch, job.number) not in shown_keys]
    if others:
        yield "Other jobs of the same run (`--job` shows one):"
    for job in others[:MOST_OTHER_JOBS]:
        of = Account(job)
        words = [
            f"job {job.number}, {job.program}: {many(len(job.ranks), 'rank')}",
            f"run time {duration(float(of.run_s.mean()))}",
            f"MPI {percent(of.mean_share)}",
        ]
        if len(shown) > 1:
            words.append(f"launch {job.launch + 1}")
        yield from wrap("- " + ", ".join(words), width, subsequent_indent="  ")
    if len(others) > MOST_OTHER_JOBS:
        yield f"and {many(len(others) - MOST_OTHER_JOBS, 'more job')}"


_RANK_HEADS = ("rank", "host", "cores", "run", "% MPI", "user", "system", "peak", "switched")


def _ranks(account: Account, width: int) -> Iterator[str]:
    ranks = list(enumerate(account.ranks))[:MOST_RANKS]
    rows = []
    for at, file in ranks:
        usage = file.usage
        rows.append([
            str(file.rank) if file.rank is not None else f"({file.pid})",
            file.host,
            as_list(file.cpus),
            duration(file.run_s),
            percent(float(account.share[at])),
            _duration_or_empty(usage.user_s),
            _duration_or_empty(usage.system_s),
            memory(usage.peak_bytes) if usage.peak_bytes >= 0 else "",
            str(usage.involuntary_switches) if usage.involuntary_switches >= 0 else "",
        ])  # fmt: skip
    if not rows:
        return
    heads, rows = without_unknown(_RANK_HEADS, rows, _RANK_HEADS)
    left = [at for at, head in enumerate(heads) if head in ("host", "cores")]
    yield from table_lines(heads, rows, width, left[0] if left else 0, left)
    if len(account.ranks) > len(ranks):
        yield f"and {many(len(account.ranks) - len(ranks), 'more rank')}"
