# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The map of pairs as one plain picture: a matrix for each size, ranks in the order of seats."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from mpigauge.draw import styles
from mpigauge.draw.document import svg_document
from mpigauge.draw.scale import ColourScale
from mpigauge.draw.squares import square
from mpigauge.model.errors import UserError
from mpigauge.model.screen import PLAIN
from mpigauge.model.units import many
from mpigauge.result.pairs import ABOUT as LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document
    from mpigauge.result.facts import Facts
    from mpigauge.result.pairs import PairMap, Sheet, Timed

    Held = tuple[tuple[int, int], Timed]
    """Two ranks, and what was measured between them."""
    Found = tuple[str, PairMap, Sheet, Facts]
    """The name of a run, and what its document holds."""

ABOUT = "the picture of a map, to be written to a file"
PAIRS = True
_MARGIN, _TOP, _LINE = 90, 70, 18
_SQUARE, _LEAST_SIDE, _MOST_SIDE, _SMALL_SIDE = 52, 156, 640, 220
"""The side of a square for two ranks, the limits of the side of a matrix, and its side on a first
screen."""
_LEAST_WIDE, _PAGE_WIDE = 600, 1240
_MOST_LETTERS = 78
_LABEL = 16
"""The height of the name of a rank."""
_LEAST_SQUARE = _MOST_SIDE / 96
"""The side of a square; with more ranks each square stands for several, and shows the slowest."""


def render(document: Document, screen: Screen = PLAIN) -> str:  # noqa: ARG001
    if document.pairs is None:
        raise UserError("this run holds no pairs of ranks; `mpigauge map` measures them")
    return maps_beside([("", document)])


def maps_beside(named: Sequence[tuple[str, Document]]) -> str:
    """The maps of these runs beside each other, as far as they hold any; one at least does. The
    names tell them apart."""
    return _beside(_sheets(named), _MOST_SIDE)


def leading(named: Sequence[tuple[str, Document]]) -> tuple[str, ...]:
    """Pictures of the first map of each run, each size small and in a picture of its own."""
    return tuple(_beside([sheet], _SMALL_SIDE) for sheet in _sheets(named))


def _sheets(named: Sequence[tuple[str, Document]]) -> list[Found]:
    sheets: list[Found] = []
    for name, document in named:
        if document.pairs:
            for sheet in document.pairs.sheets:
                sheets.append((name, document.pairs, sheet, document.facts))
    return sheets


def _beside(sheets: Sequence[Found], most_side: int) -> str:
    sides = [min(_side(pairs), most_side) for _, pairs, _, _ in sheets]
    wide = max(max(side + 2 * _MARGIN, _LEAST_WIDE) for side in sides)
    high = max(_height(each[2], side) for each, side in zip(sheets, sides, strict=True))
    columns = min(max(1, _PAGE_WIDE // wide), len(sheets))
    parts = []
    for number, (each, side) in enumerate(zip(sheets, sides, strict=True)):
        down, across = divmod(number, columns)
        lines = "\n".join(_sheet(*each, side))
        parts.append(f'<g transform="translate({across * wide} {down * high})">\n{lines}\n</g>')
    whole = columns * wide, -(-len(sheets) // columns) * high
    return svg_document(parts, *whole, "Times between every two ranks")


def _side(pair_map: PairMap) -> int:
    """The side of a matrix: it grows with its ranks, within limits."""
    return min(max(_SQUARE * len(pair_map.seats), _LEAST_SIDE), _MOST_SIDE)


def _height(sheet: Sheet, side: int) -> int:
    return _TOP + side + 60 + _LINE * len(sheet.clusters) + 20


def _sheet(name: str, pair_map: PairMap, sheet: Sheet, facts: Facts, whole: int) -> Iterator[str]:
    """`whole`: the side of its matrix."""
    hosts = ", ".join(facts.hosts[:4])
    if len(facts.hosts) > 4:
        hosts += " …"
    words = f"{sheet.name}, {sheet.unit} between every two ranks"
    if name:
        words = f"{name}: {words}"
    yield _text(_MARGIN, 26, _cut(words, _MOST_LETTERS - 12), size=14)
    of_run = f"{facts.mpi} · {hosts or facts.host} · {facts.created}"
    yield _text(_MARGIN, 46, _cut(of_run, _MOST_LETTERS), grey=True)
    ranks = len(pair_map.seats)
    step = ceil(ranks * _LEAST_SQUARE / whole)
    side = whole * step / ranks
    scale = ColourScale.of(row.latency.value for row in sheet.holding.values())
    every = max(1, -(-ranks * _LABEL // whole))
    for rank in range(0, ranks, every):
        middle = (rank + 0.5) * whole / ranks
        yield _text(_MARGIN - 6, _TOP + middle + 4, pair_map.name(rank), anchor="end", size=10)
    for (row, column), slowest in _slowest(sheet, step).items():
        yield from _square(pair_map, slowest, sheet, (row, column), side, scale)
    if step > 1:
        words = f"each square stands for {step} × {step} ranks, and shows the slowest"
        yield _text(_MARGIN, 64, words, grey=True)
    yield from _legend(sheet, scale, whole)


def _slowest(sheet: Sheet, step: int) -> dict[tuple[int, int], Held]:
    """The slowest of the pairs in each square, on both sides of the diagonal."""
    slowest: dict[tuple[int, int], Held] = {}
    for (one, other), row in sheet.holding.items():
        for pair in ((one, other), (other, one)):
            at = pair[0] // step, pair[1] // step
            if at not in slowest or row.latency.value > slowest[at][1].latency.value:
                slowest[at] = pair, row
    return slowest


def _square(
    pair_map: PairMap,
    held: Held,
    sheet: Sheet,
    at: tuple[int, int],
    side: float,
    scale: ColourScale,
) -> Iterator[str]:
    (row, column), measured = held
    x, y = _MARGIN + at[1] * side, _TOP + at[0] * side
    words = (
        f"{pair_map.name(row)} – {pair_map.name(column)}: {sheet.text(measured.latency.value)} "
        f"{sheet.unit} {measured.error_words}"
    )
    yield square(x, y, side, side, measured.latency.value, scale, words)


def _legend(sheet: Sheet, scale: ColourScale, side: int) -> Iterator[str]:
    y, wide = _TOP + side + 16, max(side, 240)
    steps = 64
    for step in range(steps):
        value = scale.low * (scale.high / scale.low) ** (step / (steps - 1))
        x, one = _MARGIN + step * wide / steps, wide / steps + 0.5
        yield square(x, y, one, 10, value, scale)
    yield _text(_MARGIN, y + 26, f"{sheet.text(scale.low)} {sheet.unit}")
    yield _text(_MARGIN + wide, y + 26, f"{sheet.text(scale.high)} {sheet.unit}", anchor="end")
    for line, cluster in enumerate(sheet.clusters):
        low, high = sheet.text(min(cluster.times)), sheet.text(max(cluster.times))
        middle = f"{sheet.text(cluster.median_s)} {sheet.unit}"
        pairs = many(len(cluster.pairs), "pair")
        words = f"{LEVELS[cluster.level]}: {middle} ({low} … {high}), {pairs}"
        yield _text(_MARGIN, y + 50 + _LINE * line, words)


def _cut(words: str, most: int) -> str:
    if len(words) <= most:
        return words
    return f"{words[: most - 1]}…"


def _text(
    x: float, y: float, words: str, anchor: str = "start", size: int = 12, grey: bool = False
) -> str:
    kind, fill = ("dim", "#666") if grey else ("ink", "#111")
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{fill}">{styles.words(words)}</text>'
    )
