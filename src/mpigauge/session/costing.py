# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""About how long what was planned will take, in words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.measuring.campaign.cost import cost, rates_of
from mpigauge.measuring.live.phrases import clock
from mpigauge.measuring.plan.schedule import schedule
from mpigauge.model.units import byte_count, duration, listed, many
from mpigauge.runs.store import list_runs
from mpigauge.runs.store.reader import status_of
from mpigauge.runs.store.writer import DEFAULT_ROOT

if TYPE_CHECKING:
    from mpigauge.session.measuring import PlannedRun


def cost_words(run: PlannedRun) -> str:
    """The number of launches and the time, and the source of the estimate."""
    estimate = cost(run.plan, rates_of(_earlier(run)))
    least, most = estimate.launches
    launches = f"{least} to {most} launches"
    if least == most:
        launches = many(most, "launch")
    low, high = map(clock, estimate.seconds)
    time = f"about {low}"
    if estimate.bounded:
        time = f"no longer than {high} (--time)"
    elif low != high:
        time += f", up to {high} where it takes more launches"
    rates = estimate.rates
    source = "assumed, as nothing was measured here before"
    if rates.launches:
        source = f"as in {many(rates.launches, 'launch')} below mpigauge-runs"
    return (
        f"{launches}, {many(estimate.cells, 'cell')} in each round: {time}; "
        f"{duration(rates.start_s)} to start a job, {duration(rates.cell_s)} for a cell, {source}"
    )


def schedule_words(run: PlannedRun) -> str:
    """The schedule of a map: 8128 pairs in 127 rounds of 64 at a time, at 8 B and 1 MiB."""
    (part,) = run.plan.parts
    made = schedule(part.pairs, part.world_ranks)
    words = f"{many(made.pairs, 'pair')} in {many(made.rounds, 'round')}"
    if made.together > 1:
        words += f" of {made.together} at a time"
    if any(card.unit != "none" for card in run.setup.cards.chosen(part.benchmarks)):
        words += f", at {listed(map(byte_count, part.sizes or ()))}"
    return words


def _earlier(run: PlannedRun) -> list[Mapping[str, Any]]:
    """The final states of earlier runs with this MPI here, without maps, whose cells share the
    machine with others."""
    root = Path(DEFAULT_ROOT)
    if not root.is_dir():
        return []
    mpi = f"{run.setup.mpi.name} {run.setup.mpi.version}"
    states: list[Mapping[str, Any]] = []
    for each in list_runs(root):
        if each.mpi == mpi and each.command[1:2] != ("map",):
            states.append(status_of(each.path))
    return states
