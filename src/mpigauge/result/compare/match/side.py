# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One side of a comparison: a run, or the part of a run that has one setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.result.compare.match.items import Item


@dataclass(frozen=True)
class Side:
    name: str
    items: tuple[Item, ...]
    starts: Mapping[int, str] = field(default_factory=dict, hash=False)
    """The start time of each launch; the texts sort by time."""
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Facts that hold for all of its numbers and may differ: hosts, settings."""
    lost_ratio: float = 0.0
    """Share of the cores that others took while it was measured."""
    has_failed: bool = False
    """True if launches of this setting of a sweep failed: numbers that it lacks are failures."""
    run_alone: bool = False
    """True for a run of its own: the scatter between runs counts, unless its launches alternated
    with the first side's."""
