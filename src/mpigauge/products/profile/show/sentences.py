# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the summary of a profile: what bounds the program, why, where, and the next command.

If ranks were kept from their cores, nothing is said of network and balance: every wait may be one
for a core.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.model.units import duration, from_to, many, memory, percent, plus_minus
from mpigauge.products.profile.analyse.apart import apart_command
from mpigauge.products.profile.analyse.bound import WhatBounds
from mpigauge.products.profile.analyse.efficiencies import (
    EfficienciesOverLaunches,
    efficiencies_of,
)
from mpigauge.products.profile.analyse.over_launches import OverLaunches
from mpigauge.products.profile.read.layout import Counted
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.analyse.entries import Called, TimeWithInterval
    from mpigauge.products.profile.beside.joined import Joined

MOST = 5
"""The maximum number of sentences."""
GOOD = 0.9
"""The parallel efficiency from which on a compute-bound program needs no sentence about it."""
MUCH_DISTURBED = 0.2
"""The least share of disturbance in the time in MPI that is mentioned."""
MUCH_COST = 0.02
"""The least share of the profiler in the run time that is reported."""
LATENCY_BYTES, BANDWIDTH_BYTES = 256, 64 << 10
"""The mean sizes up to which messages cost latency, and from which on bandwidth."""
MOST_LATENCY_S = 50e-6
"""The upper limit of a network latency; a small message that takes longer has waited."""
LAST = "last"


def sentences(
    accounts: Sequence[Account],
    run: str = LAST,
    beside: Joined | None = None,
    most: int = MOST,
    seen: str = "",
) -> list[str]:
    """Returns at most `most` sentences: the decision first, the next command last. `run`: the word
    that names the run. `beside`: the join with its machine. `seen`: a command that would only
    repeat what is seen already."""
    if accounts[0].job.is_apart:
        return [f"Next: `{apart_command(accounts[0].job.ranks[0])}`"]
    of = WhatBounds(accounts[0])
    details = [sentence for sentence in _details(of, accounts, beside) if sentence]
    return [_decision(of, accounts), *details[: max(most - 2, 1)], next_command(of, run, seen)]


def next_command(of: WhatBounds, run: str, seen: str = "") -> str:
    """Returns the last sentence: the command that helps most."""
    word = shlex.quote(run)
    if of.bound == "starved" or of.account.job.source:
        command = f"explain {word}"
    elif of.bound == "MPI" and of.limit in ("transfer", "communication"):
        command = f"tune --for {word}"
    else:
        command = f"{'explain' if seen == 'report' else 'report'} {word}"
    return f"Next: `mpigauge {command}`"


# --- the decision ---------------------------------------------------------------------------------
def _decision(of: WhatBounds, accounts: Sequence[Account]) -> str:
    if of.bound == "unknown":
        return "No time passed between MPI_Init and MPI_Finalize, so there are no shares."
    if of.bound == "starved":
        return _starved(of)
    if of.bound == "I/O":
        waited = of.share(of.io_s - of.file_s)
        return (
            f"I/O-bound: {percent(of.share(of.file_s))} of the run time is MPI-IO, "
            f"{percent(waited)} off the CPU outside MPI."
        )
    share = over_launches(OverLaunches.of_mpi_share(accounts), percent)
    takes = f"MPI takes {share} of the run time{_spread(of.account)}"
    if of.bound == "MPI":
        by = "" if of.limit == "communication" else f" by {of.limit}"
        return f"MPI-bound{by}: {takes}."
    unseen = "memory" if of.cpu_s is not None else "memory and lost cores"
    return f"Compute-bound; {unseen} not examined: {takes}."


def _starved(of: WhatBounds) -> str:
    account = of.account
    least = int(of.lost_shares.argmax())
    rank = account.ranks[least]
    had = f"{percent(of.core_share)} of the run time"
    if of.is_oversubscribed:
        return (
            f"Oversubscribed: {of.ranks_per_core:.2g} ranks share a core, so ranks had one for "
            f"{had}, rank {rank.rank} for {percent(1 - float(of.lost_shares[least]))}."
        )
    return (
        f"Starved: ranks had their cores for {had}, rank {rank.rank} on {rank.host} for "
        f"{percent(1 - float(of.lost_shares[least]))}; other programs had them meanwhile."
    )


def _spread(account: Account) -> str:
    if len(account.ranks) < 2 or not np.isfinite(account.share).all():
        return ""
    least, most = int(account.share.argmin()), int(account.share.argmax())
    if percent(float(account.share[least])) == percent(float(account.share[most])):
        return " on each rank"
    return (
        f", {percent(account.share[least])} on rank {account.ranks[least].rank} to "
        f"{percent(account.share[most])} on rank {account.ranks[most].rank}"
    )


# --- the reasons ----------------------------------------------------------------------------------
def _details(of: WhatBounds, accounts: Sequence[Account], beside: Joined | None) -> Iterator[str]:
    account = of.account
    if of.bound == "unknown":
        return
    if of.bound == "starved":
        yield (
            "Times in MPI hold the wait for a core, so neither network nor balance is judged; "
            "repeat it on cores that nobody else uses."
        )
        return
    if account.cost_share >= MUCH_COST:
        yield f"The profiler itself took {percent(account.cost_share)} of the run time."
    if len(account.ranks) > 1 and (of.bound == "MPI" or not of.efficiencies.parallel >= GOOD):
        yield _efficiencies(accounts)
        yield _reason(of)
    yield _top_site(of)
    if beside and beside.measured:
        yield saved_at_most(beside)


