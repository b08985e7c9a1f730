# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plain tables: columns as wide as their widest word. Where there is a width, the last column is
broken, or stands below the others where they leave it no room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpigauge.model.screen import without_orders
from mpigauge.model.width import broken, one_line, wrap

GAP = "  "
LEAST_LAST = 24
"""A last column that would be narrower than this stands below the others."""
BELOW = "    "
"""The indent of a last column that stands below the others."""


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Its lines. `width`: how long a line may be; 0: as long as it gets."""
    rows = [[one_line(without_orders(word)) for word in words] for words in rows]
    every = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    wide = every[:-1]
    left = width - sum(wide) - len(GAP) * len(wide)
    fits = not width or every[-1] <= left
    for words in (heads, *rows):
        start = GAP.join(f"{word:<{w}}" for word, w in zip(words[:-1], wide, strict=True))
        if fits or len(words[-1]) <= left:
            yield f"{start}{GAP if wide else ''}{words[-1]}".rstrip()
        elif left >= LEAST_LAST:
            yield from _beside(start, wrap(words[-1], left), bool(wide))
        else:
            yield from broken([start.rstrip()], BELOW, width)
            yield from wrap(words[-1], width, initial_indent=BELOW, subsequent_indent=BELOW)


def _beside(start: str, parts: Sequence[str], others: bool) -> Iterator[str]:
    gap = GAP if others else ""
    for number, part in enumerate(parts):
        yield (start if number == 0 else " " * len(start)) + gap + part
