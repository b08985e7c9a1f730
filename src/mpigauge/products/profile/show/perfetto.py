# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the timeline of a profile in Chrome's trace format, for Perfetto and chrome://tracing.

Each rank is a process. Its recorded calls are slices, each with a slice inside for the part in
which it waits; the share of MPI and the bytes sent in steps of time are counters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from mpigauge.model.errors import UserError
from mpigauge.products.profile.analyse.account import sent_between

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account

WAITING = "waiting for others"
_US = 1e6


def write_perfetto(account: Account, file: TextIO) -> None:
    """Writes one launch, an event a line. UserError: it has no timeline."""
    if not has_timeline(account):
        raise UserError(
            "this profile has no timeline: it is of an older mpigauge, or a report of another "
            "profiler; profile the program again"
        )
    file.write('{"displayTimeUnit": "ns", "otherData": ')
    file.write(json.dumps({"program": account.job.program, "launch": account.job.launch}))
    file.write(', "traceEvents": [')
    before = "\n"
    for event in _events(account):
        file.write(before + json.dumps(event, ensure_ascii=False, separators=(",", ":")))
        before = ",\n"
    file.write("\n]}\n")


def has_timeline(account: Account) -> bool:
    return len(account.profile.timeline.begins_s) > 0


def _events(account: Account) -> Iterator[dict[str, Any]]:
    for at, file in enumerate(account.ranks):
        names = {"name": f"rank {file.rank} on {file.host}"}
        yield {"ph": "M", "pid": at, "name": "process_name", "args": names}
        yield {"ph": "M", "pid": at, "name": "process_sort_index", "args": {"sort_index": at}}
    yield from _slices(account)
    yield from _counters(account)


def _slices(account: Account) -> Iterator[dict[str, Any]]:
    spots = account.profile.spots
    where = [account.where(spot) for spot in spots]
    for call in account.profile.timeline.calls:
        site, entered_us = int(call["site"]), float(call["entered_s"]) * _US
        spot = spots[site]
        common = {"ph": "X", "pid": int(call["rank"]), "tid": 0, "ts": round(entered_us, 3)}
        args = {"place": where[site], **({"region": spot.region} if spot.region else {})}
        took_us = round(float(call["took_s"]) * _US, 3)
        yield {**common, "dur": took_us, "name": spot.call, "cat": spot.group, "args": args}
        waiting_us = round(float(call["waiting_s"]) * _US, 3)
        if waiting_us > 0:
            yield {**common, "dur": waiting_us, "name": WAITING, "cat": "waiting"}


def _counters(account: Account) -> Iterator[dict[str, Any]]:
    begins_s = account.profile.timeline.begins_s
    for at, file in enumerate(account.ranks):
        if not file.timelines:
            continue
        line = max(file.timelines, key=lambda each: float(each.mpi_s.sum()))
        last = int(line.mpi_s.nonzero()[0].max(initial=-1)) + 1
        edges = np.asarray(line.start_s + line.step_s * np.arange(last + 1), np.float64)
        sent = sent_between(file, edges)
        for step, mpi_s in enumerate(line.mpi_s[:last]):
            at_s = float(begins_s[at]) + line.start_s + step * line.step_s
            share = min(float(mpi_s) / line.step_s, 1.0) if line.step_s > 0 else 0.0
            common = {"ph": "C", "pid": at, "ts": round(at_s * _US, 3)}
            yield {**common, "name": "MPI", "args": {"share of MPI": round(share, 4)}}
            if sent.any():
                per_s = round(float(sent[step]) / line.step_s)
                yield {**common, "name": "bytes sent", "args": {"bytes per second": per_s}}
