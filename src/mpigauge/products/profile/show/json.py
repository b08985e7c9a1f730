# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Exports a profile in seconds and bytes: all of it as JSON, or call sites by rank as CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.model.fields import plain
from mpigauge.model.spreadsheet import csv_text
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.bound import WhatBounds
from mpigauge.products.profile.analyse.efficiencies import Efficiencies, over_launches
from mpigauge.products.profile.analyse.entries import Called, Pair, Sizes, TimeWithInterval, Waited
from mpigauge.products.profile.match.standing import Standing
from mpigauge.products.profile.read.rank_file import RankFile
from mpigauge.products.profile.show.iterations import iteration_rows
from mpigauge.products.profile.store.stored import ProfiledJob

if TYPE_CHECKING:
    from mpigauge.products.profile.beside.joined import Joined

SCHEMA = 1
_CSV = (
    *("launch", "job", "site", "call", "group", "region", "place", "rank"),
    *("calls", "seconds", "least_s", "median_s", "p99_s", "longest_s", "failures"),
)
_NUMBERS = ("calls", "seconds", "least_s", "p50_s", "p99_s", "most_s", "failures")


def as_json(jobs: Sequence[ProfiledJob], beside: Joined | None = None) -> str:
    """Returns all jobs of all launches, and the join with the machine if given. Unknown values are
    null."""
    data = {
        "schema": SCHEMA,
        "tool": "mpigauge",
        "jobs": [_job(Account(job)) for job in jobs if job.ranks],
        "beside_machine": _machine(beside) if beside else None,
    }
    return json.dumps(_plain(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(jobs: Sequence[ProfiledJob]) -> str:
    """Returns a line for each call site on each rank of each job."""
    return csv_text([_CSV, *_csv_rows(jobs)])


def _csv_rows(jobs: Sequence[ProfiledJob]) -> Iterator[list[Any]]:
    for job in jobs:
        account = Account(job)
        for at, rank in enumerate(account.ranks):
            for called, row in sorted(account.of_rank(at), key=lambda each: each[0].number):
                spot = called.spot
                names = (called.number, spot.call, spot.group, spot.region, called.where)
                numbers = (_or_empty(row[name].item()) for name in _NUMBERS)
                yield [job.launch, job.number, *names, rank.rank, *numbers]


def _or_empty(number: float) -> float | str:
    """Returns a number, or an empty string if it is unknown."""
    return "" if math.isnan(number) else number


def _job(account: Account) -> dict[str, Any]:
    job, first = account.job, account.ranks[0]
    return {
        "launch": job.launch,
        "job": job.number,
        "program": job.program,
        "source": job.source or None,
        "arguments": first.words,
        "mpi_library": first.library,
        "started": first.started,
        "world_ranks": job.expected,
        "ranks_see_each_other": not job.is_apart,
        **_bound(account),
        "share_of_mpi": account.mean_share,
        "imbalance": account.imbalance,
        "profiler_s_a_call": account.cost_s,
        "profiler_share": account.cost_share,
        "ranks": [
            _rank(file, float(run), float(mpi))
            for file, run, mpi in zip(account.ranks, account.run_s, account.mpi_s, strict=True)
        ],
        "deadlock": account.profile.deadlock or None,
        "last_calls": [_last_call(account, each) for each in account.profile.standings],
        "call_sites": [_site(account, each) for each in account.sites],
        "waiting": [_waited(each) for each in account.waited],
        "sizes": [_sizes(each) for each in account.sizes],
        "pairs": [_pair(each) for each in account.pairs],
        "regions": [asdict(each) for each in account.regions],
        "efficiencies": [_efficiencies(each.first) for each in over_launches([account])],
        "iterations": iteration_rows(account),
    }


def _last_call(account: Account, last: Standing) -> dict[str, Any]:
    """Returns the last call of a thread: the time since it began, or ended."""
    fields = asdict(last)
    del fields["site"]
    return {**fields, "place": account.where(account.profile.spots[last.site])}


def _bound(account: Account) -> dict[str, Any]:
    """Returns what bounds the program, and the shares of the run time of all ranks."""
    of = WhatBounds(account)
    return {
        "bound": of.bound,
        "limit": of.limit if of.bound == "MPI" else None,
        "computing_share": of.share(of.computing_s),
        "messages_share": of.share(of.messages_s),
        "io_share": of.share(of.io_s),
        "lost_core_share_by_rank": of.lost_shares if of.cpu_s is not None else None,
    }


def _efficiencies(of: Efficiencies) -> dict[str, Any]:
    """Returns POP's efficiencies of a region, or with an empty name of the whole program."""
    return {
        "region": of.region,
        "entered": of.entered,
        "run_s": of.run_s,
        "parallel_efficiency": of.parallel,
        "load_balance": of.load_balance,
        "communication_efficiency": of.communication,
        "serialisation": of.serialisation.value,
        "serialisation_low": of.serialisation.low,
        "serialisation_high": of.serialisation.high,
        "transfer": of.transfer.value,
        "transfer_low": of.transfer.low,
        "transfer_high": of.transfer.high,
        "not_split_share": of.left_out,
    }


def _rank(file: RankFile, run_s: float, mpi_s: float) -> dict[str, Any]:
    return {
        "rank": file.rank,
        "host": file.host,
        "pid": file.pid,
        "ended": file.ended,
        "run_s": run_s,
        "mpi_s": mpi_s,
        "cpus": list(file.cpus),
        **{name: value if value >= 0 else None for name, value in asdict(file.usage).items()},
        "lost_calls": file.lost.calls,
    }


def _site(account: Account, of: Called) -> dict[str, Any]:
    return {
        "site": of.number,
        "call": of.spot.call,
        "group": of.spot.group,
        "region": of.spot.region,
        "place": of.where,
        "stack": account.stack(of.spot),
        "calls": of.calls if of.calls or of.failures else None,
        "calls_by_rank": of.calls_of if of.calls or of.failures else None,
        "seconds_by_rank": of.seconds,
        "least_s": of.least_s,
        "median_s": of.median_s,
        "p99_s": of.late_s,
        "longest_s": of.most_s,
        "sent_bytes": of.sent,
        "failures": of.failures,
    }


def _waited(of: Waited) -> dict[str, Any]:
    """Returns the split of a call site over all ranks, with 95 % intervals."""
    return {
        "site": of.called.number,
        **_ends("waiting", of.waiting),
        **_ends("operation", of.moving),
        **_ends("disturbed", of.disturbed),
        "resolved": of.resolved,
    }


def _ends(name: str, time: TimeWithInterval | None) -> dict[str, float | None]:
    interval = time or TimeWithInterval(math.nan, math.nan, math.nan)
    return {
        f"{name}_s": interval.value,
        f"{name}_low_s": interval.low,
        f"{name}_high_s": interval.high,
    }


def _machine(beside: Joined) -> dict[str, Any]:
    """Returns the join of call sites with the machine in the mean of ranks, and the savings."""
    return {
        "call_sites": [
            {
                "site": each.called.number,
                **_ends("waiting", each.waiting),
                **_ends("machine", each.machine),
                **_ends("above", each.above),
                "measured_part": each.part,
            }
            for each in beside.sites
        ],
        "perfect_network_saves": beside.network,
        "perfect_balance_saves": beside.balance,
        "best_setting_saves": beside.setting,
    }


def _sizes(sizes: Sizes) -> dict[str, Any]:
    way = sizes.way.name.lower()
    return {
        "call": sizes.call,
        "way": "collective" if way == "none" else way,
        "messages": sizes.count,
        "bytes": sizes.bytes,
        "least_bytes": sizes.least,
        "most_bytes": sizes.most,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "from_rank": pair.source,
        "to_rank": pair.target,
        "messages": pair.messages,
        "bytes": pair.bytes,
    }


def _plain(data: Any) -> Any:
    """Converts arrays to lists and unknown values to null, recursively."""
    if isinstance(data, dict):
        return {name: _plain(value) for name, value in data.items()}
    if isinstance(data, np.ndarray):
        return _plain(data.tolist())
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    return plain(data.item() if isinstance(data, np.generic) else data)
