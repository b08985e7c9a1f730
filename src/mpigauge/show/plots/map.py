# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The map of pairs: a square for every two ranks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mpigauge.draw.plot import Picture
from mpigauge.model.units import byte_count, dotted
from mpigauge.result.run_result import RunResults
from mpigauge.show.formats import svg
from mpigauge.show.formats.map import sheet_lines
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document
    from mpigauge.result.pairs import PairMap


@plot("map", "the time between every two ranks, as `mpigauge map` measures it")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    """A picture of each run that has pairs and is whole."""
    found: list[tuple[str, Document]] = []
    for each in shown:
        if each.document.pairs and not each.run.part:
            found.append((each.name if len(shown) > 1 else "", each.document))
    if not found:
        return None
    about = "A square for every two ranks, the darker the slower; ranks in the order of seats."
    if len(found) > 1:
        about += " Each has a scale of its own."
    rows: list[tuple[str, ...]] = []
    for name, document in found:
        rows += _rows(name, document.pairs)
    return Picture(
        title="Between every two ranks",
        about=about,
        svg=svg.maps_beside(found),
        heads=("", "message size", "one", "other", "measured", "±"),
        rows=tuple(rows),
        fixed=True,
        leading=svg.leading(found),
        lines=partial(_lines, found),
    )


def _lines(found: Sequence[tuple[str, Document]], screen: Screen) -> Iterator[str]:
    first = True
    for name, document in found:
        if document.pairs is None:
            continue
        for sheet in document.pairs.sheets:
            if not first:
                yield ""
            if name:
                yield name
            yield from sheet_lines(document.pairs, sheet, screen)
            first = False


def _rows(name: str, found: PairMap | None) -> Iterator[tuple[str, ...]]:
    if found is None:
        return
    for sheet in found.sheets:
        title, size = dotted(name, sheet.benchmark), byte_count(sheet.message_bytes)
        for (one, other), row in sheet.holding.items():
            value = f"{sheet.text(row.latency.value)} {sheet.unit}"
            yield title, size, found.name(one), found.name(other), value, row.error_words
