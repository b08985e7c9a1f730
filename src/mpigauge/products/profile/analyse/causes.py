# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds anomalies in a profile, their likely causes, and remedies to try.

A cost is the largest possible saving, as a share of the run time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from mpigauge.model.units import duration, listed, many, memory, number, percent
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.bound import WhatBounds
from mpigauge.products.profile.analyse.entries import Called, Waited
from mpigauge.products.profile.analyse.jobs import accounts_of, main_jobs
from mpigauge.products.profile.read.layout import Counted
from mpigauge.products.profile.store.reported import NOT_LISTED, SUMS
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.result.finding import Explanation, Finding

LEAST_IMBALANCE = 0.05
LEAST_SHARE = 0.1
"""The least share of the time in MPI of a call site that is reported."""
SMALL = 256
"""The largest size in bytes of messages that only cost latency."""
MOST_LATENCY_S = 50e-6
"""The upper limit of a network latency; a small message that takes longer has waited."""
RARE = 0.2
"""The share of all calls at their median, below which few long calls take the rest."""
MUCH_OF_CALL = 0.2
"""The least share of waiting, or disturbance, in a call site that is reported."""
LEAST_LOST = 0.02
"""The least share of its run time without its core for which a rank is reported."""
MUCH = 0.02
"""The least share of the profiler in the run time that is reported."""
POLLS = ("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe")
_MOST_NAMED = 4


@dataclass(frozen=True)
class ProfileCause:
    name: str
    about: str
    find: Callable[[Account], Iterator[Finding]]
    holds_if_starved: bool = False
    """True if it is also a cause in programs whose ranks were kept from their cores; all others
    are about times in MPI, which then hold the wait for a core."""


def explained(jobs: Sequence[ProfiledJob]) -> Explanation:
    """Explains the launch with the median share of MPI. If its ranks were kept from their cores,
    no cause is named that is about network or balance."""
    accounts = accounts_of(main_jobs(jobs))
    findings = []
    for account in accounts[:1]:
        is_starved = WhatBounds(account).is_starved
        for cause in CAUSES:
            if is_starved and not cause.holds_if_starved:
                continue
            for finding in cause.find(account):
                findings.append(replace(finding, cause=cause.name))
    findings.sort(key=lambda each: (math.isnan(each.cost), -each.cost))
    return Explanation(
        findings=tuple(findings),
        blind=(),
        looked_for=len(CAUSES),
        rows=len(accounts[0].inside) if accounts else 0,
        launches=len(accounts),
        kind="call site",
        whole="the run time, at most",
    )


# --- ranks ----------------------------------------------------------------------------------------
def _imbalance(account: Account) -> Iterator[Finding]:
    own, ranks = account.own_s, account.ranks
    if len(ranks) < 2 or not account.imbalance >= LEAST_IMBALANCE:
        return
    most, least = int(own.argmax()), int(own.argmin())
    busiest, idlest = ranks[most].rank, ranks[least].rank
    first, mean, last = (duration(float(each)) for each in (own[most], own.mean(), own[least]))
    shares = [percent(float(account.share[at])) for at in (most, least)]
    yield Finding(
        what=f"rank {busiest} computes {percent(account.imbalance)} longer than the mean of ranks",
        likely=f"rank {busiest} has more to do, or its core is slower or shared; the others wait "
        "for it in MPI",
        evidence=(
            f"outside MPI: {first} on rank {busiest}, {mean} in the mean, {last} on rank {idlest}",
            f"share of MPI: {shares[0]} on rank {busiest}, {shares[1]} on rank {idlest}",
        ),
        attempts=(
            "share the work out more evenly",
            "another --place: does it stay with the rank, or with the core?",
            "`mpigauge doctor` and `mpigauge node`: is a core slower than others?",
        ),
        cost=float((own.max() - own.mean()) / account.run_s.mean()),
    )


