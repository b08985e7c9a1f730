# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Squares with colours that stand for numbers, for heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.draw.styles import words

if TYPE_CHECKING:
    from mpigauge.draw.scale import ColourScale

_DARK = 128.0
"""The lightness of a square below which letters on it are white."""


def square(
    x: float, y: float, wide: float, high: float, value: float, scale: ColourScale, title: str = ""
) -> str:
    """A square; `title`: the text shown under the pointer."""
    element = f"<title>{words(title)}</title>" if title else ""
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{high:.2f}" '
        f'fill="{fill(value, scale)}">{element}</rect>'
    )


def fill(value: float, scale: ColourScale) -> str:
    return "#{:02x}{:02x}{:02x}".format(*scale.colour(value))


def ink_on(value: float, scale: ColourScale) -> str:
    """The colour of letters on such a square."""
    red, green, blue = scale.colour(value)
    light = 0.3 * red + 0.6 * green + 0.1 * blue >= _DARK
    if light:
        return "#000000"
    return "#ffffff"
