# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs for which an expression over the table `runs` holds, where DuckDB is not installed.

All runs are read at each question, and Python's SQLite evaluates the expression. It is set up to
answer as DuckDB does: numbers are divided as they are and not as whole ones, LIKE tells capital
letters from small ones, and a name in double quotes is a column. What it does not know is refused.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.extras import brings
from mpigauge.result.library.build import FolderState, read_lines
from mpigauge.result.library.folders import state
from mpigauge.result.library.library import copies_among, notes_on
from mpigauge.result.library.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_NUMBERS = ("BIGINT", "DOUBLE", "BOOLEAN")
_IN_QUOTES = re.compile(r"'(?:[^']|'')*'|\"([^\"]*)\"")
_UNKNOWN_COLUMN = re.compile(r"no such column: (\S+)")


def chosen(
    runs: Mapping[str, Path], where: str, columns: Sequence[str], say: Callable[[list[str]], None]
) -> list[tuple[Any, ...]]:
    """Returns these columns of the runs for which `where` holds, oldest first. `say` is called with
    notes on runs left out and other problems. UserError: the expression is invalid, or needs
    DuckDB."""
    entries: dict[str, FolderState] = {}
    of_runs: dict[str, list[str]] = {}
    for name, path in runs.items():
        entries[name], lines = read_lines(name, path, state(path))
        of_runs[name] = [line for table, line in lines if table == "runs"]
    copies = copies_among(entries, runs)
    say([*notes_on(entries, copies, datetime.now(timezone.utc))])
    facts: list[Mapping[str, Any]] = []
    for name, lines_of_run in of_runs.items():
        if name not in copies:
            facts += map(json.loads, lines_of_run)
    _check_quotes(where)
    query = f"SELECT {', '.join(columns)} FROM runs WHERE ({where}\n) ORDER BY created, run"
    with closing(sqlite3.connect(":memory:")) as con:
        _fill(con, facts)
        try:
            return con.execute(query).fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise UserError(_refusal(where, str(error))) from None


def _check_quotes(where: str) -> None:
    """Refuses unknown names in double quotes, which SQLite would take as texts."""
    names = [column.name for column in TABLES["runs"]]
    for name in _IN_QUOTES.findall(where):
        if name and name.lower() not in names:
            raise UserError(_no_column(name))


def _fill(con: sqlite3.Connection, facts: Sequence[Mapping[str, Any]]) -> None:
    con.execute("PRAGMA case_sensitive_like = ON")
    for function in ("list_contains", "list_has"):
        con.create_function(function, 2, _holds, deterministic=True)
    names, declared = [], []
    for column in TABLES["runs"]:
        kind = "REAL" if column.type in _NUMBERS else "TEXT"
        names.append(column.name)
        declared.append(f'"{column.name}" {kind}')
    con.execute(f"CREATE TABLE runs ({', '.join(declared)})")
    marks = ", ".join("?" * len(names))
    lines = []
    for of_run in facts:
        lines.append([_plain(of_run.get(name)) for name in names])
    con.executemany(f"INSERT INTO runs VALUES ({marks})", lines)
    con.execute("PRAGMA query_only = ON")


def _plain(value: Any) -> Any:
    """Returns a value that SQLite can hold: a list becomes JSON."""
    if isinstance(value, list):
        return json.dumps(value)
    return value


def _holds(listed: Any, value: Any) -> bool | None:
    """True if a list, given as JSON, contains the value; None: there is no list."""
    if listed is None:
        return None
    return value in json.loads(listed)


def _refusal(where: str, error: str) -> str:
    if match := _UNKNOWN_COLUMN.search(error):
        return _no_column(match[1])
    return f"--where {where}: {error}; what only DuckDB knows needs it: {brings('sql')}"


def _no_column(name: str) -> str:
    names = [column.name for column in TABLES["runs"]]
    return f"there is no column '{name}'{did_you_mean(name, names)}"
