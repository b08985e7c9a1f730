# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plain tables: columns as wide as their widest word. On a terminal the last one is broken, or
stands below the others where they leave it no room."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

import click

from mpigauge.cli.screen import screen
from mpigauge.model.width import broken

GAP = "  "
LEAST_LAST = 24
"""A last column that would be narrower than this stands below the others."""
BELOW = "    "
"""What it begins with there."""


def lines(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None
) -> Iterator[str]:
    every = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    wide, room = every[:-1], width if width is not None else screen_width()
    left = room - sum(wide) - len(GAP) * len(wide)
    fits = not room or every[-1] <= left
    for words in (heads, *rows):
        start = GAP.join(f"{word:<{w}}" for word, w in zip(words[:-1], wide, strict=True))
        if fits or len(words[-1]) <= left:
            yield f"{start}{GAP if wide else ''}{words[-1]}".rstrip()
        elif left >= LEAST_LAST:
            yield from _beside(start, wrap(words[-1], left), bool(wide))
        else:
            yield from broken([start.rstrip()], BELOW, room)
            yield from wrap(words[-1], room, initial_indent=BELOW, subsequent_indent=BELOW)


def print_rows(
    columns: Mapping[str, str], rows: Sequence[Sequence[str]], as_json: bool = False
) -> None:
    """A table with the heads of these columns, or a list of objects with their names as keys."""
    if as_json:
        known = [dict(zip(columns, row, strict=True)) for row in rows]
        click.echo(json.dumps(known, indent=1, ensure_ascii=False))
        return
    for line in lines(list(columns.values()), rows):
        click.echo(line)


def screen_width() -> int:
    """Of the terminal; 0 where the output goes elsewhere and lines may be of any length."""
    if sys.stdout.isatty():
        return screen().room
    return 0


def _beside(start: str, parts: Sequence[str], others: bool) -> Iterator[str]:
    gap = GAP if others else ""
    for number, part in enumerate(parts):
        yield (start if number == 0 else " " * len(start)) + gap + part
