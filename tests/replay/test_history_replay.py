# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How often the ± for a machine covers the truth, replayed on recorded launches.

tests/data/launches.npz holds runs that were made one after the other, MPICH and Intel MPI, on a
machine idle and busy. Each run is judged by the runs before it alone, never by later ones. The
truth of a cell is the median over all launches of its group. A fifth group (MPICH, busy, 16 cells)
was measured with them, but its launches were not kept, so nothing is said of it here.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from mpigauge.model.between import LEAST_LAUNCHES, LEAST_RUNS, Remembered
from mpigauge.result.stats.history import between, remember
from mpigauge.result.stats.launches import rows
from tests.cells import cell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.model.between import Between
    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Key
    from mpigauge.model.row import Row

GROUPS = ("mpich_idle_3s", "intel_idle_6s", "mpich_busy_3s", "intel_busy_5s")
COLLECTIVES = ("Allreduce", "Bcast")
WIDEST = 1.5 * 1.96
"""Robust standard deviations of the runs' values, in the median over all statements."""


class Statement(NamedTuple):
    row: Row
    low: float
    high: float
    """Ends, as times."""
    earlier: int
    outside: bool

    @property
    def half_width(self) -> float:
        value = self.row.cell.time_p50_s
        return max(self.high - value, value - self.low) / value


def recorded(repository: Path, group: str) -> list[list[Row]]:
    """The rows of each run, of the cells with as many launches as are remembered."""
    with np.load(repository / "tests/data/launches.npz") as data:
        names = [str(name).split() for name in data[f"{group}_cells"]]
        places = data[f"{group}_places"].tolist()
        times = (data[f"{group}_times"].astype(float) * 1e-6).tolist()
    runs: dict[int, list[Cell]] = {}
    for (run, launch, which), (value, low, high) in zip(places, times, strict=True):
        benchmark, size = names[which]
        sync = "barrier" if benchmark in COLLECTIVES else "none"
        facts = {"message_bytes": int(size), "launch": launch, "sync": sync}
        facts |= {"time_p50_s": value, "ci_low_s": low, "ci_high_s": high}
        runs.setdefault(run, []).append(cell(benchmark, **facts))
    found = [rows(runs[number]) for number in sorted(runs)]
    return [[row for row in run if row.launches >= LEAST_LAUNCHES] for run in found]


def replayed(
    runs: Sequence[Sequence[Row]], earlier: Sequence[Remembered] = ()
) -> tuple[list[Statement], list[Remembered]]:
    """What each run would have said, and what the machine remembers of all of them."""
    memory, said = list(earlier), []
    for run in runs:
        known = between(run, memory)
        said += statements(run, known, len(memory) - len(earlier))
        memory.append(remember(run, memory))
    return said, memory


def statements(run: Sequence[Row], known: Between, earlier: int) -> list[Statement]:
    found = []
    for row in run:
        scatter = known.of(row.key)
        assert scatter is not None, row.key
        value = row.cell.time_p50_s
        low, high = value * math.exp(scatter.low), value * math.exp(scatter.high)
        found.append(Statement(row, low, high, earlier, scatter.outside))
    return found


def truths(runs: Sequence[Sequence[Row]]) -> dict[Key, float]:
    values: dict[Key, list[float]] = {}
    for run in runs:
        for row in run:
            values.setdefault(row.key, []).extend(row.values_s)
    return {key: median(of) for key, of in values.items()}


def coverage(said: Sequence[Statement], truth: dict[Key, float]) -> float:
    return sum(each.low <= truth[each.row.key] <= each.high for each in said) / len(said)


def widths(said: Sequence[Statement], runs: Sequence[Sequence[Row]]) -> float:
    """The median half width in robust standard deviations of the runs' values of that cell."""
    logs: dict[Key, Any] = {}
    for run in runs:
        for row in run:
            logs.setdefault(row.key, []).append(np.log(row.cell.time_p50_s))
    scatters = {
        key: 1.4826 * float(np.median(np.abs(np.array(of) - np.median(of))))
        for key, of in logs.items()
    }
    return float(median(each.half_width / scatters[each.row.key] for each in said))


@pytest.mark.parametrize("group", GROUPS)
def test_from_the_sixth_run_on_it_covers_the_truth_and_is_not_too_wide(
    repository: Path, group: str
) -> None:
    runs = recorded(repository, group)
    said, _ = replayed(runs)
    known = [each for each in said if each.earlier >= LEAST_RUNS]
    assert coverage(known, truths(runs)) >= 0.9
    assert widths(known, runs) <= WIDEST


@pytest.mark.parametrize("group", GROUPS)
def test_the_first_five_runs_cover_it_from_the_starting_value(repository: Path, group: str) -> None:
    runs = recorded(repository, group)
    said, _ = replayed(runs)
    assert coverage([each for each in said if each.earlier < LEAST_RUNS], truths(runs)) >= 0.8


@pytest.mark.parametrize(
    ("before", "after"),
    [("mpich_idle_3s", "mpich_busy_3s"), ("mpich_busy_3s", "mpich_idle_3s"),
     ("intel_idle_6s", "intel_busy_5s"), ("intel_busy_5s", "intel_idle_6s")],
)  # fmt: skip
def test_it_adapts_to_a_machine_that_is_busy_or_idle_now(
    repository: Path, before: str, after: str
) -> None:
    """From the sixth run in the new state on it covers what that state shows."""
    _, memory = replayed(recorded(repository, before))
    runs = recorded(repository, after)
    said, _ = replayed(runs, memory)
    known = [each for each in said if each.earlier >= LEAST_RUNS]
    assert coverage(known, truths(runs)) >= 0.9


@pytest.mark.parametrize("group", ["mpich_idle_3s", "intel_idle_6s"])
def test_an_idle_machine_is_seldom_outside_of_what_it_has_shown(
    repository: Path, group: str
) -> None:
    runs = recorded(repository, group)
    said, _ = replayed(runs)
    assert sum(each.outside for each in said) <= 0.05 * len(said)


def test_the_first_busy_run_of_an_idle_machine_is_outside(repository: Path) -> None:
    _, memory = replayed(recorded(repository, "mpich_idle_3s"))
    first = recorded(repository, "mpich_busy_3s")[0]
    known = between(first, memory)
    assert all(scatter.outside for scatter in known.cells.values())
