# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shared by sql, export and ls --where: the runs that are meant, notes on them, answers."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from mpigauge.cli.output import tell
from mpigauge.cli.output.text_tables import lines
from mpigauge.model.errors import UserError
from mpigauge.result.library import answered
from mpigauge.result.library.folders import by_name
from mpigauge.result.library.memory import limited_memory
from mpigauge.runs.store import run_folders
from mpigauge.runs.store.files import failing_as, whole
from mpigauge.runs.store.imported import REFERENCE, load_reference
from mpigauge.runs.store.writer import DEFAULT_ROOT
from mpigauge.session.run_names import find_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.result.library import Library
    from mpigauge.result.library.ask import QueryResult

_T = TypeVar("_T")
MOST_NOTES = 8
MANY_RUNS = 20


class Meant(NamedTuple):
    runs: Mapping[str, Path]
    root: Path | None
    """The folder that they all lie in, where tables are kept; None: they are made for once."""


def meant(words: Sequence[str]) -> Meant:
    """The runs that words mean: all runs of one folder, or else the named ones, ref:NAME among
    them; without words those of mpigauge-runs."""
    if not words and not DEFAULT_ROOT.is_dir():
        raise UserError(f"there is no folder {DEFAULT_ROOT} here; name a folder that holds runs")
    folder = Path(words[0]) if words else DEFAULT_ROOT
    if len(words) <= 1 and folder.is_dir() and not (folder / "run.json").exists():
        return Meant(run_folders(folder), folder)
    references = [word for word in words if word.startswith(REFERENCE)]
    for word in references:
        load_reference(word.removeprefix(REFERENCE))
    return Meant(
        by_name(Path(word) if word in references else find_run(word) for word in words), None
    )


def answer(of: Meant, question: Callable[[Library], _T]) -> _T:
    """The answer to the question; notes on the runs go to standard error."""

    def go(library: Library) -> _T:
        say_notes(library.notes)
        with limited_memory(library.con):
            return question(library)

    result = answered(of.runs, of.root, go, progress)
    if not of.runs:
        click.echo(f"mpigauge: no runs in {of.root}", err=True)
    return result


def say_notes(notes: Sequence[str]) -> None:
    for note in notes[:MOST_NOTES]:
        tell(note)
    if len(notes) > MOST_NOTES:
        hint = "`mpigauge sql 'SELECT run, unnest(notes) FROM runs'` has those of runs"
        tell(f"and {len(notes) - MOST_NOTES} more; {hint}")


def progress(done: int, of: int) -> None:
    """Shows how much is done, to people only, and only where there is something to wait for."""
    if of >= MANY_RUNS and sys.stderr.isatty():
        stream = getattr(sys.stderr, "unfiltered", sys.stderr)
        end = "\n" if done + 1 == of else ""
        print(f"\rreading runs: {done + 1} of {of}", end=end, file=stream, flush=True)


@contextmanager
def output_file(path: Path | None) -> Iterator[Path]:
    """A name to write to: what is there then goes to `path` as a whole, or to standard output."""
    if path is not None:
        with failing_as(UserError, path), whole(path) as part:
            yield part
        click.echo(f"mpigauge: written to {path}", err=True)
        return
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        part = Path(folder) / "answer"
        yield part
        with part.open(encoding="utf-8", newline="") as answer:
            shutil.copyfileobj(answer, sys.stdout)


def check_output(form: str, output: Path | None) -> None:
    if form == "parquet" and output is None:
        raise UserError("parquet is not text; name a file for it with -o")


def write_table(table: QueryResult, path: Path) -> None:
    """Writes a table for people."""
    words = [[_word(value) for value in row] for row in table.rows]
    text = "".join(f"{line}\n" for line in lines(table.columns, words))
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _word(value: object) -> str:
    """The value as people read it: six digits, lists with commas, empty for an unknown one."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return ", ".join(map(_word, value))
    return str(value)
