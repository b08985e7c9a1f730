# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A heat map in characters: coloured squares, two in one character if there is little room, or
shades if there are no colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from mpigauge.model.screen import TRUE_COLOURS

if TYPE_CHECKING:
    from mpigauge.draw.scale import Colour, ColourScale
    from mpigauge.model.screen import Screen

Value = Callable[[int, int], "float | None"]
"""A function of row and column; None: there is no value."""
PairValues = Mapping[tuple[int, int], float]
"""The value of each pair, once."""
SHADES, ASCII_SHADES = " ░▒▓█", " .:*#"
MARGIN = 8
"""Columns for the number of a row."""
_NOTHING: Colour = (128, 128, 128)
_PLAIN = "\033[0m"
_STRIP = 24
_DARK = 128.0
"""The lightness below which words on a colour are white."""


def squares(many: int, values: PairValues, scale: ColourScale, screen: Screen) -> Iterator[str]:
    """A matrix of pairs, with this many rows and columns. If there are more than columns of the
    screen, each square stands for several and shows the largest."""
    step = max(1, math.ceil(many / max(1, screen.width - MARGIN)))
    side = math.ceil(many / step)
    broad = 2 if 2 * side <= screen.width - MARGIN else 1
    of = _largest(values, step)
    if step > 1:
        yield f"(each square stands for {step} × {step} and shows the slowest)"
    if screen.colours >= 256 and screen.unicode and broad == 1:
        yield from _halves(side, step, of, scale, screen)
        return
    for row in range(side):
        line = f"{row * step:>{MARGIN - 2}}  "
        for at in range(side):
            line += _square(of(row, at), row == at, broad, scale, screen)
        yield line


def legend(scale: ColourScale, words: Callable[[float], str], screen: Screen) -> str:
    """The legend of the shades, from the smallest value to the largest."""
    low, high = words(scale.low), words(scale.high)
    if screen.colours >= 256:
        strip = ""
        steps = min(_STRIP, screen.width - MARGIN - len(low) - len(high) - 2)
        for number in range(steps):
            value = scale.low * (scale.high / scale.low) ** (number / (steps - 1))
            strip += on(" ", value, scale, screen)
        return f"{'':{MARGIN}}{low} {strip} {high}"
    shades = _shades(screen)
    line, more = f"{'':{MARGIN}}{low} {shades!r} {high}", ", on a log scale"
    return line + more if len(line) + len(more) <= screen.width else line


def on(text: str, value: float, scale: ColourScale, screen: Screen) -> str:
    """Words on the colour of a value, or the words alone without colours."""
    if screen.colours < 256:
        return text
    colour = scale.colour(value)
    red, green, blue = colour
    light = 0.3 * red + 0.6 * green + 0.1 * blue >= _DARK
    ink = (0, 0, 0) if light else (255, 255, 255)
    return f"\033[{_code(38, ink, screen)};{_code(48, colour, screen)}m{text}{_PLAIN}"


def _largest(values: PairValues, step: int) -> Value:
    """A function for the largest value among the ranks that a square stands for."""
    most: dict[tuple[int, int], float] = {}
    for (one, other), value in values.items():
        for square in {(one // step, other // step), (other // step, one // step)}:
            most[square] = max(value, most.get(square, value))
    return lambda row, column: most.get((row, column))


def _square(value: float | None, same: bool, broad: int, scale: ColourScale, screen: Screen) -> str:
    if value is None:
        sign = "·" if same else "?"
        return sign * broad
    if screen.colours >= 256:
        return on(" " * broad, value, scale, screen)
    shades = _shades(screen)
    return shades[round(scale.place(value) * (len(shades) - 1))] * broad


def _halves(side: int, step: int, of: Value, scale: ColourScale, screen: Screen) -> Iterator[str]:
    """Two rows in each line: the upper halves of blocks, and their background."""
    for row in range(0, side, 2):
        cells = []
        for column in range(side):
            above = _colour(of(row, column), scale)
            code = _code(38, above, screen)
            if row + 1 < side:
                below = _colour(of(row + 1, column), scale)
                code += f";{_code(48, below, screen)}"
            cells.append(f"\033[{code}m▀{_PLAIN}")
        yield f"{row * step:>{MARGIN - 2}}  " + "".join(cells)


def _colour(value: float | None, scale: ColourScale) -> Colour:
    if value is None:
        return _NOTHING
    return scale.colour(value)


def _code(kind: int, colour: Colour, screen: Screen) -> str:
    """The code of a colour; 38: for letters, 48: for their background."""
    if screen.colours >= TRUE_COLOURS:
        return f"{kind};2;{';'.join(map(str, colour))}"
    red, green, blue = (round(part / 255 * 5) for part in colour)
    return f"{kind};5;{16 + 36 * red + 6 * green + blue}"


def _shades(screen: Screen) -> str:
    if screen.unicode:
        return SHADES
    return ASCII_SHADES