def _efficiencies(accounts: Sequence[Account]) -> str:
    of = EfficienciesOverLaunches([efficiencies_of(account) for account in accounts])
    if not math.isfinite(of.first.parallel):
        return ""
    text = (
        f"Parallel efficiency {ratio_words(of.interval('parallel'))} = load balance "
        f"{ratio_words(of.interval('load_balance'))} × communication efficiency "
        f"{ratio_words(of.interval('communication'))}"
    )
    if of.first.is_split:
        return (
            f"{text} (serialisation {ratio_words(of.interval('serialisation'))} × transfer "
            f"{ratio_words(of.interval('transfer'))})."
        )
    return f"{text}; its parts are unknown, as {percent(of.first.left_out)} of MPI was not split."


def ratio_words(ratio: TimeWithInterval) -> str:
    """Returns an efficiency in per cent, with its error if that is half a per cent or more; empty
    if it is unknown."""
    if not math.isfinite(ratio.value):
        return ""
    error = max(ratio.high - ratio.value, ratio.value - ratio.low)
    if not error >= 0.005:
        return f"{100 * ratio.value:.0f} %"
    return f"{100 * ratio.value:.0f} ±{100 * error:.0f} %"


def _reason(of: WhatBounds) -> str:
    """Returns why the lowest factor is low: disturbance, waiting or imbalance; empty: unknown."""
    account = of.account
    whole_s = float(account.mpi_s.sum())
    disturbed_s = sum(each.disturbed_s for each in account.waited)
    if disturbed_s >= MUCH_DISTURBED * whole_s > 0:
        return (
            f"Disturbance is {percent(disturbed_s / whole_s)} of the time in MPI: few calls took "
            "far longer than usual."
        )
    if of.limit != "transfer" and (waited := _waited(account)):
        return waited
    if of.limit == "load balance":
        most = int(account.own_s.argmax())
        return (
            f"Rank {account.ranks[most].rank} computes {percent(account.imbalance)} longer than "
            "the mean of ranks; the others wait for it."
        )
    return ""


def _waited(account: Account) -> str:
    """Returns how much ranks wait, where most, and for whom; empty: too little or unknown."""
    sure = [each for each in account.waited if each.is_told]
    if not sure:
        return ""
    top = sure[0]
    share = sum(each.waiting.value for each in sure) / float(account.mpi_s.sum())
    times = f"{duration(top.waiting.low)} to {duration(top.waiting.high)}"
    rank = account.ranks[top.rank].rank
    text = (
        f"{percent(share)} of the time in MPI is waiting for ranks that come or send later, most "
        f"in {at(top.called)} ({times}, all ranks together, longest by rank {rank})"
    )
    last = account.last_to_come(top.called)
    return (
        f"{text}; {last.words[0].lower()}{last.words[1:]}"
        if last and last.is_mostly_it
        else f"{text}."
    )


def _top_site(of: WhatBounds) -> str:
    """Returns the call site with most time in MPI, or in MPI-IO if that is the bound."""
    account = of.account
    sites = account.inside
    whole = account.mpi_s.sum()
    if of.bound == "I/O":
        sites = [each for each in sites if each.spot.is_file]
    if not sites or not whole > 0:
        return ""
    top = sites[0]
    text = f"{percent(top.total_s / whole)} of the time in MPI is {at(top)}: "
    return text + ", ".join([*_times(top), *_message_size(account, top)]) + "."


def at(called: Called) -> str:
    if not called.where:
        return called.spot.call
    return f"{called.spot.call} in {called.where}"


def _times(called: Called) -> Iterator[str]:
    """Yields the number of calls and their times, as far as known."""
    if not called.calls:
        yield f"{duration(called.mean_s)} of each rank in the mean"
        return
    each = set(called.calls_of.tolist())
    yield f"{many(each.pop(), 'call')} a rank" if len(each) == 1 else many(called.calls, "call")
    if math.isfinite(called.median_s):
        yield f"{duration(called.median_s)} in the median"
    else:
        yield f"{duration(called.mean_call_s)} in the mean"


def _message_size(account: Account, called: Called) -> Iterator[str]:
    """Yields the mean size of messages, and what such messages cost."""
    cells = account.profile.cells
    here = cells[cells["site"] == account.profile.spots.index(called.spot)]
    here = here[(here["way"] == Counted.SENT) | (here["way"] == Counted.NONE)]
    count, amount = int(here["count"].sum()), int(here["amount"].sum())
    if not count or not amount:
        return
    mean = amount / count
    if mean <= LATENCY_BYTES and called.median_s <= MOST_LATENCY_S:
        yield f"{memory(mean)} each (latency)"
    elif mean >= BANDWIDTH_BYTES:
        yield f"{memory(mean)} each (bandwidth)"
    else:
        yield f"{memory(mean)} each"


def saved_at_most(beside: Joined) -> str:
    """Returns the largest savings of the whole program, in words."""
    text = (
        f"Beside this machine, a perfect network would save at most {percent(beside.network)} of "
        "the run time"
    )
    if math.isnan(beside.setting):
        return f"{text}, a perfect balance {percent(beside.balance)}."
    return (
        f"{text}, a perfect balance {percent(beside.balance)}, the best known setting "
        f"{percent(beside.setting)}."
    )


# --- over launches --------------------------------------------------------------------------------
def over_launches(of: OverLaunches, words: Callable[[float], str]) -> str:
    """Returns the median with its interval or range, in words."""
    return f"{words(of.median)} {error_words(of)}".strip()


def error_words(of: OverLaunches) -> str:
    """Returns the interval of the median; with few launches their range; with one nothing."""
    estimate = of.estimate
    if len(of.values) < 2 or not estimate.value:
        return ""
    if len(of.values) < LEAST_FOR_INTERVAL:
        return from_to(estimate.low / estimate.value - 1, estimate.high / estimate.value - 1)
    return plus_minus(estimate.relative_error)
