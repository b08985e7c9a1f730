# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes parts: folders with a Parquet file for each table, and a manifest of the runs in them.

A part is made under a unique name and renamed when it is complete, so that any number of jobs can
make parts in one place, also on NFS and Lustre: there are no locks, and files never change.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.result.library.faults import faults
from mpigauge.result.library.folders import NOBODY, Print, is_reference, print_of, readable
from mpigauge.result.library.tables import TABLES, contents
from mpigauge.runs.store import load
from mpigauge.runs.store.imported import REFERENCE, load_reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from mpigauge.result.library.tables import SqlColumn, Values
    from mpigauge.runs.store import Run

MANIFEST = "manifest.json"
UNFINISHED = ".new-"
UNREAD = ""
"""The state of a run that is read again the next time, changed or not."""
_INT = 1 << 63
_LARGEST_LINE = 1 << 28
"""The largest line of JSON, in bytes, as that of a run with very many notes."""


@dataclass(frozen=True)
class FolderState:
    """The state of a run folder, in addition to its lines in the tables."""

    state: str
    """The state of its files when it was read (folders.state)."""
    refused: str = ""
    """The reason for leaving it out; empty: it is in the tables."""
    print: Print = NOBODY
    created: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TablePart:
    folder: Path
    entries: Mapping[str, FolderState]
    """The state of each run, by name."""

    def file(self, table: str) -> Path:
        return self.folder / f"{table}.parquet"


def quoted(text: object) -> str:
    """Returns a text as an SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


def build(
    con: DuckDBPyConnection,
    place: Path,
    runs: Mapping[str, tuple[Path, str]],
    tell: Callable[[int], None],
) -> TablePart:
    """Makes a part of these runs: the folder and the state of each, by name. `tell` is called with
    the number of runs already read. OSError, duckdb.IOException: it cannot be written."""
    with new_part(place) as folder:
        entries = _read(folder, runs, tell)
        for table, fields in TABLES.items():
            lines = folder / f"{table}.jsonl"
            copy(con, _lines_as_table(lines, fields), folder / f"{table}.parquet")
            lines.unlink()
        return finish(folder, entries)


@contextmanager
def new_part(place: Path) -> Iterator[Path]:
    """A folder to make a part in; gone when that fails."""
    place.mkdir(parents=True, exist_ok=True)
    folder = place / f"{UNFINISHED}{uuid.uuid4().hex}"
    folder.mkdir()
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def finish(folder: Path, entries: Mapping[str, FolderState]) -> TablePart:
    """Gives the part its name. The manifest holds the sizes of its files."""
    sizes = {table: (folder / f"{table}.parquet").stat().st_size for table in TABLES}
    states = {name: asdict(entry) for name, entry in entries.items()}
    text = json.dumps({"bytes": sizes, "runs": states}, ensure_ascii=False)
    (folder / MANIFEST).write_text(text, encoding="utf-8", errors="replace")
    final = folder.with_name(folder.name.removeprefix(UNFINISHED))
    os.rename(folder, final)  # noqa: PTH104
    return TablePart(final, dict(entries))


def copy(con: DuckDBPyConnection, select: str, path: Path) -> None:
    con.execute(f"COPY ({select}) TO {quoted(path)} (FORMAT parquet, COMPRESSION zstd)")


def _read(
    folder: Path, runs: Mapping[str, tuple[Path, str]], tell: Callable[[int], None]
) -> dict[str, FolderState]:
    """Writes a file of lines for each table."""
    entries = {}
    with ExitStack() as stack:
        files = {
            table: stack.enter_context(
                (folder / f"{table}.jsonl").open("w", encoding="utf-8", errors="replace")
            )
            for table in TABLES
        }
        for number, (name, (path, state)) in enumerate(runs.items()):
            tell(number)
            entries[name], lines = read_lines(name, path, state)
            for table, line in lines:
                files[table].write(line + "\n")
    return entries


def read_lines(name: str, path: Path, state: str) -> tuple[FolderState, list[tuple[str, str]]]:
    """Returns the state of a run and its lines with their tables; no lines if it is refused."""
    if not readable(path):
        state = UNREAD
    try:
        run = read_run(path)
        lines = [(table, _line(values)) for table, values in contents(name, run)]
        return _entry(run, state), lines
    except UserError as error:
        return FolderState(state, str(error).replace(str(path), name)), []
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, OSError) as error:
        return FolderState(state, f"{name} holds what no run of ours does: {error}"), []


def read_run(path: Path) -> Run:
    """The run of a folder or of the reference library. UserError: it cannot be read."""
    if is_reference(path):
        return load_reference(str(path).removeprefix(REFERENCE))
    return load(path, cards=False)


def _line(values: Values) -> str:
    if large := [n for n, v in values.items() if type(v) is int and not -_INT <= v < _INT]:
        raise ValueError(f"{large[0]} has more than 64 bits")
    return json.dumps(values, ensure_ascii=False)


def _entry(run: Run, state: str) -> FolderState:
    created = str(run.header.get("created", ""))
    return FolderState(state, "", print_of(run), created, tuple(faults(run)))


def _lines_as_table(path: Path, fields: tuple[SqlColumn, ...]) -> str:
    types = ", ".join(f"{quoted(field.name)}: {quoted(field.type)}" for field in fields)
    return (
        f"SELECT * FROM read_json({quoted(path)}, format = 'newline_delimited', "
        f"columns = {{{types}}}, maximum_object_size = {_LARGEST_LINE})"
    )