def _moved(account: Account) -> Iterator[Finding]:
    moved = [file for file in account.ranks if len(file.cpus) > 1]
    if not moved:
        return
    seen = [f"rank {file.rank} was seen on {len(file.cpus)} cores" for file in moved]
    yield Finding(
        what=f"{many(len(moved), 'rank')} of {len(account.ranks)} moved between cores",
        likely="ranks are not bound to a core each, so the system moves them away from their "
        "caches and their memory; with threads that call MPI it may be as it should",
        evidence=tuple(seen[:_MOST_NAMED]),
        attempts=("bind them: --place compact, or what the launcher has for it (--bind-to core)",),
    )


def _shared(account: Account) -> Iterator[Finding]:
    on: dict[tuple[str, int], list[str]] = {}
    for file in account.ranks:
        if len(file.cpus) == 1:
            on.setdefault((file.host, next(iter(file.cpus))), []).append(str(file.rank))
    for (host, cpu), ranks in on.items():
        if len(ranks) > 1:
            yield Finding(
                what=f"{len(ranks)} ranks share core {cpu} of {host}",
                likely="there are more ranks than cores, or all are bound to the same ones; who "
                "waits in MPI takes the core from who computes",
                evidence=(f"ranks {listed(ranks[:_MOST_NAMED])} were seen on no other core",),
                attempts=("fewer ranks, or another placement (--place compact)",),
            )


def _lost(account: Account) -> Iterator[Finding]:
    bounds = WhatBounds(account)
    shares = bounds.lost_shares
    lost = [at for at in shares.argsort()[::-1].tolist() if shares[at] >= LEAST_LOST]
    if not lost:
        return
    evidence = []
    for at in lost[:_MOST_NAMED]:
        file = account.ranks[at]
        rate = file.usage.involuntary_switches / float(account.run_s[at])
        evidence.append(
            f"rank {file.rank} on {file.host}: {percent(float(shares[at]))} of its run time "
            f"without its core, {number(rate)} involuntary switches in a second"
        )
    shared = f"{bounds.ranks_per_core:.2g} ranks share a core"
    others = "other programs run on the same cores"
    yield Finding(
        what=f"{many(len(lost), 'rank')} of {len(account.ranks)} lost their core for "
        f"{percent(float(shares[lost[0]]))} of the run time at most",
        likely=f"{shared if bounds.ranks_per_core > 1 else others}, and delay the ranks that wait "
        "for such a rank",
        evidence=tuple(evidence),
        attempts=(
            "as many ranks as cores"
            if bounds.ranks_per_core > 1
            else "`mpigauge doctor` there: who else is on these cores?",
        ),
        cost=float(shares[lost[0]]),
    )


# --- call sites -----------------------------------------------------------------------------------
def _small(account: Account) -> Iterator[Finding]:
    for site in _large_sites(account):
        count, size = _sent(account, site)
        if not count or size > SMALL or _waits_there(account, site):
            continue
        one = site.spot.call.removeprefix("MPI_") if _is_collective(account, site) else "PingPong"
        yield Finding(
            what=f"{_at(site)} sends {many(count, 'message')} of {memory(size)} in the mean",
            likely="so small messages cost latency: how many there are matters, and not how large "
            "they are",
            evidence=(_takes(account, site),),
            attempts=(
                "fewer and larger messages",
                f"`mpigauge run {one} --sizes {size}`: what one costs on this machine",
            ),
            cost=_cost(account, site),
        )


def _waits(account: Account) -> Iterator[Finding]:
    split = {each.called.number: each for each in account.waited}
    for site in _large_sites(account):
        if site.number in split:
            yield from _waited(account, split[site.number])
        elif _waits_there(account, site):
            yield _waits_likely(account, site)


