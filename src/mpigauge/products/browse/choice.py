# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Selects runs by words, a benchmark, an MPI, a host, days, or an expression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class RunFilter:
    """The conditions that runs must meet; an empty one is always met."""

    find: str = ""
    """A substring of the name, command, host or MPI; case does not matter."""
    benchmark: str = ""
    mpi: str = ""
    """Its name, or its name and version."""
    host: str = ""
    since: str = ""
    until: str = ""
    """The last day, such as 2026-11-21, UTC; both limits are inclusive."""
    where: str = ""
    """An SQL expression over the columns of the table runs."""
    sort: str = ""
    """A key of SORTS, prefixed by - for descending order; empty: newest first."""


SORTS = {
    "run": "run", "begun": "created", "mpi": "mpi", "host": "host", "benchmarks": "benchmarks[1]",
    "latency": "latency_s", "bandwidth": "bandwidth_bytes_per_s", "rows": "rows + figures",
    "ended": "status",
}  # fmt: skip
"""The sort keys of lists of runs, as written in addresses, and their SQL expressions."""
_MENUS = {
    "benchmark": "SELECT unnest(benchmarks) FROM runs",
    "mpi": "SELECT mpi FROM runs UNION SELECT mpi_name FROM runs",
    "host": "SELECT host FROM runs UNION SELECT unnest(hosts) FROM runs",
}
_FITS = {
    "find": "contains(lower(concat_ws(' ', run, command, host, mpi)), lower(?))",
    "benchmark": "list_contains(benchmarks, ?)",
    "mpi": "(mpi = $1 OR mpi_name = $1)",
    "host": "(host = $1 OR list_contains(hosts, $1))",
    "since": "created >= CAST(? AS DATE)",
    "until": "created < CAST(? AS DATE) + INTERVAL 1 DAY",
}


def menus(con: DuckDBPyConnection) -> dict[str, list[str]]:
    """Returns the values to choose from for each field of RunFilter."""
    menu_values = {}
    for name, query in _MENUS.items():
        values = {value for (value,) in con.execute(query).fetchall() if value}
        menu_values[name] = sorted(values, key=str.lower)
    return menu_values


WHERE_TABLES = ("runs",)
"""The tables that an expression may name."""


def where_query(choice: RunFilter) -> str:
    """Returns the query for runs that match the user's expression; empty without one."""
    if choice.where.strip():
        return f"SELECT run FROM runs WHERE ({choice.where}\n)"
    return ""


def fitting(
    con: DuckDBPyConnection, choice: RunFilter, chosen: Collection[str] | None = None
) -> list[str]:
    """Returns the runs that match, in the requested order. `chosen`: the runs selected by the
    user's expression; None: all. UserError: an invalid day or sort key."""
    query = f"SELECT run FROM runs ORDER BY {_order(choice.sort)}"
    names = [row[0] for row in con.execute(query).fetchall()]
    for kept in _kept(con, choice):
        names = [name for name in names if name in kept]
    if chosen is not None:
        names = [name for name in names if name in chosen]
    return names


def lines(
    con: DuckDBPyConnection, names: Sequence[str], columns: Sequence[str]
) -> list[dict[str, Any]]:
    """Returns these columns of the table runs for these runs, in their order."""
    query = f"SELECT run, {', '.join(columns)} FROM runs WHERE run IN (SELECT unnest($1))"
    rows = {row[0]: row for row in con.execute(query, [list(names)]).fetchall()}
    return [dict(zip(("run", *columns), rows[name], strict=True)) for name in names]


_NEWEST = "created DESC NULLS LAST, run DESC"


def _order(sort: str) -> str:
    word = sort.removeprefix("-")
    if not word:
        return _NEWEST
    if word not in SORTS:
        raise UserError(f"runs cannot be sorted by '{word}'{did_you_mean(word, SORTS)}")
    direction = "DESC" if sort.startswith("-") else "ASC"
    return f"{SORTS[word]} {direction} NULLS LAST, {_NEWEST}"


def _kept(con: DuckDBPyConnection, choice: RunFilter) -> Iterator[set[str]]:
    """Yields the runs that match each field that is not empty."""
    for name, value in _given(choice).items():
        if name in ("since", "until"):
            _check_day(value)
        rows = con.execute(f"SELECT run FROM runs WHERE {_FITS[name]}", [value])
        yield {row[0] for row in rows.fetchall()}


def _given(choice: RunFilter) -> Mapping[str, str]:
    given = {}
    for name in _FITS:
        value = getattr(choice, name).strip()
        if value:
            given[name] = value
    return given


def _check_day(text: str) -> None:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise UserError(f"'{text}' is not a day; write one as 2026-11-21") from None
