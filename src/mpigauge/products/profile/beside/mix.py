# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes the mix of calls of a profile, on which the program spends its time in MPI."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.measuring.plan.arrivals import MPI, name_of, vectors
from mpigauge.model.call_mix import CallMix, MixedCall, arrival_key
from mpigauge.model.suite_options import LEVELS
from mpigauge.products.profile.analyse.jobs import accounts_of, main_jobs
from mpigauge.products.profile.beside.needs import BYTES_OF_LATENCY, LEAST_SHARE, uses_of
from mpigauge.products.profile.read.layout import NULL_PROCESS, Counted
from mpigauge.site.mpi.query import name_and_version

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.beside.needs import Use
    from mpigauge.products.profile.store.stored import ProfiledJob

_OF_MESSAGES = ("send", "receive", "sendrecv", "probe", "partitioned", "wait", "test", "start")
"""The groups of calls in which a rank waits for point-to-point messages, or moves them."""
MOST_VECTORS = 128
"""The maximum number of calls of a collective in its arrival pattern."""
_BLOCKING_SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend")
"""The sends in one direction at a time, as in PingPong; all others are bidirectional."""


def mix_of(name: str, jobs: Sequence[ProfiledJob]) -> CallMix | None:
    """Returns the mix of calls in the launch with the median share of MPI; None: no rank was
    seen."""
    shown = main_jobs(jobs)
    if not shown:
        return None
    account = accounts_of(shown)[0]
    first, whole = account.ranks[0], float(account.mpi_s.sum())
    calls = [each for each in _calls(uses_of(account)) if each.seconds >= LEAST_SHARE * whole]
    return CallMix(
        profile=name,
        mpi=" ".join(name_and_version(first.library)),
        thread_level=LEVELS[first.thread_level] if 0 <= first.thread_level < len(LEVELS) else "",
        mpi_s=whole,
        run_s=float(account.run_s.mean()),
        calls=tuple(sorted(calls, key=lambda each: -each.seconds)),
        messages=_messages(account, LEAST_SHARE * whole),
        arrivals=_arrivals(account, name, {(each.benchmark, each.ranks) for each in calls}),
    )


def _arrivals(
    account: Account, name: str, collectives: Collection[tuple[str, int]]
) -> dict[str, str]:
    """Returns the longest arrival pattern for each collective and number of ranks."""
    arrivals: dict[str, str] = {}
    for pattern in sorted(account.profile.arrivals, key=lambda each: -each.seconds):
        of = pattern.call.removeprefix(MPI), pattern.ranks
        if of in collectives and arrival_key(*of) not in arrivals:
            step = -(-len(pattern.lateness_s) // MOST_VECTORS)
            some = replace(pattern, lateness_s=pattern.lateness_s[::step])
            arrivals[arrival_key(*of)] = vectors(name_of(name), some)
    return arrivals


def _messages(account: Account, least_s: float) -> tuple[MixedCall, ...]:
    """Returns point-to-point messages by powers of two, longest time first. The time in all calls
    for messages is divided among them by count and bytes, as waits have no size."""
    whole = sum(each.total_s for each in account.inside if each.spot.group in _OF_MESSAGES)
    groups = _alike(account)
    weights = {kind: _weight(group) for kind, group in groups.items()}
    all_weights = sum(weights.values())
    messages = []
    for kind, group in groups.items():
        benchmark, ranks, _ = kind
        seconds = whole * weights[kind] / all_weights
        if seconds >= least_s:
            messages.append(_message(benchmark, ranks, group, seconds))
    return tuple(sorted(messages, key=lambda each: -each.seconds))


def _alike(account: Account) -> dict[tuple[str, int, int], Any]:
    """Returns the cells of sent messages by benchmark, number of ranks and bin of size."""
    cells = account.profile.cells
    spots = account.profile.spots
    sent = cells[(cells["way"] == Counted.SENT) & (cells["peer"] != NULL_PROCESS)]
    names = ["site", "comm", "bin"]
    together: dict[tuple[str, int, int], list[Any]] = defaultdict(list)
    for key in np.unique(sent[names]):
        spot = spots[int(key["site"])]
        if spot.group in _OF_MESSAGES:
            one_way = spot.call.removesuffix("_c") in _BLOCKING_SENDS
            members = account.profile.comms[int(key["comm"])].size
            benchmark, ranks = ("PingPong", 2) if one_way else ("Sendrecv", max(members, 2))
            kind = benchmark, ranks, int(key["bin"])
            together[kind].append(sent[sent[names] == key])
    return {kind: np.concatenate(groups) for kind, groups in together.items()}


def _weight(cells: Any) -> float:
    """Returns the approximate time of these messages, in units of an empty one."""
    return float(cells["count"].sum()) + float(cells["amount"].sum()) / BYTES_OF_LATENCY


def _message(benchmark: str, ranks: int, cells: Any, seconds: float) -> MixedCall:
    return MixedCall(
        benchmark=benchmark,
        ranks=ranks,
        message_bytes=round(int(cells["amount"].sum()) / int(cells["count"].sum())),
        least_bytes=int(cells["least"].min()),
        most_bytes=int(cells["most"].max()),
        seconds=seconds,
    )


def _calls(uses: Sequence[Use]) -> list[MixedCall]:
    """Returns the collectives, grouped by powers of two of their size."""
    together: dict[tuple[object, ...], list[Use]] = defaultdict(list)
    for use in uses:
        need = use.need
        if need.is_collective and need.message_bytes > 0 and need.ranks > 1:
            power = need.message_bytes.bit_length()
            together[need.benchmark, need.ranks, need.datatype, need.op, power].append(use)
    return [_call(alike) for alike in together.values()]


def _call(alike: Sequence[Use]) -> MixedCall:
    need = max(alike, key=lambda use: use.seconds).need
    return MixedCall(
        benchmark=need.benchmark,
        ranks=need.ranks,
        message_bytes=need.message_bytes,
        least_bytes=min(use.least_bytes for use in alike),
        most_bytes=max(use.most_bytes for use in alike),
        seconds=sum(use.seconds for use in alike),
        datatype=need.datatype,
        op=need.op,
    )
