# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Compares the replay of a program with its profile, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.model.cards import REPLAY_SUITE
from mpigauge.model.replayed import Replayed
from mpigauge.model.units import listed, many, microseconds, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.model.row import Row

CLOSE = 0.25
"""The largest relative difference at which a replay represents the program."""
LEAST_SHARE = 0.005
"""The least share of the time in MPI for which a call that is left out is named."""
_FAR = (
    ", too far to stand for the program: one of the two was disturbed or has other settings, or "
    "its ranks wait for each other otherwise than the program's."
)


def replay_sentences(rows: Sequence[Row], replay: Mapping[str, Any] | None) -> list[str]:
    """A sentence for each way in which a program was replayed, and what is not; none of other
    runs."""
    if not replay:
        return []
    of = Replayed.from_json(replay)
    own = [row for row in rows if row.cell.suite == REPLAY_SUITE and row.cell.time_own_mean_s > 0]
    return [*(_beside(row, of) for row in own), *(_left_out(of) if own else ())]


def _beside(row: Row, of: Replayed) -> str:
    """A rank in the mean, in both."""
    cell = row.cell
    how = ", ".join(filter(None, (cell.placement, cell.arm)))
    ratio = cell.time_own_mean_s / of.mpi_s if of.mpi_s else float("nan")
    return (
        f"replayed{f' ({how})' if how else ''}, an iteration of {of.profile} "
        f"({many(of.calls, 'call')}) spends {microseconds(cell.time_own_mean_s)} µs in MPI, in its "
        f"profile {microseconds(of.mpi_s)} µs: {ratio:.2f} times as long"
        f"{'.' if abs(ratio - 1) <= CLOSE else _FAR}"
    )


def _left_out(of: Replayed) -> Iterator[str]:
    yield (
        f"this replays {percent(of.covered)} of the program's time in MPI; computation is "
        "arithmetic that uses no memory, and comes evenly between calls"
    ) + _named(of)


def _named(of: Replayed) -> str:
    named = []
    for what, share in of.left_out:
        if share >= LEAST_SHARE:
            named.append(f"{what} ({percent(share)})")
    if named:
        return f"; left out: {listed(named)}."
    return "."
