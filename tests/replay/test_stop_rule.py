# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The number of launches of default runs, replayed on recorded launches.

Runs start every six launches of a recorded group and go on into the launches after them. Each
knows the runs before it. The truth of a cell is the median over all launches of its group.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import numpy as np
import pytest

from mpigauge.measuring.campaign.results import Results
from mpigauge.model.between import LEAST_RUNS, Remembered
from mpigauge.model.columns import Cell
from mpigauge.model.record import Key
from mpigauge.model.row import Row
from mpigauge.result.stats.history import remember
from mpigauge.result.stats.order import LOOKS
from tests.cells import cell
from tests.replay.test_history_replay import COLLECTIVES, GROUPS

MOST = 20
APART = 6
PRECISION = 0.1
DATA = Path(__file__).parents[1] / "data/launches.npz"


class DefaultRun(NamedTuple):
    launches: int
    cells: int
    """In all launches."""
    rows: list[Row]


@cache
def launches_of(group: str) -> list[list[Cell]]:
    """The cells of each launch of a group, in the order in which they were measured."""
    with np.load(DATA) as data:
        names = [str(name).split() for name in data[f"{group}_cells"]]
        places = data[f"{group}_places"].tolist()
        times = (data[f"{group}_times"].astype(float) * 1e-6).tolist()
    launches: dict[tuple[int, int], list[Cell]] = {}
    for (run, launch, which), (value, low, high) in zip(places, times, strict=True):
        benchmark, size = names[which]
        sync = "barrier" if benchmark in COLLECTIVES else "none"
        facts = {"time_p50_s": value, "ci_low_s": low, "ci_high_s": high}
        made = cell(benchmark, message_bytes=int(size), sync=sync, **facts)
        launches.setdefault((run, launch), []).append(made)
    return [launches[key] for key in sorted(launches)]


def default_run(launches: list[list[Cell]], earlier: list[Remembered]) -> DefaultRun:
    """A run of these launches, until the rule ends it."""
    results, keys = Results(PRECISION, earlier=earlier, conditions="replay"), None
    for number, cells in enumerate(launches):
        if number in LOOKS:
            outlook = results.look_ahead(MOST - number, keys)
            if results.converged() or outlook.stop:
                return DefaultRun(number, len(results.cells()), results.rows())
            keys = outlook.keys
        for each in cells:
            if keys is None or each.key in keys:
                results.put(replace(each, launch=number))
        results.settle()
    return DefaultRun(len(launches), len(results.cells()), results.rows())


@cache
def replayed(group: str, has_history: bool) -> list[DefaultRun]:
    launches, runs = launches_of(group), list[DefaultRun]()
    earlier: list[Remembered] = []
    for start in range(0, len(launches) - MOST + 1, APART):
        run = default_run(launches[start : start + MOST], earlier if has_history else [])
        runs.append(run)
        earlier.append(remember(run.rows, earlier, "replay", f"{start:04}", f"{start:04}"))
    return runs


def coverage(group: str, runs: list[DefaultRun]) -> float:
    values: dict[Key, list[float]] = {}
    for launch in launches_of(group):
        for each in launch:
            values.setdefault(each.key, []).append(each.time_p50_s)
    truths = {key: median(of) for key, of in values.items()}
    return mean(row.low_s <= truths[row.key] <= row.high_s for run in runs for row in run.rows)


@pytest.mark.parametrize("group", GROUPS)
def test_a_known_machine_needs_fewer_launches(group: str) -> None:
    today, known = replayed(group, False)[LEAST_RUNS:], replayed(group, True)[LEAST_RUNS:]
    assert mean(run.launches for run in known) < 0.9 * mean(run.launches for run in today)
    assert sum(run.cells for run in known) < 0.8 * sum(run.cells for run in today)


@pytest.mark.parametrize("group", GROUPS)
def test_an_unknown_machine_measures_all_cells_in_all_launches(group: str) -> None:
    launches = launches_of(group)
    for number, run in enumerate(replayed(group, True)[:LEAST_RUNS]):
        start = number * APART
        assert run.cells == sum(map(len, launches[start : start + run.launches]))


@pytest.mark.parametrize("group", GROUPS)
def test_its_intervals_cover_the_truth_as_often(group: str) -> None:
    today, known = (coverage(group, replayed(group, each)) for each in (False, True))
    assert known >= min(today, 0.93)


@pytest.mark.parametrize("group", GROUPS)
def test_no_interval_is_wider_than_that_of_as_many_launches(group: str) -> None:
    """Rows of a known machine are those that a run of a fixed number of launches has."""
    launches, start = launches_of(group), LEAST_RUNS * APART
    (run,) = replayed(group, True)[LEAST_RUNS : LEAST_RUNS + 1]
    for row in run.rows:
        own = [
            replace(each, launch=number)
            for number, cells in enumerate(launches[start : start + row.launches])
            for each in cells
            if each.key == row.key
        ]
        assert [each.time_p50_s for each in own] == list(row.values_s)
