# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shows POP's efficiencies over the iterations of a run, in lines, as JSON and as a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mpigauge.draw.axes import Axis, seconds, share
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.units import duration
from mpigauge.model.width import wrap
from mpigauge.products.profile.analyse.bound import WhatBounds
from mpigauge.products.profile.analyse.efficiencies import LABELS, NAMES
from mpigauge.products.profile.analyse.iterations import Iterations, iterations_of
from mpigauge.products.profile.show.sentences import ratio_words
from mpigauge.products.profile.show.tables import table_lines

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account

HEADS = ("parallel", "balance", "comm.", "serial.", "transfer")
"""The heads of columns for efficiencies.NAMES."""


def iteration_lines(account: Account, width: int) -> Iterator[str]:
    """Yields a table of the efficiencies, if they differ over the run."""
    of = _different(account)
    if of is None:
        return
    rows = []
    for each in of.stretches:
        ratios = [ratio_words(getattr(each, name)) for name in NAMES]
        rows.append([duration(each.begin_s), duration(each.end_s), *ratios])
    yield from table_lines(["from", "to", *HEADS], rows, width)
    yield from wrap(f"Efficiencies differ over the run. {_about(account, of)}", width)


def iteration_rows(account: Account) -> list[dict[str, Any]]:
    """Returns the efficiencies with their intervals, whether they differ or not; empty: the program
    repeats no collective."""
    of = iterations_of(account)
    rows = []
    for each in of.stretches if of else ():
        row: dict[str, Any] = {"begin_s": each.begin_s, "end_s": each.end_s}
        for name in NAMES:
            ratio, column = getattr(each, name), LABELS[name].replace(" ", "_")
            row |= {column: ratio.value, f"{column}_low": ratio.low, f"{column}_high": ratio.high}
        rows.append(row)
    return rows


def iterations(account: Account) -> Picture | None:
    """Draws the efficiencies over the run. None: they do not differ, or cores were lost."""
    of = _different(account)
    if of is None:
        return None
    curves = []
    for name in NAMES:
        points = []
        for each in of.stretches:
            ratio, middle_s = getattr(each, name), (each.begin_s + each.end_s) / 2
            if math.isfinite(ratio.value):
                points.append(Point(middle_s, ratio.value, ratio.low, ratio.high))
        if points:
            curves.append(Series(LABELS[name], tuple(points)))
    x = Axis("time after the first call of MPI", seconds)
    panel = Panel("Efficiencies", x, Axis("efficiency", share), tuple(curves))
    drawn = picture(Plot("Efficiencies over the run", _about(account, of), (panel,)))
    return Picture(**{**vars(drawn), "heads": (), "rows": ()})


def _different(account: Account) -> Iterations | None:
    of = None if WhatBounds(account).is_starved else iterations_of(account)
    return of if of and of.differ else None


def _about(account: Account, of: Iterations) -> str:
    spot = account.profile.spots[of.site]
    where = account.where(spot)
    return (
        f"An iteration ends with {spot.call}{f' in {where}' if where else ''}; errors are from the "
        "spread of iterations."
    )
