# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Words and lines of drawings, and the styles that distinguish curves.

Curves differ in colour (the palette of Okabe and Ito), in the shape of their points and, beyond
five, in their dashes, so that none is identified by its colour alone. Drawings are ready for paper;
pages replace the colours of its classes.
"""

from __future__ import annotations

from html import escape

from mpigauge.model.width import shortened

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MANY = len(COLOURS)
_DASHES = ("", "6 3", "2 2", "9 3 2 3")
_SHAPES = (
    "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "m-2.7-2.7h5.4v5.4h-5.4z",
    "m0-3.6l3.4 6h-6.8z",
    "m0-3.8l3.2 3.8l-3.2 3.8l-3.2-3.8z",
    "m0 3.6l3.4-6h-6.8z",
)
INK, DIM, GRID, PAPER = "#1a1a1a", "#555555", "#dddddd", "#ffffff"


def colour(number: int) -> str:
    """The colour of the curve with this number."""
    return COLOURS[number % _MANY]


def shape(number: int) -> str:
    """The path of its points."""
    return _SHAPES[number % len(_SHAPES)]


def painted(number: int, is_hollow: bool) -> str:
    """The attributes of a point: filled with the colour of its curve, or drawn with it."""
    if is_hollow:
        return f'class="dot hollow" fill="{PAPER}" stroke="{colour(number)}"'
    return f'class="dot" fill="{colour(number)}"'


def dash(number: int) -> str:
    """The attribute of its line; empty for a solid line."""
    pattern = _DASHES[number // len(_SHAPES) % len(_DASHES)]
    if pattern:
        return f' stroke-dasharray="{pattern}"'
    return ""


def group(kind: str, number: int) -> str:
    return f'<g class="{kind} c{number % _MANY}" data-series="{number}">'


def words(plain: str) -> str:
    """The text, escaped for SVG and without control characters, which it cannot hold."""
    return escape("".join(letter if letter.isprintable() else "\ufffd" for letter in plain))


LETTER = 0.57
"""The width of a letter, relative to the size of the font."""
LEAST_SIZE = 10
"""The smallest font of titles."""


def text(
    x: float, y: float, plain: str, kind: str, anchor: str = "start", size: int = 12, more: str = ""
) -> str:
    """A text element. `more`: attributes, after a blank."""
    fill = INK if kind == "ink" else DIM
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{fill}"{more}>{words(plain)}</text>'
    )


def fitted(
    x: float,
    y: float,
    plain: str,
    room: float,
    anchor: str = "middle",
    size: int = 12,
    more: str = "",
) -> str:
    """A text element no longer than the room: smaller if needed, then without its middle, which is
    shown in full when pointed at."""
    least = min(size, LEAST_SIZE)
    most = int(room / (LETTER * max(len(plain), 1)))
    chosen = max(least, min(size, most))
    letters = max(int(room / (LETTER * chosen)), 1)
    short = shortened([plain], letters)[0]
    element = text(x, y, short, "ink", anchor, chosen, more)
    if short == plain:
        return element
    return f"<g><title>{words(plain)}</title>{element}</g>"


def stroke(
    x1: float, y1: float, x2: float, y2: float, kind: str, colour: str, more: str = ""
) -> str:
    return (
        f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{colour}"{more}/>'
    )
