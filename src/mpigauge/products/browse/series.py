# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds numbers that several runs have, and their values over time.

A number is the same if all its columns, the host, the MPI (of any version), the requested transport
and the requested settings are the same. Anything else that may change between runs is a fact.

Imported numbers are included if their machine and date are known: numbers of unknown machines may
be of different machines, and the date of an import is not the date of the measurement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from mpigauge.model.cards import benchmark_word
from mpigauge.model.column_facts import IDENTITY
from mpigauge.model.record import JOB, Figure
from mpigauge.model.row import Estimate
from mpigauge.products.browse.trend import Fact, TrendPoint
from mpigauge.result.library.build import quoted
from mpigauge.result.stats.figures import estimate

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_RUNS, MOST_ON_BOARD = 400, 60
"""The maximum numbers of runs, the newest, in one series and in each of a list of series."""
_ASKED = ("host", "mpi_name", "transport", "settings")
"""The columns of a run that are part of the identity of its numbers."""
_TAKES_PART = "u.dated AND (u.host <> '' OR NOT u.imported)"
_OF_FIGURES = tuple(field.name for field in fields(Figure) if field.name not in ("launch", "value"))
FACTS = {
    "MPI": "mpi_version", "provider": "provider", "driver": "drivers", "libraries": "libraries",
    "kernel": "kernel", "microcode": "microcode", "governor": "governors", "turbo": "turbo",
    "processor": "cpu", "libc": "libc", "mpigauge": "version",
}  # fmt: skip
"""The columns of the table runs that hold facts, by the names of the facts."""


@dataclass(frozen=True)
class RunSeries:
    id: str
    """A stable identifier of 16 hexadecimal digits."""
    runs: int
    first: datetime
    last: datetime
    asked: Mapping[str, str]
    """The values of host, mpi_name, transport and settings."""
    columns: Mapping[str, Any]
    """The columns of the cell or figure."""

    @property
    def is_time(self) -> bool:
        return "message_bytes" in self.columns

    @property
    def benchmark(self) -> str:
        if self.is_time:
            return benchmark_word(self.columns["suite"], self.columns["benchmark"])
        return str(self.columns["benchmark"])

    @property
    def message_bytes(self) -> int:
        return int(self.columns.get("message_bytes", -1))

    @property
    def kind(self) -> str:
        """Returns "time", or the better direction of a figure."""
        if self.is_time:
            return "time"
        return str(self.columns["better"])


def series(con: DuckDBPyConnection, runs: Sequence[str], benchmark: str = "") -> list[RunSeries]:
    """Returns the numbers that at least two of these runs have, those with most runs first."""
    numbers = [*_index(con, _TIMES, runs), *_index(con, _FIGURES, runs)]
    named = [each for each in numbers if benchmark in ("", each.benchmark)]
    return sorted(named, key=_order)


def started_otherwise(of: RunSeries, among: Sequence[RunSeries]) -> list[RunSeries]:
    """Returns the series of the same number with another synchronization of ranks."""
    return [each for each in among if each.id != of.id and _but_sync(each) == _but_sync(of)]


def _but_sync(of: RunSeries) -> tuple[dict[str, Any], dict[str, Any]]:
    columns = {name: value for name, value in of.columns.items() if name != "sync"}
    return dict(of.asked), columns


def _order(of: RunSeries) -> tuple[object, ...]:
    return -of.runs, of.benchmark.lower(), of.message_bytes, *of.asked.values(), of.id


def points(con: DuckDBPyConnection, of: RunSeries, runs: Sequence[str]) -> list[TrendPoint]:
    """Returns the newest MOST_RUNS of these runs with their values and facts."""
    source = _source_of(of)
    facts = ", ".join(f"u.{column}" for column in FACTS.values())
    group = "" if of.is_time else f"GROUP BY r.run, r.created, {facts}"
    cursor = con.execute(
        f"SELECT r.run, r.created, {facts}, {source.value} "
        f"FROM {source.table} AS r JOIN runs AS u USING (run) "
        f"WHERE {source.id} = $1 AND r.run IN (SELECT unnest($2)) "
        f"AND r.created IS NOT NULL AND {_TAKES_PART} {group} "
        f"ORDER BY r.created DESC, r.run LIMIT {MOST_RUNS}",
        [of.id, list(runs)],
    )
    return [_point(row, FACTS) for row in _named_rows(cursor)]


def histories(
    con: DuckDBPyConnection, of: Sequence[RunSeries], runs: Sequence[str]
) -> dict[str, list[TrendPoint]]:
    """Returns the newest MOST_ON_BOARD runs of each series, without facts."""
    points_by_id: dict[str, list[TrendPoint]] = {each.id: [] for each in of}
    for source in (_TIMES, _FIGURES):
        ids = [each.id for each in of if _source_of(each) is source]
        if not ids:
            continue
        group = "" if source is _TIMES else "GROUP BY id, r.run, r.created"
        points = con.execute(
            f"SELECT {source.id} AS id, r.run, r.created, {source.value} "
            f"FROM {source.table} AS r JOIN runs AS u USING (run) "
            f"WHERE {source.id} IN (SELECT unnest($1)) "
            f"AND r.run IN (SELECT unnest($2)) AND r.created IS NOT NULL AND {_TAKES_PART} {group} "
            "QUALIFY row_number() OVER (PARTITION BY id ORDER BY r.created DESC, r.run) "
            f"<= {MOST_ON_BOARD}",
            [ids, list(runs)],
        )
        for row in _named_rows(points):
            points_by_id[row["id"]].append(_point(row, {}))
    return points_by_id


