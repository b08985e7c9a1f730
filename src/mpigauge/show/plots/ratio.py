# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The times of several runs by those of the first, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mpigauge.show.kinds import Chosen, Shown, plot
from mpigauge.show.ratios import compared_picture
from mpigauge.show.several import compared

if TYPE_CHECKING:
    from mpigauge.draw.plot import Picture


@plot("ratio", "the time of each run by that of the first, with its interval", least_runs=2)
def draw(shown: Sequence[Shown], chosen: Chosen) -> Picture | None:
    comparison = compared(shown)
    return compared_picture(comparison, chosen) if comparison else None
