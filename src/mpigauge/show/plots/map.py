# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The map of pairs: a square for every two ranks."""

from __future__ import annotations

from functools import partial
from heapq import nlargest
from typing import TYPE_CHECKING

from mpigauge.draw.plot import Picture
from mpigauge.model.units import byte_count, dotted
from mpigauge.result.run_result import RunResults
from mpigauge.show.formats import svg
from mpigauge.show.formats.map import sheet_lines
from mpigauge.show.kinds import MANY_ROWS, Chosen, plot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document
    from mpigauge.result.pairs import PairMap, Timed


@plot("map", "the time between every two ranks, as `mpigauge map` measures it", choices=())
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    """A picture of each run of which all pairs are known."""
    maps: list[tuple[str, Document]] = []
    for each in shown:
        if each.document.pairs and (each.view.pairs or not each.run.part):
            maps.append((each.name if len(shown) > 1 else "", each.document))
    if not maps:
        return None
    about = (
        "Each square is a pair of ranks, in the order of their seats; darker squares are slower."
    )
    if len(maps) > 1:
        about += " Each has a scale of its own."
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    for name, document in maps:
        if document.pairs:
            rows += _rows(name, document.pairs)
            notes += _left_out(name, document.pairs)
    return Picture(
        title="Between every two ranks",
        about=about,
        svg=svg.maps_beside(maps),
        heads=("", "message size", "one", "other", "measured", "±"),
        rows=tuple(rows),
        notes=tuple(notes),
        fixed=True,
        leading=svg.leading(maps),
        lines=partial(_lines, maps),
    )


def _lines(maps: Sequence[tuple[str, Document]], screen: Screen) -> Iterator[str]:
    first = True
    for name, document in maps:
        if document.pairs is None:
            continue
        for sheet in document.pairs.sheets:
            if not first:
                yield ""
            if name:
                yield name
            yield from sheet_lines(document.pairs, sheet, screen)
            first = False


def _rows(name: str, pair_map: PairMap) -> Iterator[tuple[str, ...]]:
    """A line for each pair; where these are too many, for the slowest of each size."""
    for sheet in pair_map.sheets:
        title, size = dotted(name, sheet.benchmark), byte_count(sheet.message_bytes)
        held: Iterable[tuple[tuple[int, int], Timed]] = sheet.holding.items()
        if len(sheet.holding) > MANY_ROWS:
            held = nlargest(_room(pair_map), held, key=lambda each: each[1].latency.value)
        for (one, other), row in held:
            value = f"{sheet.text(row.latency.value)} {sheet.unit}"
            yield title, size, pair_map.name(one), pair_map.name(other), value, row.error_words


def _left_out(name: str, pair_map: PairMap) -> Iterator[str]:
    for sheet in pair_map.sheets:
        if len(sheet.holding) > MANY_ROWS:
            slowest = f"the {_room(pair_map)} slowest of {len(sheet.holding)} pairs"
            yield (
                f"{dotted(name, sheet.name)}: the table holds {slowest}; "
                "`mpigauge export csv RUN` writes all."
            )


def _room(pair_map: PairMap) -> int:
    """The rows of a table for the pairs of one size."""
    return MANY_ROWS // len(pair_map.sheets)
