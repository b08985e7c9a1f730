# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The scatter between runs: how far the numbers of a run hold on its machine, given earlier runs.

It is stored with the run (history.json), so a run is shown the same at any time and on any machine.
It names no host, no user and no benchmark: cells are identified by a hash of their columns.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from mpigauge.model.columns import ABSENT, KEY_COLUMNS

LEAST_RUNS = 5
"""The fewest earlier runs that give a machine's own scatter; below that a starting value is used.
"""
LEAST_LAUNCHES = 2
"""The fewest launches of a cell that is remembered."""
MOST_RUNS = 24
"""The most runs that are remembered; the weight of older ones would be below an eighth."""
_MOST_ALIKE = 0.8
_MOST_LOG = 100.0
"""The largest magnitude of a logarithm; more is no measured time."""


class KnownCell(NamedTuple):
    """The part of a cell that is remembered of a run."""

    kind: str
    log: float
    """Logarithm of the cell's value in seconds."""
    error: float
    """Standard error of `log`, estimated from the launches of the run."""
    launches: int


@dataclass(frozen=True)
class Remembered:
    """A run as it is kept in the history of its machine."""

    when: str
    """UTC, as 2026-11-21T05:00:00Z."""
    name: str
    """A unique name of the run, which stays when the run is remembered again."""
    conditions: str
    """A hash of all that holds for the whole run and moves its values: only cells of the same
    conditions are the same cell."""
    correlation: float
    """Correlation of consecutive launches; may be negative."""
    cells: Mapping[str, KnownCell]
    """The cells by `cell_name`."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"cells": {name: list(of) for name, of in self.cells.items()}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Remembered:
        """ValueError: the data is not a remembered run."""
        try:
            cells = {
                str(name): KnownCell(
                    str(kind), _logarithm(log), _logarithm(error), max(int(launches), 1)
                )
                for name, (kind, log, error, launches) in data["cells"].items()
            }
            words = [str(data[name]) for name in ("when", "name", "conditions")]
            return cls(words[0], words[1], words[2], _finite(data["correlation"]), cells)
        except (AttributeError, KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"no remembered run: {error!r}") from None


@dataclass(frozen=True)
class Scatter:
    """The scatter of one cell on this machine: how far its value is to be trusted."""

    sd: float
    """Standard deviation, between runs, of the logarithm of such a value, including the part that
    the launches of one run cannot show."""
    low: float
    """The lower end of the 95 % interval for this machine: logarithm of its ratio to the value."""
    high: float
    """The upper end."""
    runs: int = 0
    """Earlier runs that the scatter rests on; fewer than LEAST_RUNS: it is the starting value."""
    middle_s: float = math.nan
    """Weighted median of this cell in earlier runs, in seconds; NaN: there were too few."""
    outside: bool = False
    """True if this run is farther from that median than the earlier runs were from each other."""

    @property
    def is_known(self) -> bool:
        """True if earlier runs give the scatter, not the starting value."""
        return self.runs >= LEAST_RUNS


@dataclass(frozen=True)
class Between:
    """The correlation of a run's launches, and the scatter between it and other runs."""

    runs: int = 0
    """Earlier runs of this machine and MPI in the history."""
    correlation: float = 0.0
    """Correlation of consecutive launches in this run, shrunk towards earlier runs."""
    cells: Mapping[str, Scatter] = field(default_factory=dict, hash=False)
    """The scatter of each cell, by `cell_name`."""
    remark: str = ""
    """The reason why nothing of this run could be remembered; empty: it was, or nobody asked for
    it."""

    def of(self, key: Sequence[Hashable]) -> Scatter | None:
        """The scatter between runs of the cell with this key; None: it does not exist."""
        return self.cells.get(cell_name(key))

    @property
    def widening(self) -> float:
        """Factor by which an interval is wider than that of independent launches."""
        alike = min(max(self.correlation, 0.0), _MOST_ALIKE)
        return math.sqrt((1 + alike) / (1 - alike))

    def to_json(self) -> dict[str, Any]:
        cells = {}
        for name, each in self.cells.items():
            cells[name] = {k: v for k, v in asdict(each).items() if v == v}
        data = {"runs": self.runs, "correlation": self.correlation, "cells": cells}
        return data | ({"remark": self.remark} if self.remark else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Between:
        """ValueError: the data does not describe earlier runs."""
        try:
            cells = {str(name): _scatter(each) for name, each in data["cells"].items()}
            remark = str(data.get("remark", ""))
            return cls(int(data["runs"]), _finite(data["correlation"]), cells, remark)
        except (AttributeError, KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"no statement about earlier runs: {error!r}") from None


def _scatter(data: Mapping[str, Any]) -> Scatter:
    sd, low, high = (_logarithm(data[name]) for name in ("sd", "low", "high"))
    middle = float(data.get("middle_s", math.nan))
    outside = bool(data["outside"]) and middle > 0
    return Scatter(sd, low, high, int(data["runs"]), middle, outside)


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value} is not a number")
    return number


def _logarithm(value: Any) -> float:
    """The logarithm of a time, an error, or a ratio of times. ValueError: its magnitude is too
    large."""
    number = _finite(value)
    if abs(number) > _MOST_LOG:
        raise ValueError(f"{value} is not a logarithm of a time")
    return number


def cell_name(key: Sequence[Hashable]) -> str:
    """A short name of a cell that does not reveal its columns. Columns at the end that have the
    value for data older than the column are left out, so the name outlives the addition of a
    column."""
    columns = list(key)
    while columns and columns[-1] == ABSENT.get(KEY_COLUMNS[len(columns) - 1], ...):
        columns.pop()
    return sha256("\n".join(map(str, columns)).encode()).hexdigest()[:16]
