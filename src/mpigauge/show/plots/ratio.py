# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The times of several runs by those of the first, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot
from mpigauge.show.ratios import compared_picture

if TYPE_CHECKING:
    from mpigauge.draw.plot import Picture


@plot("ratio", "the time of each run by that of the first, with its interval", least_runs=2)
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    if shown.comparison is None:
        return None
    return compared_picture(shown.comparison, chosen)
