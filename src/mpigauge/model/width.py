# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Text for 80 columns: long lines are broken, long names lose their middle, which is marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

WIDTH = 80
CUT = "…"


def broken(lines: Iterable[str], indent: str = "  ", width: int = WIDTH) -> list[str]:
    """Each line, or the lines it takes; what cannot be broken stays as long as it is."""
    return [part for line in lines for part in _parts(line, indent, width)]


def shortened(names: Sequence[str], width: int) -> Sequence[str]:
    """No longer than this as long as they still differ; else as they are."""
    short = [_shortened(name, width) for name in names]
    return short if len(set(short)) == len(set(names)) else names


def _parts(line: str, indent: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    return wrap(line, width, subsequent_indent=indent, break_long_words=False,
                break_on_hyphens=False)  # fmt: skip


def _shortened(name: str, width: int) -> str:
    """The end tells settings apart, so more than half of what is kept is from there."""
    if len(name) <= width:
        return name
    begin = (width - len(CUT)) // 2
    return name[:begin] + CUT + name[len(name) - (width - len(CUT) - begin) :]
