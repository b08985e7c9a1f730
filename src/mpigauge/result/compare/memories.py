# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Kinds of memory of the data against each other, measured in turn in the same launches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.column_facts import place
from mpigauge.model.data_memory import COLUMN
from mpigauge.result.compare.compare import compare, split
from mpigauge.result.compare.comparison import Comparison

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.model.row import Row


def between_memories(rows: Sequence[Row], starts: Mapping[int, str]) -> tuple[Comparison, ...]:
    """Every kind of memory against all that come after it in the order of the vocabulary; empty:
    the run has one kind."""
    measured = _on_the_same_gpus([row for row in rows if not row.cell.source])
    if len({row.cell.memory for row in measured}) < 2:
        return ()
    sides = split(measured, (), COLUMN, starts)
    sides.sort(key=lambda side: place(COLUMN, side.name))
    comparisons = (compare(sides[n:], varied=COLUMN, curves=False) for n in range(len(sides) - 1))
    return tuple(_of_like(comparisons))


def _on_the_same_gpus(rows: Sequence[Row]) -> list[Row]:
    """The rows with the same `sharing`: buffers on the host belong to ranks of the same launches,
    which share GPUs or do not."""
    sharing = max((row.cell.sharing for row in rows), default="")
    return [replace(row, cell=replace(row.cell, sharing=sharing)) for row in rows]


def _of_like(comparisons: Iterator[Comparison]) -> Iterator[Comparison]:
    """The comparisons that hold anything; benchmarks that one kind lacks are no remark."""
    for comparison in comparisons:
        refused = tuple(each for each in comparison.left_out if each.refused)
        if comparison.tables or refused:
            yield replace(comparison, left_out=refused)
