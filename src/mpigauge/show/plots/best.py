# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The gain of each setting, transport or placement over the default, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot
from mpigauge.show.ratios import ratio_panels, ratio_picture

if TYPE_CHECKING:
    from mpigauge.draw.plot import Panel, Picture


@plot("best", "the time under each setting by that of the default, with its interval")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    """A picture of each run that varies something; panels are named by their runs where these are
    several."""
    panels: list[Panel] = []
    defaults: set[str] = set()
    for each in shown:
        if each.arms:
            of = f"{each.name}: " if len(shown) > 1 else ""
            panels += ratio_panels(each.arms, chosen, of)
            defaults.add(each.arms.names[0])
    first = defaults.pop() if len(defaults) == 1 else "its default"
    return ratio_picture(panels, first, "Arms")
