# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs too large to be read record by record: all of their curves as numbers, some as records.

DuckDB reads only the columns that identify cells and their times, several times as fast as records
are parsed. Only the lines of the most informative curves then become records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mpigauge.model.cards import benchmark_word
from mpigauge.model.column_facts import OF_CURVES
from mpigauge.model.columns import ABSENT, KEY_COLUMNS
from mpigauge.model.errors import UserError
from mpigauge.model.extras import require
from mpigauge.model.record import in_vocabulary
from mpigauge.result.library.build import quoted
from mpigauge.result.library.library import connection
from mpigauge.result.library.tables import type_of
from mpigauge.result.stats.curve_stats import Member, most_informative, variant_of, varied
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL
from mpigauge.result.stats.order import running_orders
from mpigauge.runs.store import load
from mpigauge.runs.store.reader import between_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from duckdb import DuckDBPyConnection

    from mpigauge.runs.store import Run

LARGE_BYTES = 100_000_000
"""The size of records.jsonl from which a run is large; smaller ones are read in seconds."""
DETAILED_ROWS = 2_000
"""The number of rows of a large run that are shown in full detail."""
_NUMBERS = ("time_p50_s", "ci_low_s", "ci_high_s", "time_scale")
_LARGEST_LINE = 1 << 28


@dataclass(frozen=True)
class Large:
    run: Run
    """The run with its most informative curves only."""
    members: tuple[Member, ...]
    """All curves, as numbers."""


def is_large(path: Path) -> bool:
    try:
        return (path / "records.jsonl").stat().st_size > LARGE_BYTES
    except OSError:
        return False


def load_large(path: Path, rows: int = DETAILED_ROWS) -> Large:
    """About so many rows of this run as records. UserError: it cannot be read, or the
    extra for this is not installed."""
    require("sql", f"a run as large as {path.name}")
    import duckdb

    try:
        with TemporaryDirectory(prefix="mpigauge-") as away, connection(Path(away)) as con:
            curves = _curves(con, path / "records.jsonl", _widening(path))
            members = tuple(_members(curves))
            chosen = most_informative(members, rows)
            lines = _lines(con, [curves[place][0] for place in chosen])
    except duckdb.Error as error:
        raise UserError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    run = _part(path, lines, members, chosen)
    _check(run, {tuple(curves[place][1 : 1 + len(OF_CURVES)]) for place in chosen})
    return Large(run, members)


def _part(
    path: Path, lines: Sequence[int], members: Sequence[Member], chosen: Sequence[int]
) -> Run:
    run = load(path, lines=dict.fromkeys(lines))
    shown = sum(len(members[place].sizes) for place in chosen)
    whole = sum(len(member.sizes) for member in members)
    words = (
        f"{shown} of {whole} rows ({len(chosen)} of {len(members)} curves) are examined closely: "
        "of each benchmark the default, and what is farthest from the usual to either side; "
        "`mpigauge export csv RUN` writes all"
    )
    return replace(run, part=words)


def _check(run: Run, keys: set[tuple[Any, ...]]) -> None:
    """Checks that all cells are of these curves. UserError: the file changed meanwhile."""
    if any(variant_of(cell) not in keys for cell in run.cells):
        raise UserError(f"{run.path / 'records.jsonl'} was changed while it was read; try again")


def _widening(path: Path) -> float:
    """Returns the width of the run's intervals relative to independent launches."""
    between, _ = between_of(path)
    if between:
        return between.widening
    return 1.0


def _curves(con: DuckDBPyConnection, file: Path, widening: float) -> list[tuple[Any, ...]]:
    """All curves: the number of each in the tables, its columns, sizes, times, errors, wrong."""
    _scan(con, file)
    orders = []
    for launches, order in enumerate(running_orders(_MOST_LAUNCHES)):
        orders.append(f"({launches}, {order})")
    listed = ", ".join(orders)
    con.execute(f"CREATE TEMP TABLE orders AS FROM (VALUES {listed}) AS orders(many, k)")
    con.execute(_ROWS.format(widening=widening))
    names = ("message_bytes", "latency", "error")
    lists = ", ".join(f"list({name} ORDER BY message_bytes)" for name in names)
    curves = con.execute(
        f"SELECT cells.curve, {_in_quotes(OF_CURVES)}, of.* EXCLUDE (begin_line) "
        f"FROM (SELECT {lists}, "
        "sum(wrong)::BIGINT, min(begin_line) AS begin_line FROM numbers GROUP BY curve) AS of "
        "JOIN cells ON cells.rowid = begin_line ORDER BY begin_line"
    ).fetchall()
    return list(map(_in_vocabulary, curves))


def _in_vocabulary(curve: tuple[Any, ...]) -> tuple[Any, ...]:
    """The curve with its columns as records have them once they are read."""
    columns = in_vocabulary(dict(zip(OF_CURVES, curve[1:], strict=False)))
    return curve[0], *columns.values(), *curve[1 + len(OF_CURVES) :]


