# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A query that only reads: its answer, its answer as a file, and its errors in one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.errors import UserError, did_you_mean, nearest_or_all
from mpigauge.model.spreadsheet import FORMULA, NUMBER, TEXT_MARK
from mpigauge.result.library.build import quoted
from mpigauge.result.library.memory import TOO_MUCH
from mpigauge.result.library.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from duckdb import DuckDBPyConnection

FORMS = {
    "csv": "FORMAT csv, HEADER",
    "json": "FORMAT json, ARRAY true",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}
_AS_TEXT = (
    f"CASE WHEN {{0}} IS NOT NULL THEN concat(CASE WHEN regexp_matches({{0}}, {quoted(FORMULA)}) "
    f"AND NOT regexp_matches({{0}}, {quoted(NUMBER)}) THEN {quoted(TEXT_MARK)} END, {{0}}) END"
)
"""Text of a query as a cell that no spreadsheet evaluates."""
_READING = "SELECT, FROM, WITH, DESCRIBE or SUMMARIZE"
_WRITING = re.compile(
    r'"name": "[A-Z_]*(COPY|INSERT|UPDATE|DELETE|MERGE|CREATE|DROP|ALTER|EXPORT|ATTACH)[A-Z_]*"'
)
"""Operators of a plan."""
_NO_COLUMN = re.compile(
    r'(?:Referenced column|Referenced table|does not have a column named) "(\w+)"'
)
_NO_TABLE = re.compile(r"Table with name (\S+) does not exist")


class QueryResult(NamedTuple):
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def columns_of(*tables: str) -> list[str]:
    return list(dict.fromkeys(field.name for table in tables for field in TABLES[table]))


def ask(con: DuckDBPyConnection, query: str, tables: Sequence[str] = tuple(TABLES)) -> QueryResult:
    """Runs a query. `tables`: those whose names are suggested for unknown ones. UserError: it is
    not a query, would write, or names unknown tables or columns."""
    import duckdb

    _check_reads(con, query, tables)
    try:
        result = con.execute(_as(query, con, "TIME ZONE", "CAST({} AS VARCHAR)"))
        return QueryResult(tuple(name for name, *_ in result.description or ()), result.fetchall())
    except MemoryError:
        raise UserError(TOO_MUCH) from None
    except duckdb.IOException:
        raise
    except duckdb.Error as error:
        raise UserError(_one_line(error, tables)) from None


def write(con: DuckDBPyConnection, query: str, form: str, path: Path) -> None:
    """The answer as a file of one of FORMS. Errors as `ask` has them."""
    import duckdb

    _check_reads(con, query, tuple(TABLES))
    try:
        if form == "json":  # which has no word for what is not a number
            query = _as(query, con, "DOUBLE", "CASE WHEN isfinite({0}) THEN {0} END")
        if form == "csv":
            query = _as(query, con, "VARCHAR", _AS_TEXT)
        con.execute(f"COPY ({_inner(query)}) TO {quoted(path)} ({FORMS[form]})")
    except duckdb.IOException:
        raise
    except duckdb.Error as error:
        raise UserError(_one_line(error, tuple(TABLES))) from None


def _check_reads(con: DuckDBPyConnection, query: str, tables: Sequence[str]) -> None:
    """One statement that reads, and whose plan writes nothing: a SELECT may hold a COPY."""
    import duckdb

    try:
        statements = con.extract_statements(query)
        if len(statements) != 1:
            raise UserError(f"there are {len(statements)} queries in '{query}'; write one")
        if (kind := statements[0].type) != duckdb.StatementType.SELECT:
            _refuse({"MULTI": "PIVOT without IN (…)"}.get(kind.name, kind.name))
        plan = con.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()[0][1]
    except duckdb.IOException:
        raise
    except duckdb.Error as error:
        raise UserError(_one_line(error, tables)) from None
    if match := _WRITING.search(plan):
        _refuse(match[1])


def _refuse(what: str) -> None:
    raise UserError(f"a query may only read, and {what} is refused; begin it with {_READING}")


def _as(query: str, con: DuckDBPyConnection, kind: str, form: str) -> str:
    """The query with its columns of a type in another form: times with a zone, which need a package
    that we do without, as words."""
    relation = con.sql(_inner(query))
    of_kind = []
    for n, t in zip(relation.columns, relation.types, strict=True):
        if str(t).endswith(kind):
            of_kind.append(n)
    if not of_kind:
        return query
    changed = ", ".join(f"{form.format(_name(name))} AS {_name(name)}" for name in of_kind)
    return f"SELECT * REPLACE ({changed}) FROM ({_inner(query)})"


def _inner(query: str) -> str:
    """A query as it stands in brackets: without a semicolon, and no comment takes the bracket."""
    return query.rstrip().rstrip(";") + "\n"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _one_line(error: Exception, tables: Sequence[str]) -> str:
    """DuckDB's words, shortened; with our nearest name where one is unknown."""
    text = str(error)
    if type(error).__name__ == "OutOfMemoryException":
        return TOO_MUCH
    if match := _NO_COLUMN.search(text):
        name = match[1]
        return f"there is no column '{name}'{did_you_mean(name, [*columns_of(*tables), *tables])}"
    if match := _NO_TABLE.search(text):
        name = match[1]
        hint = nearest_or_all(name, tables)
        return f"there is no table '{name}'{hint}"
    first, *more = text.splitlines()
    message = first.partition(": ")[2] or first
    hint = next((line for line in more if line.startswith("Did you mean")), "")
    wrong = ("ParserException", "BinderException", "CatalogException")
    what = "this is not a query" if type(error).__name__ in wrong else "the query failed"
    return f"{what}: {message} {hint}".rstrip()
