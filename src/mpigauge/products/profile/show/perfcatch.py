# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints a profile in the sections of perfcatch's report, for scripts that parse it.

The size in `size:count(peer)` is the mean of the messages between two powers of two.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from shlex import join
from typing import Any

import numpy as np

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.entries import Called
from mpigauge.products.profile.read.layout import Counted

RULE = "=" * 60
_UTC = "%Y-%m-%dT%H:%M:%SZ"
_NAME = 50
_A_LINE = 4
"""The number of ranks per line."""
_SIZES_A_LINE = 4


def perfcatch(account: Account) -> list[str]:
    return [*_head(account), *_summary(account), *_ranks(account)]


def _head(account: Account) -> Iterator[str]:
    import mpigauge

    first = account.ranks[0]
    when = datetime.strptime(first.started, _UTC).strftime("%a %b %e %H:%M:%S %Y")
    yield RULE
    yield f"PERFCATCHER version mpigauge-{mpigauge.__version__}"
    yield RULE
    yield "MPI/SHMEM program profiling information"
    yield f"Job profile recorded:         {when}"
    yield f"Program command line:         {join(first.words)}"
    yield f"Total MPI/SHMEM processes:    {len(account.ranks)}"
    yield ""
    run = float(_whole(account).mean())
    user, system = _mean(account, "user_s"), _mean(account, "system_s")
    mpi = float(account.mpi_s.mean())
    on = float(np.mean([file.on_s for file in account.ranks]))
    for what, seconds, share in (
        ("Total MPI/SHMEM job time", run, None),
        ("Profiled job time", on, ("Percent job time profiled", _of(on, run))),
        ("Total user time", user, ("Percent user time", _of(user, run))),
        ("Total system time", system, ("Percent system time", _of(system, run))),
        (
            "Time in all profiled MPI/SHMEM functions",
            mpi,
            ("Percent time in profiled MPI/SHMEM functions", _of(mpi, run)),
        ),
    ):
        yield f"{what + ', avg per rank':<59} {seconds:g} sec"
        if share:
            yield f"{share[0] + ', avg per rank':<59} {share[1]:g}%"
            yield ""
    yield ""


def _mean(account: Account, of: str) -> float:
    return float(np.mean([getattr(file.usage, of) for file in account.ranks]))


def _whole(account: Account) -> Any:
    """Returns the time of each rank from its first MPI call, to match user and system time."""
    return np.maximum(account.run_s, [file.on_s for file in account.ranks])


def _of(part: float, whole: float) -> float:
    if whole > 0:
        return float(100 * part / whole)
    return 0.0


def _summary(account: Account) -> Iterator[str]:
    yield from ("Rank-by-Rank Summary Statistics", "-" * 31, "")
    tables: dict[str, list[float]] = {
        "Percent in Profiled MPI/SHMEM functions": account.mpi_s.tolist(),
        "User Time": [file.usage.user_s for file in account.ranks],
        "System Time": [file.usage.system_s for file in account.ranks],
    }
    for number, (title, seconds) in enumerate(tables.items()):
        shares = [_of(part, run) for part, run in zip(seconds, _whole(account), strict=True)]
        yield from _rank_table(account, title, shares)
        if number == 0:
            yield f"  Load Imbalance:  {_imbalance(shares):g}%"
        yield ""
    yield from ("", "Notes", "-----", "")
    clock = max(1 / file.hz for file in account.ranks)
    yield f"Wtime resolution is                   {clock:g} sec"
    yield ""


def _rank_table(account: Account, title: str, shares: list[float]) -> Iterator[str]:
    yield f"Rank-by-Rank: {title}"
    yield "        Rank:Percent"
    entries = [f"{file.rank}:{share:g}%" for file, share in zip(account.ranks, shares, strict=True)]
    for start in range(0, len(entries), _A_LINE):
        yield (
            "        "
            + "".join(f"{each:<16}" for each in entries[start : start + _A_LINE]).rstrip()
        )
    yield ""
    least, most = int(np.argmin(shares)), int(np.argmax(shares))
    yield f"  Least:  Rank {account.ranks[least].rank:<6}  {shares[least]:g}%"
    yield f"  Most:   Rank {account.ranks[most].rank:<6}  {shares[most]:g}%"


def _imbalance(shares: list[float]) -> float:
    """Returns perfcatch's imbalance: (most - least) / (most + least) of the time outside MPI."""
    own = [100 - share for share in shares]
    least, most = min(own), max(own)
    if most + least > 0:
        return 100 * (most - least) / (most + least)
    return 0.0


