# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A default that another setting beats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.arms.arms import options_of
from mpigauge.model.units import percent
from mpigauge.products.explain.needs import REPEATED, arms, launches
from mpigauge.products.explain.registry import cause
from mpigauge.products.explain.rivals import Rival, rivals
from mpigauge.result.finding import Finding
from mpigauge.result.nature import CALLING
from mpigauge.result.stats.remarks import name_cells
from mpigauge.result.words import time

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause(
    "better-setting",
    "a default that another setting beats",
    arms,
    launches,
    of=CALLING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    for best in rivals(view.rows, "arm")[:1]:
        yield finding_of(view, best, f"with {best.name}", _attempts(best))


def finding_of(view: RunView, rival: Rival, how: str, attempts: tuple[str, ...]) -> Finding:
    """The finding on a rival of the default: its gains, and where it loses."""
    own, other = max(rival.faster, key=lambda pair: pair[0].latency.value / pair[1].latency.value)
    worse = name_cells(pair[0] for pair in rival.slower)
    return Finding(
        what=f"{name_cells(pair[0] for pair in rival.faster)}: {how} they take up to "
        f"{percent(max(rival.gains))} less time than by default",
        likely="the default is meant for other machines, sizes or numbers of ranks",
        evidence=(
            (
                f"{own.cell_name}: {time(own)} by default, {time(other)} "
                f"{how}, in {min(own.launches, other.launches)} launches each"
            ),
            f"slower {how}: {worse}" if worse else f"nothing that was measured is slower {how}",
        ),
        attempts=attempts,
        rows=(own, other),
        cost=view.cost(rival.gains),
    )


def _attempts(rival: Rival) -> tuple[str, ...]:
    return (f"{options_of(rival.name)}, and your own program with the same variables",)
