# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The map of pairs: a square for every two ranks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mpigauge.draw.plot import Picture
from mpigauge.model.units import byte_count
from mpigauge.result.run_result import RunResults
from mpigauge.show.formats import svg
from mpigauge.show.formats.map import sheet_lines
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document
    from mpigauge.result.pairs import PairMap


@plot("map", "the time between every two ranks, as `mpigauge map` measures it")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    """Of each run that has pairs and is whole."""
    found = {
        each.name if len(shown) > 1 else "": each.document
        for each in shown
        if each.document.pairs and not each.run.part
    }
    if not found:
        return None
    several = " Each has a scale of its own." if len(found) > 1 else ""
    about = "A square for every two ranks, the darker the slower; ranks in the order of seats."
    return Picture(
        title="Between every two ranks",
        about=about + several,
        svg=svg.drawn(list(found.items())),
        heads=("", "message size", "one", "other", "measured", "±"),
        rows=tuple(row for name, of in found.items() if of.pairs for row in _rows(name, of.pairs)),
        fixed=True,
        leading=svg.leading(list(found.items())),
        lines=partial(_lines, found),
    )


def _lines(found: Mapping[str, Document], screen: Screen) -> Iterator[str]:
    number = 0
    for name, of in found.items():
        for sheet in of.pairs.sheets if of.pairs else ():
            yield from ([""] if number else [])
            yield from ([name] if name else [])
            yield from sheet_lines(of.pairs, sheet, screen) if of.pairs else ()
            number += 1


def _rows(name: str, found: PairMap) -> Iterator[tuple[str, ...]]:
    for sheet in found.sheets:
        for (one, other), row in sheet.holding.items():
            value = f"{sheet.text(row.latency.value)} {sheet.unit}"
            size = byte_count(sheet.message_bytes)
            ends = found.name(one), found.name(other)
            yield (
                " · ".join(filter(None, (name, sheet.benchmark))),
                size,
                *ends,
                value,
                row.error_words,
            )
