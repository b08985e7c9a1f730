# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The findings of `explain`: anomalies, their likely causes, and remedies to try."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.row import Row


@dataclass(frozen=True)
class Finding:
    what: str
    """The anomaly, with its numbers."""
    likely: str
    """The likely cause, in words that claim no more than the evidence."""
    evidence: tuple[str, ...]
    """Facts of the run, with their errors."""
    attempts: tuple[str, ...]
    """Remedies to try, the easiest first."""
    cost: float = math.nan
    """The share of the time of all rows, each counted alike, that goes to it; NaN: not known."""
    void: bool = False
    """True if it makes numbers of this run meaningless."""
    rows: tuple[Row, ...] = field(default=(), repr=False)
    """The rows whose times it is about; none: it is not about times."""
    proved: bool = True
    """True if there is evidence in the run for this cause rather than another."""
    cause: str = ""
    """The name of the cause, which `explain` fills in."""
    tentative: str = ""
    """The reason why it is only a hint, which `explain` fills in; empty: it is more."""


@dataclass(frozen=True)
class Blind:
    """A reason why causes were not looked for, or why a part of the run was not read."""

    reason: str
    causes: tuple[str, ...]
    """The causes that were not looked for; none: all had less data."""


@dataclass(frozen=True)
class Explanation:
    findings: tuple[Finding, ...]
    """The findings that void numbers first, then by cost, then those of unknown cost."""
    blind: tuple[Blind, ...]
    looked_for: int
    """The number of causes that were looked for."""
    rows: int
    launches: int
    kind: str = "row"
    """The word for one of the `rows`."""
    whole: str = "the time of all rows, each counted alike"
    """The time of which a cost is a share, in words."""
