# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""SVG documents of one drawing, or of several side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.draw.styles import PAPER, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Drawing = tuple[Iterable[str], tuple[int, int]]
    """The elements of a drawing, with its width and height."""


def svg_document(elements: Iterable[str], wide: int, high: int, label: str) -> str:
    """Returns a document of these elements on paper. `label`: the text for screen readers."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" '
        f'height="{high}" font-family="sans-serif" font-size="12" role="img" '
        f'aria-label="{words(label)}">\n'
        f'<rect class="paper" width="{wide}" height="{high}" fill="{PAPER}"/>\n'
        + "\n".join(elements)
        + "\n</svg>\n"
    )


def side_by_side(drawings: Sequence[Drawing], label: str) -> str:
    """Returns a document with the drawings from left to right."""
    parts, wide, high = list[str](), 0, 0
    for elements, (width, height) in drawings:
        parts += [f'<g transform="translate({wide} 0)">', *elements, "</g>"]
        wide += width
        high = max(high, height)
    return svg_document(parts, wide, high, label)
