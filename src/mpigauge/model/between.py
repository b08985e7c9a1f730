# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a run knows of the runs before it: how far its numbers hold on this machine.

It is stored with the run (history.json), so a run says the same at any time and on any machine.
It names no host, no user and no benchmark: cells are told apart by a hash of their columns.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from mpigauge.model.columns import ABSENT, KEY_COLUMNS

LEAST_RUNS = 5
"""With fewer earlier runs a machine is not known, and a starting value stands for its scatter."""
LEAST_LAUNCHES = 2
"""A cell of fewer launches is not remembered."""
MOST_RUNS = 24
"""So many are remembered; the weight of older ones would be an eighth."""
_MOST_ALIKE = 0.8
_MOST_LOG = 100.0
"""More is not a time that anybody has measured."""


class KnownCell(NamedTuple):
    """What a run leaves of a cell."""

    kind: str
    log: float
    """Of its value in seconds."""
    error: float
    """Standard error of that, as the launches of the run tell it."""
    launches: int


@dataclass(frozen=True)
class Remembered:
    """A run as its machine remembers it."""

    when: str
    """UTC, as 2026-11-21T05:00:00Z."""
    name: str
    """Tells it from others, also when it is remembered again."""
    conditions: str
    """A hash of all that holds for the whole run and moves its values: only cells of the same
    conditions are the same cell."""
    correlation: float
    """Of its launches; may be negative."""
    cells: Mapping[str, KnownCell]
    """By `cell_name`."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"cells": {name: list(of) for name, of in self.cells.items()}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Remembered:
        """ValueError: this is none."""
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
    """How far the value of one cell of a run is to be trusted on this machine."""

    sd: float
    """Standard deviation, between runs, of the logarithm of such a value: what this run does not
    know of itself is in it."""
    low: float
    """The lower end of the 95 % interval for this machine: logarithm of its ratio to the value."""
    high: float
    """The upper end."""
    runs: int = 0
    """Earlier runs that it rests on; fewer than LEAST_RUNS: on the starting value."""
    middle_s: float = math.nan
    """What the earlier runs of this cell have in the middle; NaN: there were too few."""
    outside: bool = False
    """Whether this run is farther from that than the earlier runs were from each other."""

    @property
    def known(self) -> bool:
        """Whether earlier runs tell it, and not the starting value."""
        return self.runs >= LEAST_RUNS


@dataclass(frozen=True)
class Between:
    """What is known of one run between its launches, and between it and other runs."""

    runs: int = 0
    """Earlier runs of this machine and MPI that were remembered."""
    correlation: float = 0.0
    """Of launches that follow each other in this run, as it is reckoned with."""
    cells: Mapping[str, Scatter] = field(default_factory=dict, hash=False)
    """By `cell_name`."""
    remark: str = ""
    """Why nothing of this run could be remembered; empty: it was, or nobody wanted it."""

    def of(self, key: Sequence[Hashable]) -> Scatter | None:
        """The scatter between runs of the cell with this key; None: nothing is known of it."""
        return self.cells.get(cell_name(key))

    @property
    def widening(self) -> float:
        """How many times as wide as of independent launches an interval has to be."""
        alike = min(max(self.correlation, 0.0), _MOST_ALIKE)
        return math.sqrt((1 + alike) / (1 - alike))

    def to_json(self) -> dict[str, Any]:
        cells = {}
        for name, each in self.cells.items():
            cells[name] = {k: v for k, v in asdict(each).items() if v == v}
        known = {"runs": self.runs, "correlation": self.correlation, "cells": cells}
        return known | ({"remark": self.remark} if self.remark else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Between:
        """ValueError: this is none."""
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
    """Of a time, an error, or a ratio of times."""
    number = _finite(value)
    if abs(number) > _MOST_LOG:
        raise ValueError(f"{value} is not a logarithm of a time")
    return number


def cell_name(key: Sequence[Hashable]) -> str:
    """A short name of a cell that tells nothing of what it is made of. Columns at the end that are
    as they were before they existed are left out: what is remembered of a cell outlives them."""
    told = list(key)
    while told and told[-1] == ABSENT.get(KEY_COLUMNS[len(told) - 1], ...):
        told.pop()
    return sha256("\n".join(map(str, told)).encode()).hexdigest()[:16]
