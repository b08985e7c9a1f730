# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Characters with colours. A curve also has a mark of its own, so that no colour is needed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen

MARKS = "●■▲◆▼○□△◇▽abcdef"
_FILLED = 5
"""The first marks, each of which has a hollow one behind all of them."""
ASCII_MARKS = "ox+*#@%&=$abcdef"
DIM, INK = -1, -2
"""Styles instead of the number of a curve."""
_OF_256 = (32, 166, 36, 175, 178, 74, 250)
"""The closest of 256 colours to the palette of the drawings; the last stands for black."""
_OF_16 = (34, 31, 32, 35, 33, 36, 37)
_PLAIN = "\033[0m"


class StyledLetter(NamedTuple):
    """One character."""

    letter: str = " "
    of: int = INK
    """The number of the curve with this colour, DIM or INK."""


def mark(number: int, unicode: bool, is_hollow: bool = False) -> str:
    """The mark of the points of a curve, without a filling where there is such a mark."""
    marks = MARKS if unicode else ASCII_MARKS
    if is_hollow and unicode and number < _FILLED:
        number += _FILLED
    return marks[number % len(marks)]


def painted(cells: Iterable[StyledLetter], screen: Screen) -> str:
    """A line, without trailing blanks."""
    line = ""
    for of, run in groupby(_stripped(list(cells)), key=lambda cell: cell.of):
        text = "".join(cell.letter for cell in run)
        line += paint(text, of, screen)
    return line


def paint(text: str, of: int, screen: Screen) -> str:
    if not screen.coloured or of == INK or not text.strip():
        return text
    return f"\033[{_code(of, screen)}m{text}{_PLAIN}"


def _code(of: int, screen: Screen) -> str:
    if of == DIM:
        return "2"
    if screen.colours < 256:
        return str(_OF_16[of % len(_OF_16)])
    return f"38;5;{_OF_256[of % len(_OF_256)]}"


def _stripped(cells: list[StyledLetter]) -> list[StyledLetter]:
    while cells and cells[-1].letter == " ":
        cells.pop()
    return cells


def printable(text: str) -> str:
    """The text without control characters, which the terminal would execute."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def words(text: str, of: int = INK) -> list[StyledLetter]:
    return [StyledLetter(letter, of) for letter in printable(text)]


def cut(text: str, width: int, screen: Screen) -> str:
    """The text, at most this wide; dots stand for the rest."""
    if len(text) <= width:
        return text
    dots = "…" if screen.unicode else "..."
    return text[: max(0, width - len(dots))] + dots[: max(0, width)]