def _waited(account: Account, of: Waited) -> Iterator[Finding]:
    """Yields findings of a call site whose waiting was separated from moving."""
    site = of.called
    waits = of.is_told and of.waiting.value >= MUCH_OF_CALL * of.whole_s
    if waits:
        yield Finding(
            what=f"ranks wait in {_at(site)}: {percent(of.waiting.value / of.whole_s)} of its time",
            likely=_who_is_late(account, of),
            evidence=tuple(_evidence_of_waiting(account, of)),
            attempts=(
                "share the work before it out more evenly, or give ranks something to do meanwhile",
                "`mpigauge report`: how late each rank comes, call by call",
            ),
            cost=of.waiting.value / float(account.run_s.sum()),
        )
    if of.disturbed_s >= MUCH_OF_CALL * of.whole_s:
        yield Finding(
            what=f"few long calls take {percent(of.disturbed_s / of.whole_s)} of {_at(site)}",
            likely="a rank had lost its core, or the network stood still: it is rare, and far "
            "longer than all other calls",
            evidence=(f"{duration(of.disturbed_s)}, all ranks together",),
            attempts=("`mpigauge doctor` there: who else is on these cores?",),
            cost=of.disturbed_s / float(account.run_s.sum()),
        )


def _who_is_late(account: Account, of: Waited) -> str:
    last = account.last_to_come(of.called)
    if last is None:
        return "what they wait for is sent, or begun, later than they ask for it"
    if last.is_mostly_it:
        return f"rank {last.rank} has more to do before it, or its core is slower or shared"
    return "the work before it takes longer on another rank each time"


def _evidence_of_waiting(account: Account, of: Waited) -> Iterator[str]:
    low, high = duration(of.waiting.low), duration(of.waiting.high)
    rank = account.ranks[of.rank].rank
    yield f"{low} to {high}, all ranks together; longest by rank {rank}"
    if last := account.last_to_come(of.called):
        yield last.words
    yield f"the operation itself takes {duration(of.moving_s)}"
    yield _takes(account, of.called)


def _largest(account: Account) -> Iterator[Finding]:
    """Yields the largest calls of another profiler's report, which does not separate waiting."""
    if not account.job.source:
        return
    for site in _large_sites(account):
        if site.spot.call == NOT_LISTED:
            continue
        one = site.spot.call.removeprefix("MPI_") if _is_collective(account, site) else "PingPong"
        count, size = _sent(account, site)
        measure = f"`mpigauge run {one} --sizes {size}`: what one costs on this machine"
        yield Finding(
            what=f"{percent(site.total_s / account.mpi_s.sum())} of the time in MPI is {_at(site)}",
            likely=f"{account.job.source} does not separate waiting for other ranks from moving "
            "data: it may be either",
            evidence=(
                _takes(account, site),
                *_calls(site),
                *_of_size(account, site),
                *_spread(account, site),
            ),
            attempts=(
                "`mpigauge profile`: how much of it is waiting, and for whom",
                *([measure] if count else []),
            ),
            cost=_cost(account, site),
        )


def _calls(site: Called) -> Iterator[str]:
    if site.calls:
        mean = duration(site.mean_call_s)
        most = f", {duration(site.most_s)} at most" if math.isfinite(site.most_s) else ""
        yield f"{many(site.calls, 'call')}: {mean} in the mean{most}"


def _spread(account: Account, site: Called) -> Iterator[str]:
    """Yields the rank with the longest time, if the report has times of single ranks."""
    if SUMS not in account.job.remarks and site.uneven >= LEAST_IMBALANCE:
        rank = account.ranks[int(site.seconds.argmax())].rank
        yield (
            f"rank {rank} is in it longest: {duration(float(site.seconds.max()))}, "
            f"{percent(site.uneven)} longer than the mean of ranks"
        )


def _waits_likely(account: Account, site: Called) -> Finding:
    """Returns a finding of a call site whose waiting is only inferred from call times."""
    times = f"{duration(site.median_s)} in the median, 99 % within {duration(site.late_s)}"
    return Finding(
        what=f"ranks wait in {_at(site)}",
        likely="one comes late or has lost its core; the messages are not the cost",
        evidence=(
            _takes(account, site),
            f"{many(site.calls, 'call')}: {times}, {duration(site.most_s)} at most",
            *_of_size(account, site),
        ),
        attempts=("what the other ranks do before it: the imbalance, and other programs",),
        cost=_cost(account, site),
    )


