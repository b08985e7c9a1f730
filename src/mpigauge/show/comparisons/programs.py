# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Sentences on which MPI is faster for a user's program, one for each of its figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.row import Estimate
from mpigauge.model.units import number

if TYPE_CHECKING:
    from mpigauge.result.compare.comparison import ComparedNumber, Comparison
    from mpigauge.result.compare.match.items import Item
    from mpigauge.runs.store import Run

SECONDS = "s"


def own_programs(runs: Sequence[Run]) -> list[set[str]]:
    """The programs of each run that took its MPI by themselves, since they were linked to it."""
    names = []
    for run in runs:
        programs = run.header.get("programs") or ()
        names.append({str(each["name"]) for each in programs if each["how"] == "own"})
    return names


def sentences(comparison: Comparison, own: Sequence[set[str]]) -> list[str]:
    """app on intel 2021.18.1: 1.31 × [1.27, 1.36] faster than on its own openmpi 5.0.11. `own`: of
    each side the programs that were linked to its MPI."""
    if len(own) != len(comparison.names):
        return []
    return [str(each) for each in _each(comparison, own)]


def _each(comparison: Comparison, own: Sequence[set[str]]) -> Iterator[_Sentence]:
    for table in comparison.tables:
        if not _is_of_a_program(table.first):
            continue
        names = []
        for name, programs in zip(comparison.names, own, strict=True):
            names.append(_named(name, table.first.benchmark, programs))
        for line in table.lines:
            for name, entry in zip(names[1:], line[1:], strict=True):
                if entry.item and entry.judged:
                    yield _Sentence(entry.item, entry, name, names[0])


def _is_of_a_program(item: Item) -> bool:
    """A figure that one of its launches brought, with a direction."""
    return bool(item.figure and item.figure.source == item.benchmark and item.better)


def _named(mpi: str, program: str, own: set[str]) -> str:
    if program in own:
        return f"its own {mpi}"
    return mpi


@dataclass(frozen=True)
class _Sentence:
    item: Item
    entry: ComparedNumber
    here: str
    first: str

    def __str__(self) -> str:
        return f"{self.item.benchmark} on {self.here}: {self.verdict}."

    @property
    def verdict(self) -> str:
        verdict = self.entry.judged.verdict if self.entry.judged else ""
        why = self.entry.undecided
        ratio = self.entry.ratio
        if ratio is None or not math.isfinite(ratio.estimate.low):
            return f"undecided against {self.first} ({why})"
        times = f"{_times(ratio.estimate)} {self.what}"
        if verdict == "UNDECIDED":
            text = f"undecided, {times} of {self.first}"
            if why:
                return f"{text} ({why})"
            return text
        if verdict == "SAME":
            return f"the same as on {self.first}, {times}"
        if verdict == "LESS":
            return f"{_times(ratio.estimate.under(1))} {self.word} than on {self.first}"
        return f"{_times(ratio.estimate)} {self.word} than on {self.first}"

    @property
    def what(self) -> str:
        if self.item.unit == SECONDS:
            return "the time"
        return f"the {self.item.what}"

    @property
    def word(self) -> str:
        """The meaning of more or less of this figure."""
        if self.item.unit == SECONDS:
            if self.entry.worse:
                return "slower"
            return "faster"
        direction = "worse" if self.entry.worse else "better"
        return f"{direction} in {self.item.what}"


def _times(ratio: Estimate) -> str:
    """1.31 × [1.27, 1.36]"""
    value, low, high = (number(each, ratio.error) for each in ratio)
    return f"{value} × [{low}, {high}]"
