# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Files of other programs' output: which readers they get, and what could not be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli.output.showing import show
from mpigauge.model.errors import UserError
from mpigauge.model.inputs import read_input
from mpigauge.products.imported.several import names_of, remarks
from mpigauge.runs.readers import READERS, Text, sniff
from mpigauge.runs.readers.dates import written_date
from mpigauge.runs.readers.known import known_cards
from mpigauge.runs.readers.parts import in_arm, left_out
from mpigauge.runs.readers.reading import joined
from mpigauge.runs.store import load
from mpigauge.runs.store.imported import is_dated
from mpigauge.runs.store.pack import unpack

if TYPE_CHECKING:
    from mpigauge.runs.readers.reading import Reading
    from mpigauge.runs.store import Run

MOST_NAMED = 20
MOST_BYTES = 1 << 30
"""The most bytes of a program's output."""


def read_files(
    files: Sequence[Path],
    reader: str | None,
    benchmark: str,
    ranks: int = 0,
    keep_apart: bool = False,
) -> Reading:
    """The content of the files; the launches of each follow those of the file before.

    `keep_apart`: rows of each have its name as their arm. UserError: a file cannot be read, no
    reader finds anything in it, or files that hold the same rows are not of one thing.
    """
    name = known_cards().find(benchmark).name if benchmark else ""
    readings = []
    for file in files:
        readings.append(_read_file(Text(_bytes_of(file), name, ranks), file, reader))
    if keep_apart:
        return joined(map(in_arm, readings, names_of(files)))
    notes = remarks(list(zip(map(str, files), readings, strict=True)))
    whole = joined(readings)
    return replace(whole, remarks=(*whole.remarks, *notes))


def _read_file(text: Text, file: Path, reader: str | None) -> Reading:
    readers = [READERS.find(reader)] if reader else sniff(text)
    if not readers:
        raise UserError(f"{file} is not output that can be imported; {_all_readers()}")
    reading = joined(each.read(text) for each in readers)
    unread = [replace(each, file=str(file)) for each in (*left_out(text), *reading.unread)]
    if not reading.rows and not reading.skips:
        names = ", ".join(each.name for each in readers)
        why = f": line {unread[0].line}, {unread[0].why}" if unread else ""
        raise UserError(f"{file} holds no table that can be read as {names}{why}; {_all_readers()}")
    return replace(reading, unread=tuple(unread))


def _bytes_of(file: Path) -> bytes:
    return read_input(file, most=MOST_BYTES)


def _all_readers() -> str:
    return f"there are readers for {', '.join(READERS)} (--as names one)"


def unpack_all(files: Sequence[Path], packs: Sequence[Path], root: Path, form: str) -> None:
    """Runs that were packed, as folders below `root`. UserError: others are among them."""
    for file in files:
        if file not in packs:
            raise UserError(f"{file} is not a packed run, and {packs[0]} is one; import them apart")
    for file in packs:
        folder = unpack(file, root)
        show(load(folder), form)
        click.echo(f"imported into {folder}", err=True)


def report_remarks(reading: Reading) -> None:
    """Prints what was taken for granted, for formats that do not."""
    for remark in reading.remarks:
        click.echo(remark, err=True)


def tell_unread(reading: Reading) -> None:
    """Names the lines that are left out."""
    for line in reading.unread[:MOST_NAMED]:
        text = line.text if len(line.text) <= 60 else f"{line.text[:57]}..."
        click.echo(f"{line.file}:{line.line}: left out: {line.why}: {text}", err=True)
    if len(reading.unread) > MOST_NAMED:
        click.echo(f"and {len(reading.unread) - MOST_NAMED} more lines", err=True)


def machine_said(name: str | None) -> str:
    """The value of --machine; empty: it is not given. UserError: it cannot be a name."""
    if name is None:
        return ""
    if not name.strip() or not name.isprintable():
        raise UserError(f"--machine: {name!r} is not a name; write one such as node01")
    return name.strip()


def date_said(text: str | None) -> datetime | None:
    """The value of --date. UserError: it is not a date of a measurement."""
    if text is None:
        return None
    return written_date("--date", text, datetime.now(timezone.utc))


def tell_undated(run: Run) -> None:
    """Says what has to be known for a trend."""
    unknown = []
    if not run.passport:
        unknown.append("its machine (--machine)")
    if not is_dated(run.header):
        unknown.append("its date (--date)")
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        words = " and ".join(unknown)
        click.echo(f"{words} {verb} not known, so it takes no part in trends", err=True)