def _ranks(account: Account) -> Iterator[str]:
    yield from ("", "Rank-by-Rank MPI Profiling Results", "-" * 34)
    for at, file in enumerate(account.ranks):
        yield f"Activity on process rank {file.rank}"
        yield ""
        yield "  MPI activity"
        for call, sites in _by_call(account, at).items():
            yield from _of_call(account, at, call, sites)
        yield ""


def _by_call(account: Account, at: int) -> dict[str, list[tuple[Called, Any]]]:
    by_call: dict[str, list[tuple[Called, Any]]] = {}
    for called, row in account.of_rank(at):
        if not called.outside:
            by_call.setdefault(called.spot.call, []).append((called, row))
    return dict(sorted(by_call.items()))


def _of_call(
    account: Account, at: int, call: str, sites: list[tuple[Called, Any]]
) -> Iterator[str]:
    """Yields a line for a call, and its messages by peer or by communicator."""
    calls = sum(int(row["calls"]) for _, row in sites)
    seconds = sum(float(row["seconds"]) for _, row in sites)
    cells = _cells(account, at, [called for called, _ in sites])
    moved = cells[(cells["way"] != Counted.REQUESTS) & (cells["amount"] > 0)]
    requests = cells[cells["way"] == Counted.REQUESTS]
    tail = f"{_of_one(seconds, calls):g} s/call"
    if len(moved):
        tail = f"datacnt {int(moved['amount'].sum())}"
    elif len(requests):
        tail = f"# of reqs {int(requests['amount'].sum())}"
    name = call.removeprefix("MPI_").lower()
    yield f"  {name:<20} calls: {calls:>6}  time: {seconds:>10g} s  {tail}"
    yield from _waits(account, at, [called for called, _ in sites])
    if len(moved):
        yield from _messages(moved)


def _waits(account: Account, at: int, sites: list[Called]) -> Iterator[str]:
    """Yields the waiting time of a rank in call sites and the number of their calls, if known."""
    rows = account.profile.waits
    own = rows[(rows["rank"] == at) & np.isin(rows["site"], _numbers(account, sites))]
    resolved = own[
        own["resolved"] & (own["waiting_high_s"] - own["waiting_low_s"] <= own["waiting_s"])
    ]
    if len(resolved):
        calls, seconds = round(float(resolved["calls"].sum())), float(resolved["waiting_s"].sum())
        yield f"{'':23}waits: {calls}  wait time: {seconds:g} s"


def _numbers(account: Account, sites: list[Called]) -> list[int]:
    """Returns the indices of call sites in the spots of the profile."""
    spots = {spot: number for number, spot in enumerate(account.profile.spots)}
    return [spots[each.spot] for each in sites]


def _of_one(seconds: float, calls: int) -> float:
    if calls:
        return seconds / calls
    return 0.0


def _cells(account: Account, at: int, sites: list[Called]) -> Any:
    cells = account.profile.cells
    return cells[(cells["rank"] == at) & np.isin(cells["site"], _numbers(account, sites))]


def _messages(cells: Any) -> Iterator[str]:
    """Yields sizes with counts and peers (for collectives communicators), largest first."""
    collective = bool((cells["way"] == Counted.NONE).all())
    counts: dict[tuple[int, int], int] = {}
    for cell in cells:
        peer = int(cell["comm"]) if collective else _peer(cell)
        size = round(int(cell["amount"]) / int(cell["count"]))
        counts[size, peer] = counts.get((size, peer), 0) + int(cell["count"])
    count, whole = sum(counts.values()), int(cells["amount"].sum())
    least, most = int(cells["least"].min()), int(cells["most"].max())
    what = "comm" if collective else "peer"
    yield (
        f"            Average data size {whole / count:g}  (min {least}, max {most})   "
        f"size:count({what})"
    )
    entries = [
        f"{size}:{n:>4}x({peer})" for (size, peer), n in sorted(counts.items(), reverse=True)
    ]
    for start in range(0, len(entries), _SIZES_A_LINE):
        yield "            " + "  ".join(entries[start : start + _SIZES_A_LINE])
    peers = dict.fromkeys(peer for _, peer in sorted(counts, reverse=True))
    yield f"            unique {what}s: " + " ".join(f"{peer:>5}" for peer in peers)
    yield ""


def _peer(cell: Any) -> int:
    """Returns a rank of MPI_COMM_WORLD, or -2 for others, as perfcatch for MPI_ANY_SOURCE."""
    world = int(cell["world_peer"])
    if world >= 0:
        return world
    return -2
