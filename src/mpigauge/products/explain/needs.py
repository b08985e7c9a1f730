# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The requirements of causes: each returns a sentence if the run lacks something, else nothing.

The benchmarks that a cause applies to are given by `of`, in the words of `nature`; the launches
that it takes until a finding is more than tentative, by `sure_from`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.data_memory import is_on_gpu
from mpigauge.model.names import CONTROL
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView

FACT = 1
"""Launches that a fact needs, which the run holds however often it was measured."""
REPEATED = LEAST_FOR_INTERVAL
"""Launches that a statement about times needs: another launch may show another time."""
_CHOSEN = "the rows of a large run are chosen by their times, so that they would prove too much"


def seats(view: RunView) -> str:
    return _unless(view.run.ranks, "the run has no location of its ranks")


def _unless(there: object, lack: str) -> str:
    """The lack in words; empty: no GPU."""
    if there:
        return ""
    return lack


def gpus(view: RunView) -> str:
    """The GPUs of the ranks, if any data are on them."""
    if not any(is_on_gpu(row.cell.memory) for row in view.rows):
        return ""
    recorded = any(rank.gpu.index >= 0 for rank in view.run.ranks)
    return _unless(recorded, "the run does not record the GPUs of its ranks")


def machine(view: RunView) -> str:
    return _unless(view.topologies, "the run does not describe its machine")


def arms(view: RunView) -> str:
    """Rows with settings, and some with the defaults."""
    if view.run.part:
        return _CHOSEN
    arms_there = {row.cell.arm for row in view.rows} - {CONTROL}
    if arms_there <= {""}:
        return "the run varies no setting"
    return _unless("" in arms_there, "the run varies settings, but has no row with the defaults")


def placements(view: RunView) -> str:
    """Rows of several placements, the default among them."""
    if view.run.part:
        return _CHOSEN
    placements_there = {row.cell.placement for row in view.rows}
    if len(placements_there) == 1:
        return "the run has one placement of ranks only"
    return _unless("" in placements_there, "the run compares placements, but has no default one")


def samples(view: RunView) -> str:
    """IMB's schedule and other programs' tables hold no samples."""
    ours = any(row.cell.mode == "adaptive" and row.cell.origin == "measured" for row in view.rows)
    return _unless(ours, "the run has no single samples, only the values of a table")


def launches(view: RunView) -> str:
    """Fewer than six give no interval."""
    most = max(row.launches for row in view.rows)
    if most >= LEAST_FOR_INTERVAL:
        return ""
    had = "one launch" if most == 1 else f"{most} launches"
    return f"the run has {had}, too few to show how launches differ"


def noise(view: RunView) -> str:
    return _unless(view.run.noise, "the run did not record the share of the cores that others took")


def detours(view: RunView) -> str:
    """Single samples, and single detours to put beside them."""
    recorded = any(each.start_ns for each in view.run.noise)
    return samples(view) or _unless(recorded, "the run has no times at which its cores were taken")


def sizes(view: RunView) -> str:
    """Breaks need a curve."""
    many = any(len(curve.rows) >= 6 for curve in view.curves)
    return _unless(many, "no benchmark has six sizes or more, so there is no curve to check")
