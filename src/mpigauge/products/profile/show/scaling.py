# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints how a program scales: POP's efficiencies by number of ranks, as a table and a plot."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mpigauge.draw import chart, terminal
from mpigauge.draw.axes import Axis, plain, share
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.fields import plain as plain_value
from mpigauge.model.spreadsheet import csv_text
from mpigauge.model.units import duration, listed, many, number
from mpigauge.model.width import as_blocks, wrap
from mpigauge.products.profile.show.sentences import ratio_words
from mpigauge.products.profile.show.tables import table_lines

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen
    from mpigauge.products.profile.analyse.entries import TimeWithInterval
    from mpigauge.products.profile.analyse.scaling import Scaling, ScalingPoint

TREE = (
    ("global efficiency", "overall", 0),
    ("parallel efficiency", "parallel", 1),
    ("load balance", "load_balance", 2),
    ("communication efficiency", "communication", 2),
    ("serialisation", "serialisation", 3),
    ("transfer", "transfer", 3),
    ("computation scaling", "computation", 1),
)
"""The efficiencies by name and depth; each is the product of those below it."""
_INDENT = "  "


def ratio_of(point: ScalingPoint, name: str) -> TimeWithInterval:
    """Returns an efficiency of TREE."""
    if name in ("overall", "computation"):
        ratio: TimeWithInterval = getattr(point, name)
        return ratio
    return point.efficiencies.interval(name)


def text_of(scaling: Scaling, screen: Screen, width: int) -> str:
    """Returns the table, the plot and remarks."""
    drawn = picture_of(scaling)
    blocks = [
        list(_heading(scaling, width)),
        list(_table(scaling, width)),
        list((terminal.lines(drawn, screen) if drawn else None) or ()),
        list(_remarks(scaling, width)),
    ]
    return as_blocks([block for block in blocks if block])


def _heading(scaling: Scaling, width: int) -> Iterator[str]:
    program = scaling.points[0].side.jobs[0].program
    how = (
        "inferred from the computation of all ranks together; --scaling sets it"
        if scaling.is_inferred
        else "as given by --scaling"
    )
    ranks = listed(str(point.ranks) for point in scaling.points)
    yield from wrap(f"{program} on {ranks} ranks: {scaling.kind} scaling ({how})", width)
    for point in scaling.points:
        launches = many(len(point.side.accounts), "launch")
        yield f"{point.side.name}: {many(point.ranks, 'rank')}, {launches}"


def _table(scaling: Scaling, width: int) -> Iterator[str]:
    heads = ["", *(many(point.ranks, "rank") for point in scaling.points)]
    rows = [
        ["run time", *(duration(point.run_s.value) for point in scaling.points)],
        ["speedup", *(number(point.speedup.value) for point in scaling.points)],
    ]
    for label, name, depth in TREE:
        row = [_INDENT * depth + label]
        for point in scaling.points:
            row.append("" if point.is_starved else ratio_words(ratio_of(point, name)))
        rows.append(row)
    yield from table_lines(heads, rows, width)


def _remarks(scaling: Scaling, width: int) -> Iterator[str]:
    starved = [point.side.name for point in scaling.points if point.is_starved]
    if starved:
        yield from wrap(
            f"{listed(starved)}: ranks were kept from their cores, so no efficiency is judged; "
            "`mpigauge explain` of it names them.",
            width,
        )
    yield from wrap(
        f"Speedup and computation scaling are over {scaling.points[0].side.name}"
        f"{', per rank' if scaling.kind == 'weak' else ''}. Each efficiency is the product of "
        "those indented below it; serialisation and transfer are estimates.",
        width,
    )


def picture_of(scaling: Scaling) -> Picture | None:
    """Draws the efficiencies over the number of ranks. None: none is known."""
    curves = []
    for label, name, _ in TREE:
        points = []
        for point in scaling.points:
            ratio = ratio_of(point, name)
            if not point.is_starved and math.isfinite(ratio.value):
                points.append(Point(float(point.ranks), ratio.value, ratio.low, ratio.high))
        if points:
            curves.append(Series(label, tuple(points)))
    if not curves:
        return None
    panel = Panel(
        "Efficiency by ranks", Axis("ranks", plain, 2), Axis("efficiency", share), tuple(curves)
    )
    about = "The plot shows POP's efficiencies over the number of ranks; 100 % is ideal."
    return chart.picture(Plot("Scaling", about, (panel,)))


# --- for programs ---------------------------------------------------------------------------------
def as_csv(scaling: Scaling) -> str:
    heads = ["run", "ranks", "launches", "scaling", "inferred", "run_s", "speedup"]
    heads += [name for _, name, _ in TREE]
    rows: list[Sequence[Any]] = [heads]
    for point in scaling.points:
        row: list[Any] = [point.side.name, point.ranks, len(point.side.accounts)]
        row += [scaling.kind, int(scaling.is_inferred), point.run_s.value, point.speedup.value]
        for _, name, _ in TREE:
            value = ratio_of(point, name).value
            row.append(value if math.isfinite(value) else "")
        rows.append(row)
    return csv_text(rows)


def as_json(scaling: Scaling) -> str:
    points = []
    for point in scaling.points:
        numbers: dict[str, Any] = {
            "run": point.side.name,
            "ranks": point.ranks,
            "launches": len(point.side.accounts),
            "starved": point.is_starved,
            **_ends("run_s", point.run_s),
            **_ends("speedup", point.speedup),
        }
        for label, name, _ in TREE:
            numbers |= _ends(label.replace(" ", "_"), ratio_of(point, name))
        points.append(numbers)
    data = {"scaling": scaling.kind, "inferred": scaling.is_inferred, "points": points}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _ends(name: str, ratio: TimeWithInterval) -> dict[str, Any]:
    return {
        name: plain_value(ratio.value),
        f"{name}_low": plain_value(ratio.low),
        f"{name}_high": plain_value(ratio.high),
    }
