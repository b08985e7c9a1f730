# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tables over runs: made where they are missing, and ready for queries."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mpigauge.model.errors import UserError
from mpigauge.model.grouping import grouped
from mpigauge.result.library import faults
from mpigauge.result.library.build import build, quoted
from mpigauge.result.library.folders import Print, is_copy, state
from mpigauge.result.library.parts import choose, place_in, read_parts, select, tidy
from mpigauge.result.library.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from duckdb import DuckDBPyConnection
    from typing_extensions import Self

    from mpigauge.result.library.build import FolderState, TablePart


_T = TypeVar("_T")
_ATTEMPTS = 3


@dataclass(frozen=True)
class Library:
    con: DuckDBPyConnection
    """The connection, with a view for each table."""
    notes: tuple[str, ...]
    """Sentences about runs left out and other problems."""
    folders: tuple[Path, ...] = ()
    """The folders of its files."""

    def shut(self) -> None:
        """Restricts queries to the files of the tables, irrevocably: for untrusted queries."""
        folders = ", ".join(quoted(folder.absolute()) for folder in self.folders)
        self.con.execute(f"SET allowed_directories = [{folders}]")
        self.con.execute("SET enable_external_access = false")
        self.con.execute("SET lock_configuration = true")

    @classmethod
    @contextmanager
    def open(
        cls,
        runs: Mapping[str, Path],
        root: Path | None = None,
        tell: Callable[[int, int], None] = lambda *_: None,
    ) -> Iterator[Self]:
        """Opens a library of run folders, by name. Tables are kept below `root`; None: not at all.

        `tell` is called with the number of runs read anew so far, and their total.
        """
        with ExitStack() as stack:
            away = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mpigauge-")))
            con = stack.enter_context(connection(away))
            yield cls._over(con, runs, root, away, tell)

    @classmethod
    def _over(
        cls,
        con: DuckDBPyConnection,
        runs: Mapping[str, Path],
        root: Path | None,
        away: Path,
        tell: Callable[[int, int], None],
    ) -> Self:
        place = place_in(root) if root else away
        parts, refusals = read_parts(place), []  # before states: what others make now is let alone
        states = {name: state(path) for name, path in runs.items()}
        missing = {n: (runs[n], states[n]) for n in states.keys() - choose(parts, states).keys()}
        if missing:
            made, refusal = _build(con, place, away, dict(sorted(missing.items())), tell)
            parts.append(made)
            refusals += [refusal] if refusal else []
        chosen = choose(parts, states, missing.keys())
        if missing and not refusals:
            parts = tidy(con, place, parts, chosen)
            chosen = choose(parts, states, missing.keys())
        entries = {name: entry for name, (_, entry) in chosen.items()}
        copies = copies_among(entries, runs)
        counted = {}
        for n, (p, e) in chosen.items():
            if n not in copies and not e.refused:
                counted[n] = p
        for table in TABLES:
            con.execute(f"CREATE OR REPLACE VIEW {table} AS {select(table, parts, counted)}")
        now = datetime.now(timezone.utc)
        notes = (*refusals, *notes_on(entries, copies, now), *_mixed(con))
        return cls(con, notes, (place, away))


def answered(
    runs: Mapping[str, Path],
    root: Path | None,
    question: Callable[[Library], _T],
    tell: Callable[[int, int], None] = lambda *_: None,
) -> _T:
    """Returns the answer of a question to the tables of these runs, repeated if another job
    removes files meanwhile. UserError: files cannot be read or written."""
    import duckdb

    for attempt in range(_ATTEMPTS):
        try:
            with Library.open(runs, root, tell) as library:
                return question(library)
        except (OSError, duckdb.IOException) as error:
            if attempt == _ATTEMPTS - 1:
                raise UserError(f"a file cannot be read or written: {reason(error)}") from None
    raise AssertionError


def reason(error: Exception) -> str:
    """The reason of an error of the system or of DuckDB, in one line."""
    text = error.strerror if isinstance(error, OSError) else None
    return text or str(error).splitlines()[0].removeprefix("IO Error: ")


def connection(away: Path) -> DuckDBPyConnection:
    """Loads nothing from elsewhere, and spills into `away` what memory cannot hold."""
    import duckdb

    return duckdb.connect(
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "temp_directory": str(away / "spill"),
        }
    )


def _build(
    con: DuckDBPyConnection,
    place: Path,
    away: Path,
    runs: Mapping[str, tuple[Path, str]],
    tell: Callable[[int, int], None],
) -> tuple[TablePart, str]:
    """Makes the part of these runs; the text says why it could not be kept; empty: it was."""

    def count(done: int) -> None:
        tell(done, len(runs))

    import duckdb

    try:
        return build(con, place, runs, count), ""
    except (OSError, duckdb.IOException) as error:
        why = f"cannot keep tables in {place}: {reason(error)}; they are made each time"
        return build(con, away, runs, count), why


def copies_among(entries: Mapping[str, FolderState], runs: Mapping[str, Path]) -> dict[str, str]:
    """Runs that are there more than once, each with the one that counts: that with most records."""
    named = [(name, entry.print) for name, entry in entries.items() if not entry.refused]
    copies: dict[str, str] = {}
    for alike in grouped(named, lambda each: each[1].made).values():
        kept: list[tuple[str, Print]] = []
        for name, mine in sorted(alike, key=lambda each: (-each[1].size, each[0])):
            for other, print_of_other in kept:
                if is_copy(mine, print_of_other, runs[other]):
                    copies[name] = other
                    break
            else:
                kept.append((name, mine))
    return copies


def notes_on(
    states: Mapping[str, FolderState], copies: Mapping[str, str], now: datetime
) -> Iterator[str]:
    """Yields sentences about runs left out and other problems."""
    entries = dict(sorted(states.items()))
    for entry in entries.values():
        if entry.refused:
            yield f"left out: {entry.refused}"
    for name, best in sorted(copies.items()):
        yield f"left out: {name} is a copy of {best}"
    yield from faults.ahead({name: entry.created for name, entry in entries.items()}, now)
    for entry in entries.values():
        yield from entry.notes


def _mixed(con: DuckDBPyConnection) -> list[str]:
    """Figures of one name in more than one unit: they must not be compared as they are."""
    mixed = con.execute(
        "SELECT name, benchmark, string_agg(DISTINCT unit, ', ' ORDER BY unit) FROM figures "
        "GROUP BY ALL HAVING count(DISTINCT unit) > 1 ORDER BY ALL"
    ).fetchall()
    return [
        f"the figure {name} of {what} is in {units}: compare by unit" for name, what, units in mixed
    ]