def _named_rows(cursor: DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """Yields the rows of a query as dictionaries by column name."""
    names = [name for name, *_ in cursor.description or ()]
    for row in cursor.fetchall():
        yield dict(zip(names, row, strict=True))


def facts(con: DuckDBPyConnection, runs: Sequence[str]) -> list[dict[str, str]]:
    """Returns the facts of each run, by name; empty if the run is not in the tables."""
    columns = {**_TOLD, **FACTS, "MPI": "mpi"}
    query = f"SELECT run, {', '.join(columns.values())} FROM runs WHERE run IN (SELECT unnest($1))"
    values_by_run = {run: values for run, *values in con.execute(query, [list(runs)]).fetchall()}
    facts_of_runs: list[dict[str, str]] = []
    for run in runs:
        words = [_in_words(_fact(value)) for value in values_by_run.get(run, ())]
        facts_of_runs.append(dict(zip(columns, words, strict=False)))
    return facts_of_runs


_TOLD = {"command": "command", "host": "host", "transport": "transport", "settings": "settings"}
_TIME = (
    "r.latency_s, "
    "coalesce(r.latency_low_s, r.range_low_s * r.time_scale) AS latency_low_s, "
    "coalesce(r.latency_high_s, r.range_high_s * r.time_scale) AS latency_high_s, "
    "r.launches, r.flags, r.wrong_count"
)
_FIGURE = "list(r.value ORDER BY r.launch) AS values"


@dataclass(frozen=True)
class _Source:
    """The table of a kind of numbers, and the SQL that selects one."""

    table: str
    columns: Sequence[str]
    """The columns that identify a number."""
    value: str
    """The SQL that selects the value."""

    @property
    def names(self) -> str:
        return _listed("r", self.columns)

    @property
    def id(self) -> str:
        """Returns the SQL of the identifier of a number."""
        return f"substr(md5(CAST(row({_ASKED_OF_RUN}, {self.names}) AS VARCHAR)), 1, 16)"


def _listed(table: str, columns: Sequence[str]) -> str:
    return ", ".join(f"{table}.{name}" for name in columns)


_ASKED_OF_RUN = _listed("u", _ASKED)
_TIMES = _Source("rows", IDENTITY, _TIME)
_FIGURES = _Source("figures", _OF_FIGURES, _FIGURE)


def _source_of(of: RunSeries) -> _Source:
    if of.is_time:
        return _TIMES
    return _FIGURES


def _index(con: DuckDBPyConnection, source: _Source, runs: Sequence[str]) -> Iterator[RunSeries]:
    cursor = con.execute(
        f"SELECT {source.id} AS id, count(DISTINCT r.run) AS runs, "
        f"min(r.created), max(r.created), {_ASKED_OF_RUN}, {source.names} "
        f"FROM {source.table} AS r JOIN runs AS u USING (run) "
        f"WHERE r.run IN (SELECT unnest($1)) AND r.created IS NOT NULL AND {_TAKES_PART} "
        f"AND r.benchmark <> {quoted(JOB)} "
        f"GROUP BY {_ASKED_OF_RUN}, {source.names} HAVING count(DISTINCT r.run) > 1",
        [list(runs)],
    )
    for id_, count, first, last, *rest in cursor.fetchall():
        identity = dict(zip(_ASKED, rest, strict=False))
        kept = dict(zip(source.columns, rest[len(_ASKED) :], strict=True))
        yield RunSeries(id_, count, _utc(first), _utc(last), identity, kept)


def _point(row: Mapping[str, Any], columns: Mapping[str, str]) -> TrendPoint:
    """Makes a point of a row. `columns`: the columns that hold facts, by the names of facts."""
    values = row.get("values")
    return TrendPoint(
        run=row["run"],
        time=_utc(row["created"]),
        value=estimate(values) if values else _latency(row),
        launches=len(values) if values else row["launches"],
        facts={name: _fact(row[column]) for name, column in columns.items()},
        flags=tuple(row.get("flags") or ()),
        wrong_count=row.get("wrong_count") or 0,
    )


def _latency(row: Mapping[str, Any]) -> Estimate:
    value, low, high = row["latency_s"], row["latency_low_s"], row["latency_high_s"]
    return Estimate(_real(value), _real(low), _real(high))


def _real(value: float | None) -> float:
    if value is None:
        return float("nan")
    return value


def _fact(value: Any) -> Fact:
    if isinstance(value, bool):
        if value:
            return "on"
        return "off"
    if isinstance(value, list):
        return tuple(value)
    return str(value or "")


def _in_words(fact: Fact) -> str:
    if isinstance(fact, str):
        return fact
    return ", ".join(fact)


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc)