def _in_quotes(names: Iterable[str]) -> str:
    """Names of columns, as SQL lists them."""
    return ", ".join(f'"{name}"' for name in names)


def _members(rows: Sequence[tuple[Any, ...]]) -> list[Member]:
    columns = varied([row[1 : 1 + len(OF_CURVES)] for row in rows])
    return [_member(row[1:], columns) for row in rows]


def _scan(con: DuckDBPyConnection, file: Path) -> None:
    """A table with a row for each line that is not empty, in the order of the file."""
    names = ["record", "launch", *KEY_COLUMNS, *_NUMBERS, "wrong_count"]
    types = ", ".join(f"{quoted(name)}: {quoted(type_of(name))}" for name in names)
    full = []
    for name in KEY_COLUMNS:
        if name in ABSENT:
            full.append(f'coalesce("{name}", {quoted(ABSENT[name])}) AS "{name}"')
    lines = (
        f"read_json({quoted(file)}, format = 'newline_delimited', columns = {{{types}}}, "
        f"ignore_errors = true, maximum_object_size = {_LARGEST_LINE})"
    )
    # Two curves of a million have one hash of 64 bits with a probability of 1e-8.
    con.execute(
        f"CREATE TEMP TABLE cells AS SELECT *, hash({_in_quotes(OF_CURVES)}) AS curve "
        f"FROM (SELECT * REPLACE ({', '.join(full)}) FROM {lines})"
    )


_BETWEEN = f"""
  CASE WHEN n >= {LEAST_FOR_INTERVAL}
       THEN {{least}}({{ordered}}, t {{sign}} greatest(coalesce({{typical}}, 0), 0)
                      * sqrt({LEAST_FOR_INTERVAL} / n))
       WHEN n > 1 THEN {{end}} ELSE {{own}} END"""
_LOW = _BETWEEN.format(
    least="least", ordered="ts[k]", sign="-", typical="below", end="ts[1]", own="low"
)
_HIGH = _BETWEEN.format(
    least="greatest", ordered="ts[n - k + 1]", sign="+", typical="above", end="ts[n]", own="high"
)
_WIDER = (
    f"CASE WHEN n >= {LEAST_FOR_INTERVAL} AND lower > 0 "
    "THEN t * pow({end} / t, {{widening}}) ELSE {end} END"
)
_MOST_LAUNCHES = 500
"""The order statistics of more are taken as those of so many, which makes intervals wider."""
_ROWS = f"""
CREATE TEMP TABLE numbers AS
WITH
latest AS (  -- what a launch holds twice counts once, the later
  SELECT max(rowid) AS line FROM cells WHERE record = 'cell' AND time_p50_s > 0
  GROUP BY curve, message_bytes, launch),
counted AS (
  SELECT cells.curve, cells.message_bytes, count(*) AS n, median(time_p50_s) AS t,
         list_sort(list(time_p50_s)) AS ts, median(time_p50_s - ci_low_s) AS below,
         median(ci_high_s - time_p50_s) AS above, any_value(ci_low_s) AS low,
         any_value(ci_high_s) AS high, any_value(time_scale) AS scale,
         sum(wrong_count) AS wrong, min(line) AS begin_line
  FROM latest JOIN cells ON cells.rowid = latest.line GROUP BY cells.curve, cells.message_bytes),
ends AS (
  SELECT counted.*, {_LOW} AS lower, {_HIGH} AS upper
  FROM counted LEFT JOIN orders ON many = least(n, {_MOST_LAUNCHES})),
widened AS (  -- as stats.launches.widened: ends as ratios, so that times stay above 0
  SELECT * REPLACE ({_WIDER.format(end="lower")} AS lower, {_WIDER.format(end="upper")} AS upper)
  FROM ends)
SELECT curve, message_bytes, begin_line, wrong, t * scale AS latency,
       greatest(upper - t, t - lower) / t AS error FROM widened"""


def _lines(con: DuckDBPyConnection, curves: Sequence[int]) -> list[int]:
    """The numbers, from 0, of the lines with these curves, and with what is not a cell."""
    con.execute("CREATE TEMP TABLE chosen (curve UBIGINT)")
    if curves:
        listed = ", ".join(f"({curve})" for curve in curves)
        con.execute(f"INSERT INTO chosen VALUES {listed}")
    rows = con.execute(
        "SELECT rowid FROM cells WHERE record IS DISTINCT FROM 'cell' "
        "OR curve IN (SELECT curve FROM chosen) ORDER BY rowid"
    ).fetchall()
    return [line for (line,) in rows]


def _member(row: Sequence[Any], columns: Sequence[str]) -> Member:
    values = dict(zip(OF_CURVES, row, strict=False))
    sizes, times, errors, wrong = row[len(OF_CURVES) :]
    known_errors = [math.nan if error is None else error for error in errors]
    return Member(
        benchmark_word(values["suite"], values["benchmark"]),
        values["ranks"],
        tuple((name, values[name]) for name in columns),
        tuple(sizes),
        tuple(times),
        tuple(known_errors),
        wrong,
    )
