# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Recorded runs of one thing at different times, each compared with later ones as stored runs are.

The runs are those of test_history_replay.py: MPICH and Intel MPI, on a machine idle and busy, made
one after the other. Each knows of the runs before it, and never of later ones.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.compare.compare import compare
from mpigauge.result.compare.comparison import Comparison
from mpigauge.result.compare.match.items import items
from mpigauge.result.compare.match.side import Side
from mpigauge.result.stats.history import between, remember
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL
from tests.replay.test_history_replay import GROUPS, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mpigauge.model.between import Remembered
    from mpigauge.model.row import Row
    from mpigauge.result.compare.match.items import Item

APART = (1, 2, 3)
"""Runs are compared with the next one, and with those so many behind."""


def sides(runs: Sequence[Sequence[Row]], run_alone: bool) -> list[Side]:
    memory: list[Remembered] = []
    found = []
    for number, run in enumerate(runs):
        known = between(run, memory)
        rows = [replace(row, scatter=known.of(row.key)) for row in run]
        starts = {launch: f"{number:03} {launch:03}" for row in run for launch in row.numbers}
        found.append(Side(f"run {number}", items(rows), starts, run_alone=run_alone))
        memory.append(remember(run, memory))
    return found


def comparisons(repository: Path, group: str, run_alone: bool) -> Iterator[Comparison]:
    """Those in which anything could be claimed."""
    of_group = sides(recorded(repository, group), run_alone)
    for apart in APART:
        for first, second in zip(of_group, of_group[apart:], strict=False):
            found = compare([first, second])
            launches = (entry.ratio.launches for entry in found.entries if entry.ratio)
            if max(launches, default=0) >= LEAST_FOR_INTERVAL:
                yield found


def is_alarm(found: Comparison) -> bool:
    return any(each.judged and each.judged.verdict in ("LESS", "MORE") for each in found.verdicts)


def test_runs_at_different_times_are_rarely_called_different(repository: Path) -> None:
    """In at most 5 % of comparisons is anything so, in any table, curve or all together."""
    counts = {}
    for run_alone in (True, False):
        found = [each for group in GROUPS for each in comparisons(repository, group, run_alone)]
        assert len(found) > 100
        counts[run_alone] = sum(map(is_alarm, found)) / len(found)
    assert counts[True] <= 0.05
    assert counts[False] > 0.1  # six launches in a row do not know how runs differ


@pytest.mark.parametrize("group", ["intel_idle_6s", "intel_busy_5s"])
def test_all_times_together_find_what_takes_twice_as_long(repository: Path, group: str) -> None:
    of_group = sides(recorded(repository, group), run_alone=True)
    known = of_group[6:]
    told = []
    for first, second in pairwise(known):
        slow = replace(second, items=tuple(longer(item, 2.0) for item in second.items))
        (whole,) = filter(None, compare([first, slow]).overall)
        told.append(whole.verdict)
    assert told.count("SLOWER") >= 0.9 * len(told)


def longer(item: Item, factor: float) -> Item:
    values = tuple(factor * value for value in item.sample.values)
    return replace(item, sample=replace(item.sample, values=values))
