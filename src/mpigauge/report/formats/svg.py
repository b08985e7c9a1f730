# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The map of pairs as one plain picture: a matrix for each size, ranks in the order of seats."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mpigauge.analyse.pairs import ABOUT as LEVELS
from mpigauge.model.errors import UserError
from mpigauge.model.screen import PLAIN
from mpigauge.model.units import byte_count, percent
from mpigauge.report.scale import Scale
from mpigauge.topology.remarks import many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.analyse.pairs import PairMap, Sheet
    from mpigauge.model.screen import Screen
    from mpigauge.report.document import Document, Facts

ABOUT = "the picture of a map, to be written to a file"
PAIRS = True
_SIDE, _MARGIN, _TOP, _LINE = 640, 90, 70, 18
_MOST_LABELS = 40


def render(document: Document, screen: Screen = PLAIN) -> str:  # noqa: ARG001
    found = document.pairs
    if found is None:
        raise UserError("this run holds no pairs of ranks; `mpigauge map` measures them")
    parts, top = [], 0
    for sheet in found.sheets:
        lines = list(_sheet(found, sheet, document.facts))
        parts.append(f'<g transform="translate(0 {top})">\n' + "\n".join(lines) + "\n</g>")
        top += _height(sheet)
    wide = _SIDE + 2 * _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {top}" width="{wide}" '
        f'height="{top}" font-family="sans-serif" font-size="12" role="img" '
        'aria-label="Times between every two ranks">\n'
        f'<rect class="paper" width="{wide}" height="{top}" fill="#fff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _height(sheet: Sheet) -> int:
    return _TOP + _SIDE + 60 + _LINE * len(sheet.clusters) + 20


def _sheet(found: PairMap, sheet: Sheet, facts: Facts) -> Iterator[str]:
    size = byte_count(sheet.message_bytes)
    hosts = ", ".join(facts.hosts[:4]) + (" …" if len(facts.hosts) > 4 else "")
    yield _text(
        _MARGIN, 26, f"{sheet.benchmark} {size}: {sheet.unit} between every two ranks", size=16
    )
    yield _text(_MARGIN, 46, f"{facts.mpi} · {hosts or facts.host} · {facts.created}", grey=True)
    ranks = len(found.seats)
    side = _SIDE / ranks
    scale = Scale.of(row.latency.value for row in sheet.rows.values())
    every = max(1, -(-ranks // _MOST_LABELS))
    for rank in range(0, ranks, every):
        middle = (rank + 0.5) * side
        yield _text(_MARGIN - 6, _TOP + middle + 4, found.name(rank), anchor="end", size=10)
    for row in range(ranks):
        for column in range(ranks):
            yield from _square(found, sheet, row, column, side, scale)
    yield from _legend(sheet, scale)


def _square(
    found: PairMap, sheet: Sheet, row: int, column: int, side: float, scale: Scale
) -> Iterator[str]:
    measured = None if row == column else sheet.row(row, column)
    if measured is None:
        return
    x, y = _MARGIN + column * side, _TOP + row * side
    fill = "#{:02x}{:02x}{:02x}".format(*scale.colour(measured.latency.value))
    words = (
        f"{found.name(row)} – {found.name(column)}: {sheet.text(measured.latency.value)} "
        f"{sheet.unit} ± {percent(measured.relative_error)}"
    )
    yield (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{side:.2f}" height="{side:.2f}" fill="{fill}">'
        f"<title>{escape(words)}</title></rect>"
    )


def _legend(sheet: Sheet, scale: Scale) -> Iterator[str]:
    y = _TOP + _SIDE + 16
    steps = 64
    for step in range(steps):
        value = scale.low * (scale.high / scale.low) ** (step / (steps - 1))
        fill = "#{:02x}{:02x}{:02x}".format(*scale.colour(value))
        x, wide = _MARGIN + step * _SIDE / steps, _SIDE / steps + 0.5
        yield f'<rect x="{x:.2f}" y="{y}" width="{wide:.2f}" height="10" fill="{fill}"/>'
    yield _text(_MARGIN, y + 26, f"{sheet.text(scale.low)} {sheet.unit}")
    yield _text(_MARGIN + _SIDE, y + 26, f"{sheet.text(scale.high)} {sheet.unit}", anchor="end")
    for line, cluster in enumerate(sheet.clusters):
        low, high = sheet.text(min(cluster.times)), sheet.text(max(cluster.times))
        middle = f"{sheet.text(cluster.median_s)} {sheet.unit}"
        pairs = many(len(cluster.pairs), "pair")
        words = f"{LEVELS[cluster.level]}: {middle} ({low} … {high}), {pairs}"
        yield _text(_MARGIN, y + 50 + _LINE * line, words)


def _text(
    x: float, y: float, words: str, anchor: str = "start", size: int = 12, grey: bool = False
) -> str:
    kind, fill = ("dim", "#666") if grey else ("ink", "#111")
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{fill}">{escape(words)}</text>'
    )
