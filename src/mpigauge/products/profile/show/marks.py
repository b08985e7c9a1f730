# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Marks of the pictures of a profile that are no plots over axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from mpigauge.draw.styles import PAPER, colour, text, words
from mpigauge.model.units import duration

WIDE, LEFT, RIGHT, TOP = 900, 120, 90, 60
BAR, GAP = 14, 6
Bar = tuple[str, Sequence[float]]
"""The name of a bar, and its parts in seconds."""


def begin(wide: float, high: float, title: str) -> str:
    """Returns the head of a drawing."""
    width, height = math.ceil(wide), math.ceil(high)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" role="img" '
        f'aria-label="{words(title)}">\n'
        f'<rect class="paper" width="100%" height="100%" fill="{PAPER}"/>\n'
    )


def box(x: float, y: float, wide: float, high: float, number: int, tip: str = "") -> str:
    """Returns a box in the colour of a series; `tip`: the text shown under the pointer."""
    title = ""
    if tip:
        title = f"<title>{words(tip)}</title>"
    return (
        f'<rect class="dot" x="{x:.2f}" y="{y:.2f}" width="{max(wide, 0):.2f}" '
        f'height="{high:.2f}" fill="{colour(number)}">{title}</rect>'
    )


def stacked(
    title: str,
    names: Sequence[str],
    bars: Sequence[Bar],
    left: int = LEFT,
    wide: int = WIDE,
    first: int = 0,
) -> Iterator[str]:
    """Yields a drawing of stacked bars with a legend; `left`: the room for their names, `first`:
    the number of the first part, by which its colour is chosen."""
    high = TOP + len(bars) * (BAR + GAP) + 30
    longest = max((sum(parts) for _, parts in bars), default=0.0)
    by_second = (wide - left - RIGHT) / longest if longest > 0 else 0.0
    yield begin(wide, high, title)
    yield text(wide / 2, 24, title, "ink", "middle", 16)
    for number, name in enumerate(names, first):
        x = left + (wide - left) / 4.5 * (number - first)
        yield f'<g class="legend c{number}" data-series="{number}">'
        yield box(x, 38, 12, 12, number)
        yield text(x + 18, 48, name, "ink") + "</g>"
    for place, (name, parts) in enumerate(bars):
        y, x = TOP + place * (BAR + GAP), float(left)
        yield text(left - 8, y + BAR - 3, name, "dim", "end", 11)
        for number, part in enumerate(parts, first):
            tip = f"{name}: {duration(part)} {names[number - first]}"
            yield f'<g class="series c{number}" data-series="{number}">'
            yield box(x, y, part * by_second, BAR, number, tip) + "</g>"
            x += part * by_second
        yield text(x + 6, y + BAR - 3, duration(sum(parts)), "dim", size=11)
    yield "</svg>\n"
