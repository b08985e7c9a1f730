# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The map of pairs: a square for every two ranks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from mpigauge.model.units import byte_count, plus_minus
from mpigauge.report.formats import svg
from mpigauge.report.formats.map import sheet_lines
from mpigauge.report.kinds import Chosen, Shown, plot
from mpigauge.report.plot import Picture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.analyse.pairs import PairMap
    from mpigauge.model.screen import Screen


@plot("map", "the time between every two ranks, as `mpigauge map` measures it")
def draw(shown: Sequence[Shown], chosen: Chosen) -> Picture | None:  # noqa: ARG001
    """Of the first run."""
    found = shown[0].document.pairs
    if found is None:
        return None
    return Picture(
        title="Between every two ranks",
        about="A square for every two ranks, the darker the slower; ranks in the order of seats.",
        svg=svg.render(shown[0].document),
        heads=("", "message size", "one", "other", "measured", "±"),
        rows=tuple(_rows(found)),
        fixed=True,
        lines=partial(_lines, found),
    )


def _lines(found: PairMap, screen: Screen) -> Iterator[str]:
    for number, sheet in enumerate(found.sheets):
        yield from ([""] if number else [])
        yield from sheet_lines(found, sheet, screen)


def _rows(found: PairMap) -> Iterator[tuple[str, ...]]:
    for sheet in found.sheets:
        for (one, other), row in sheet.holding.items():
            value = f"{sheet.text(row.latency.value)} {sheet.unit}"
            size = byte_count(sheet.message_bytes)
            ends = found.name(one), found.name(other)
            yield sheet.benchmark, size, *ends, value, plus_minus(row.relative_error)
