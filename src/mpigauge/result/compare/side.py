# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One of the things that are compared: a run, or what has one setting within a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.result.compare.items import Item


@dataclass(frozen=True)
class Side:
    name: str
    items: tuple[Item, ...]
    starts: Mapping[int, str] = field(default_factory=dict, hash=False)
    """When each launch began; its text is in the order of time."""
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What holds for all of its numbers and may differ: hosts, settings."""
    lost_ratio: float = 0.0
    """Share of the cores that others took while it was measured."""
    run_alone: bool = False
    """It is a run of its own: what runs of its machine differ by counts, unless its launches were
    taken in turn with those of the first."""
