# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What `explain` says: what stands out, why it is so in all likelihood, and what to try."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.row import Row


@dataclass(frozen=True)
class Finding:
    what: str
    """What stands out, with its numbers."""
    likely: str
    """The likely cause, in words that claim no more than the evidence."""
    evidence: tuple[str, ...]
    """Facts of the run, with their errors."""
    attempts: tuple[str, ...]
    """What to try, the easiest first."""
    cost: float = math.nan
    """The share of the time of all rows, each counted alike, that goes to it; NaN: not known."""
    void: bool = False
    """Whether numbers of this run mean nothing because of it."""
    rows: tuple[Row, ...] = field(default=(), repr=False)
    """Whose times it is about; none: it is not a statement about times."""
    proved: bool = True
    """Whether something in the run speaks for this cause rather than for another."""
    cause: str = ""
    """The name of the cause, which `explain` fills in."""
    tentative: str = ""
    """Why it is no more than a hint, which `explain` fills in; empty: it is more."""


@dataclass(frozen=True)
class Blind:
    """Why some causes could not be looked for, or what of the run could not be read."""

    reason: str
    causes: tuple[str, ...]
    """None: all had less to look at."""


@dataclass(frozen=True)
class Explanation:
    findings: tuple[Finding, ...]
    """What voids numbers first, then the dearest, then those of unknown cost."""
    blind: tuple[Blind, ...]
    looked_for: int
    """How many causes there are."""
    rows: int
    launches: int
    kind: str = "row"
    """What they are."""
    whole: str = "the time of all rows, each counted alike"
    """What a cost is a share of."""
