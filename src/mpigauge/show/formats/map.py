# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The map of pairs for a terminal: numbers where there is room, else shades from fast to slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.draw.scale import ColourScale
from mpigauge.draw.terminal.heat import legend, on, squares
from mpigauge.model.errors import UserError
from mpigauge.model.screen import PLAIN
from mpigauge.model.units import many, plus_minus
from mpigauge.model.width import WIDTH, as_blocks, broken, right_aligned, widths
from mpigauge.result.pairs import ABOUT as LEVELS
from mpigauge.show.ending import last_lines
from mpigauge.show.heading import heading, note_lines
from mpigauge.show.pairs import calm_lines, odd_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document
    from mpigauge.result.pairs import PairMap, Sheet
    from mpigauge.result.stats.peers import PeerGroup

ABOUT = "times between every two ranks, as `mpigauge map` measures them"
PAIRS = True


def render(document: Document, screen: Screen = PLAIN) -> str:
    pair_map = document.pairs
    if pair_map is None:
        raise UserError("this run holds no pairs of ranks; `mpigauge map` measures them")
    blocks = [heading(document.facts), note_lines(document, screen.coloured)]
    for sheet in pair_map.sheets:
        blocks.append(list(sheet_lines(pair_map, sheet, screen)))
    blocks.append(last_lines(document, colour=screen.coloured))
    return as_blocks(blocks)


def sheet_lines(pair_map: PairMap, sheet: Sheet, screen: Screen = PLAIN) -> Iterator[str]:
    """The matrix, what the levels cost, and who is odd."""
    wide = min(screen.width, WIDTH)  # of sentences, for the sake of reading
    title = f"{sheet.name}, {sheet.unit} between every two ranks"
    yield from broken([title], indent="", width=wide)
    yield from _matrix(pair_map, sheet, screen)
    yield ""
    sentences = (*_clusters(sheet), *odd_lines(pair_map, sheet), *calm_lines(sheet))
    yield from broken(sentences, width=wide)


def _matrix(pair_map: PairMap, sheet: Sheet, screen: Screen) -> Iterator[str]:
    """The matrix: as numbers if they fit, else as shades."""
    names = [pair_map.name(rank) for rank in range(len(pair_map.seats))]
    wide = max(map(len, names))
    scale = ColourScale.of(row.latency.value for row in sheet.rows.values())
    times = {pair: row.latency.value for pair, row in sheet.holding.items()}
    texts, column = [], len(str(len(names) - 1)) + 1
    if wide + 6 + column * len(names) <= screen.width:
        texts = [sheet.text(time) for time in times.values()]
        column = max(column, 1 + max(map(len, texts)))
    if wide + 6 + column * len(names) <= screen.width:
        painted = {}
        for (pair, time), text in zip(times.items(), texts, strict=True):
            painted[pair] = on(f"{text:>{column}}", time, scale, screen)
        yield from _numbers(names, painted, wide, column)
        return

    yield from squares(len(names), times, scale, screen)
    yield legend(scale, lambda time: f"{sheet.text(time)} {sheet.unit}", screen)


def _numbers(
    names: list[str], texts: dict[tuple[int, int], str], wide: int, column: int
) -> Iterator[str]:
    many = range(len(names))
    yield f"{'rank':>{wide + 6}}" + "".join(f"{rank:>{column}}" for rank in many)
    for row in many:
        line = f"{names[row]:<{wide}} {row:>5}"
        for at in many:
            nothing = "–" if row == at else ""
            text = texts.get((min(row, at), max(row, at)), nothing)
            line += f"{text:>{column}}"
        yield line.rstrip()


def _clusters(sheet: Sheet) -> Iterator[str]:
    """A line for each level: its median, between what its pairs lie, and how exact they are."""
    words = [_cluster(sheet, cluster) for cluster in sheet.clusters]
    wide = widths(words)
    for name, *rest in words:
        yield f"{name:<{wide[0]}}  {right_aligned(rest, wide[1:], '  ')}".rstrip()


def _cluster(sheet: Sheet, cluster: PeerGroup) -> tuple[str, ...]:
    low, high = min(cluster.times), max(cluster.times)
    error = cluster.error_s / cluster.median_s
    return (
        LEVELS[cluster.level],
        f"{sheet.text(cluster.median_s)} {sheet.unit}",
        plus_minus(error),
        f"{sheet.text(low)} … {sheet.text(high)}",
        many(len(cluster.pairs), "pair"),
    )
