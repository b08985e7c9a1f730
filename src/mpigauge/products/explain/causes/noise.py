# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Cores of which others take a part."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.model.units import duration, first_few, percent
from mpigauge.products.explain.needs import FACT, noise
from mpigauge.products.explain.places import has_free_cores
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY

if TYPE_CHECKING:
    from mpigauge.model.record import Noise
    from mpigauge.result.run_view import RunView

LEAST_LOST, LEAST_TAINTED = 0.02, 0.1


@cause("noise", "cores of which other programs take a part", noise, of=ANY, sure_from=FACT)
def look(view: RunView) -> Iterator[Finding]:
    loud = [each for each in view.run.noise if _is_loud(each)]
    tainted = median(row.cell.tainted_ratio for row in view.rows)
    worst = max(view.run.noise, key=lambda each: each.lost_ratio)
    if loud:
        cores = [f"core {each.cpu} of rank {each.rank}" for each in loud]
        what = f"others take up to {percent(worst.lost_ratio)} of {first_few(cores)}"
    elif tainted > LEAST_TAINTED:
        what = f"half of the rows were disturbed in {percent(tainted)} of their visits"
    else:
        return
    attempts = ["`mpigauge doctor noise load`, and end what it shows; the whole node for the job"]
    if has_free_cores(view):
        attempts.append("other cores: --place cores:…")
    yield Finding(
        what=what,
        likely="other programs, daemons or timer ticks on the cores that were measured",
        evidence=(
            (
                f"core {worst.cpu} lost {percent(worst.lost_ratio)} of {duration(worst.seconds)} "
                f"{worst.when} launch {worst.launch}, in {worst.detours} detours, the longest "
                f"{duration(worst.longest_s)}"
            ),
            (
                f"a rank was switched out or moved in {percent(tainted)} of the "
                f"visits to a row (median over rows)"
            ),
        ),
        attempts=tuple(attempts),
    )


def is_loud(view: RunView) -> bool:
    """True if other programs were at work on the cores that were measured."""
    return any(map(_is_loud, view.run.noise))


def _is_loud(each: Noise) -> bool:
    return each.lost_ratio > LEAST_LOST
