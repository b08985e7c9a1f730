# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plain tables: columns as wide as their widest word, the last one broken on a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from textwrap import wrap

GAP = "  "
LEAST_LAST = 24
"""A last column that would be narrower than this is not broken."""


def lines(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None
) -> Iterator[str]:
    wide = [max(map(len, column)) for column in zip(heads, *rows, strict=True)][:-1]
    gap = GAP if wide else ""
    last = _room(wide, width if width is not None else screen_width())
    for words in (heads, *rows):
        start = GAP.join(f"{word:<{w}}" for word, w in zip(words[:-1], wide, strict=True))
        broken = wrap(words[-1], last) if last else [words[-1]]
        for number, part in enumerate(broken or [""]):
            yield (start if number == 0 else " " * len(start)) + (gap + part if part else "")


def screen_width() -> int:
    """Of the terminal; 0 where the output goes elsewhere and lines may be of any length."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def _room(wide: Sequence[int], width: int) -> int:
    left = width - sum(wide) - len(GAP) * len(wide)
    return left if left >= LEAST_LAST else 0
