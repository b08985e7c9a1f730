# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plain tables (show/tables/text_table.py) as wide as the terminal, or as objects of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence

import click

from mpigauge.cli.output import screen
from mpigauge.show.tables.text_table import text_table


def lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table for this terminal."""
    return text_table(heads, rows, screen_width())


def print_rows(
    columns: Mapping[str, str], rows: Sequence[Sequence[str]], as_json: bool = False
) -> None:
    """A table with the heads of these columns, or a list of objects with their names as keys."""
    if as_json:
        objects = [dict(zip(columns, row, strict=True)) for row in rows]
        click.echo(json.dumps(objects, indent=1, ensure_ascii=False))
        return
    for line in lines(list(columns.values()), rows):
        click.echo(line)


def screen_width() -> int:
    """The width of the terminal; 0 where the output goes elsewhere and lines may be of any
    length."""
    if sys.stdout.isatty():
        return screen().room
    return 0