def _waits_there(account: Account, site: Called) -> bool:
    """True if few long calls take most of the time, or small messages exceed a latency."""
    count, size = _sent(account, site)
    rare = site.median_s * site.calls < RARE * site.total_s
    return rare or (count > 0 and size <= SMALL and site.median_s > MOST_LATENCY_S)


def _sent(account: Account, site: Called) -> tuple[int, int]:
    """Returns the number of messages and their mean size."""
    cells = account.profile.cells
    kept = cells[(cells["site"] == account.profile.spots.index(site.spot)) & (cells["amount"] > 0)]
    kept = kept[(kept["way"] == Counted.SENT) | (kept["way"] == Counted.NONE)]
    count, amount = int(kept["count"].sum()), int(kept["amount"].sum())
    return count, max(1, round(amount / count)) if count else 0


def _of_size(account: Account, site: Called) -> Iterator[str]:
    count, size = _sent(account, site)
    if count:
        yield f"{many(count, 'message')} of {memory(size)} in the mean"


def _is_collective(account: Account, site: Called) -> bool:
    cells = account.profile.cells
    of = cells[cells["site"] == account.profile.spots.index(site.spot)]
    return bool((of["way"] == Counted.NONE).any())


def _polls(account: Account) -> Iterator[Finding]:
    polls = [each for each in account.inside if each.spot.call in POLLS]
    calls = sum(each.calls for each in polls)
    seconds = sum(each.mean_s for each in polls)
    if not seconds > LEAST_SHARE * float(account.mpi_s.mean()):
        return
    names = listed(dict.fromkeys(each.spot.call for each in polls))
    yield Finding(
        what=f"the program asks {calls} times whether something has come, by {names}",
        likely="it waits by polling: this time is waiting, whatever it is called",
        evidence=(f"{duration(seconds)} of each rank in the mean",),
        attempts=("a call that waits, where there is nothing else to be done meanwhile",),
        cost=seconds / float(account.run_s.mean()),
    )


def _profiler(account: Account) -> Iterator[Finding]:
    if not account.cost_share >= MUCH:
        return
    yield Finding(
        what=f"the profiler itself took {percent(account.cost_share)} of the run time",
        likely="the program makes very many short calls; their own times are right, and the run "
        "time is longer than without the profiler",
        evidence=(f"{many(account.calls, 'call')}, {duration(account.cost_s)} each",),
        attempts=("--frames 0, which no longer distinguishes call sites by their callers",),
        cost=account.cost_share,
    )


def _large_sites(account: Account) -> Iterator[Called]:
    whole = float(account.mpi_s.sum())
    return (each for each in account.inside if each.total_s >= LEAST_SHARE * whole > 0)


def _at(site: Called) -> str:
    if site.where:
        return f"{site.spot.call} in {site.where}"
    return site.spot.call


def _takes(account: Account, site: Called) -> str:
    share = percent(site.total_s / float(account.mpi_s.sum()))
    return f"it takes {duration(site.mean_s)} of each rank in the mean, {share} of the time in MPI"


def _cost(account: Account, site: Called) -> float:
    return site.mean_s / float(account.run_s.mean())


CAUSES = (
    ProfileCause("imbalance", "ranks that compute longer than others", _imbalance),
    ProfileCause("waits", "call sites where ranks wait for each other", _waits),
    ProfileCause("largest-calls", "call sites that take most, in reports of others", _largest),
    ProfileCause("small-messages", "call sites that send many small messages", _small),
    ProfileCause("polling", "programs that ask again and again", _polls),
    ProfileCause("moved", "ranks that moved between cores", _moved, True),
    ProfileCause("shared-cores", "ranks that share a core", _shared, True),
    ProfileCause("lost-cores", "ranks that others took the core from", _lost, True),
    ProfileCause("profiler", "what the profiler itself cost", _profiler, True),
)
