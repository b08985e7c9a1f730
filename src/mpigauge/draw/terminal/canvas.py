# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A grid of characters on which curves are drawn: braille dots, 2 × 4 in a character, or one dot
each without braille."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mpigauge.draw.terminal.styles import DIM, StyledLetter, words

_BRAILLE = 0x2800
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_EIGHTHS, _ASCII_EIGHTHS = " ▁▂▃▄▅▆▇█", " ...#####"
At = tuple[float, float]
"""A position from 0 to 1, rightwards and upwards."""
Position = tuple[int, int]


class Canvas:
    def __init__(self, wide: int, high: int, unicode: bool) -> None:
        self.wide, self.high, self.unicode = wide, high, unicode
        self._across, self._down = (2, 4) if unicode else (1, 1)
        self._dots: dict[Position, tuple[int, int]] = {}
        """Braille bits and the number of the last curve there, by column and line."""
        self._over: dict[Position, StyledLetter] = {}
        self._under: dict[Position, StyledLetter] = {}

    def lines(self) -> list[list[StyledLetter]]:
        return [[self._cell((x, y)) for x in range(self.wide)] for y in range(self.high)]

    def free(self, column: int, line: int, many: int) -> bool:
        """True if these characters hold nothing but what is drawn under curves."""
        positions = {(x, line) for x in range(column, column + many)}
        return positions.isdisjoint(self._dots) and positions.isdisjoint(self._over)

    def line_of(self, y: float) -> int:
        return self._dot((0, y))[1] // self._down

    def column_of(self, x: float) -> int:
        return self._dot((x, 0))[0] // self._across

    def dot(self, at: At, number: int) -> None:
        self._set(*self._dot(at), number)

    def curve(self, points: Sequence[At], number: int) -> None:
        for one, other in pairwise(points):
            (x1, y1), (x2, y2) = self._dot(one), self._dot(other)
            steps = max(abs(x2 - x1), abs(y2 - y1), 1)
            for i in range(steps + 1):
                x = round(x1 + (x2 - x1) * i / steps)
                y = round(y1 + (y2 - y1) * i / steps)
                self._set(x, y, number)

    def bar(self, x: float, low: float, high: float, number: int) -> bool:
        """Draws a bar from one end of an interval to the other; False if it is no higher than a
        mark."""
        column, top = self._dot((x, high))
        _, bottom = self._dot((x, low))
        seen = bottom // self._down > top // self._down
        if seen and self.unicode:
            for y in range(top, bottom + 1):
                self._set(column, y, number)
        elif seen:
            for y in range(top, bottom + 1):
                self._over.setdefault((column, y), StyledLetter("|", number))
        return seen

    def mark(self, at: At, letter: str, number: int) -> None:
        x, y = self._dot(at)
        self._over[x // self._across, y // self._down] = StyledLetter(letter, number)

    def column(self, x: int, share: float, number: int) -> None:
        """Draws a column of a histogram, as high as this share of the canvas."""
        letters = _EIGHTHS if self.unicode else _ASCII_EIGHTHS
        eighths = round(share * self.high * 8)
        for y in range(self.high):
            filled = min(8, max(0, eighths - 8 * (self.high - 1 - y)))
            if filled:
                self._over[x, y] = StyledLetter(letters[filled], number)

    def across(self, y: float) -> int:
        """Draws a level; returns its line."""
        line = self.line_of(y)
        letter = StyledLetter("╌" if self.unicode else "-", DIM)
        for x in range(self.wide):
            self._under[x, line] = letter
        return line

    def upright(self, x: float) -> int:
        """Draws an upright line at a place on the x axis; returns its column."""
        column = self.column_of(x)
        letter = StyledLetter("┊" if self.unicode else ":", DIM)
        for y in range(self.high):
            self._under.setdefault((column, y), letter)
        return column

    def write(self, column: int, line: int, text: str) -> None:
        """Writes text below the curves."""
        for x, cell in enumerate(words(text, DIM), column):
            self._under[x, line] = cell

    def _dot(self, at: At) -> Position:
        """The dot at a position; positions outside are moved to the edge."""
        wide, high = self.wide * self._across - 1, self.high * self._down - 1
        x, y = at
        return round(_within(x) * wide), round((1 - _within(y)) * high)

    def _set(self, x: int, y: int, number: int) -> None:
        cell = x // self._across, y // self._down
        bits = self._dots.get(cell, (0, 0))[0]
        self._dots[cell] = bits | _BITS[x % self._across][y % self._down], number

    def _cell(self, place: Position) -> StyledLetter:
        if place in self._over:
            return self._over[place]
        if place in self._dots:
            bits, number = self._dots[place]
            return StyledLetter(chr(_BRAILLE + bits) if self.unicode else ".", number)
        return self._under.get(place, StyledLetter())


def _within(value: float) -> float:
    """The value, limited to the range from 0 to 1."""
    return min(max(value, 0.0), 1.0)
