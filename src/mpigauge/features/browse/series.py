# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The same number of several runs: which there are, and each of them over time.

A number is the same where all its columns are, and where the host, the MPI (of any version), the
transport and the settings that were asked for are. What else may change between its runs is told
as facts.

What others measured takes part where its machine and its date are known: numbers of unknown
machines are not of one machine, and when something was imported says nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from mpigauge.features.browse.trend import Fact, TrendPoint
from mpigauge.model.cards import benchmark_word
from mpigauge.model.column_facts import IDENTITY
from mpigauge.model.record import JOB, Figure
from mpigauge.model.row import Estimate
from mpigauge.result.library.build import quoted
from mpigauge.result.stats.figures import estimate

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_RUNS, MOST_ON_BOARD = 400, 60
"""Of one series, and of each where many are seen: the newest."""
_ASKED = ("host", "mpi_name", "transport", "settings")
"""What holds for a whole run and makes its numbers what they are."""
_TAKES_PART = "u.dated AND (u.host <> '' OR NOT u.imported)"
_OF_FIGURES = tuple(field.name for field in fields(Figure) if field.name not in ("launch", "value"))
FACTS = {
    "MPI": "mpi_version", "provider": "provider", "driver": "drivers", "libraries": "libraries",
    "kernel": "kernel", "microcode": "microcode", "governor": "governors", "turbo": "turbo",
    "processor": "cpu", "libc": "libc", "mpigauge": "version",
}  # fmt: skip
"""By their words, the columns of runs."""


@dataclass(frozen=True)
class RunSeries:
    id: str
    """Says which it is, in 16 letters that are the same tomorrow."""
    runs: int
    first: datetime
    last: datetime
    asked: Mapping[str, str]
    """Host, mpi_name, transport and settings."""
    columns: Mapping[str, Any]
    """Of the cell or the figure."""

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
        """time, or which direction of a figure is better."""
        if self.is_time:
            return "time"
        return str(self.columns["better"])


def series(con: DuckDBPyConnection, runs: Sequence[str], benchmark: str = "") -> list[RunSeries]:
    """Numbers that two of these runs or more have, those of most runs first."""
    found = [*_index(con, _TIMES, runs), *_index(con, _FIGURES, runs)]
    named = [each for each in found if benchmark in ("", each.benchmark)]
    return sorted(named, key=_order)


def started_otherwise(of: RunSeries, among: Sequence[RunSeries]) -> list[RunSeries]:
    """Series of the same number where ranks were brought together in another way: each is one of
    its own."""
    return [each for each in among if each.id != of.id and _but_sync(each) == _but_sync(of)]


def _but_sync(of: RunSeries) -> tuple[dict[str, Any], dict[str, Any]]:
    columns = {name: value for name, value in of.columns.items() if name != "sync"}
    return dict(of.asked), columns


def _order(of: RunSeries) -> tuple[object, ...]:
    return -of.runs, of.benchmark.lower(), of.message_bytes, *of.asked.values(), of.id


def points(con: DuckDBPyConnection, of: RunSeries, runs: Sequence[str]) -> list[TrendPoint]:
    """The newest of these runs, each with its number."""
    source = _source_of(of)
    facts = ", ".join(f"u.{column}" for column in FACTS.values())
    group = "" if of.is_time else f"GROUP BY r.run, r.created, {facts}"
    found = con.execute(
        f"SELECT r.run, r.created, {facts}, {source.value} "
        f"FROM {source.table} AS r JOIN runs AS u USING (run) "
        f"WHERE {source.id} = $1 AND r.run IN (SELECT unnest($2)) "
        f"AND r.created IS NOT NULL AND {_TAKES_PART} {group} "
        f"ORDER BY r.created DESC, r.run LIMIT {MOST_RUNS}",
        [of.id, list(runs)],
    )
    return [_point(row, FACTS) for row in _named_rows(found)]


def histories(
    con: DuckDBPyConnection, of: Sequence[RunSeries], runs: Sequence[str]
) -> dict[str, list[TrendPoint]]:
    """The newest of these runs in each series, without what may have changed: for a board."""
    found: dict[str, list[TrendPoint]] = {each.id: [] for each in of}
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
            found[row["id"]].append(_point(row, {}))
    return found


def _named_rows(found: DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """The rows that a query has found, by the names of their columns."""
    names = [name for name, *_ in found.description or ()]
    for row in found.fetchall():
        yield dict(zip(names, row, strict=True))


def facts(con: DuckDBPyConnection, runs: Sequence[str]) -> list[dict[str, str]]:
    """What each run was made with, by words; nothing where it is not in the tables."""
    told = {**_TOLD, **FACTS, "MPI": "mpi"}
    query = f"SELECT run, {', '.join(told.values())} FROM runs WHERE run IN (SELECT unnest($1))"
    found = {run: values for run, *values in con.execute(query, [list(runs)]).fetchall()}
    known: list[dict[str, str]] = []
    for run in runs:
        words = [_in_words(_fact(value)) for value in found.get(run, ())]
        known.append(dict(zip(told, words, strict=False)))
    return known


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
    """Where numbers of a kind are in the library, and how to ask for one."""

    table: str
    columns: Sequence[str]
    """What makes a number this one."""
    value: str
    """What is selected of it."""

    @property
    def names(self) -> str:
        return _listed("r", self.columns)

    @property
    def id(self) -> str:
        """Says which number it is, in 16 letters."""
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
    found = con.execute(
        f"SELECT {source.id} AS id, count(DISTINCT r.run) AS runs, "
        f"min(r.created), max(r.created), {_ASKED_OF_RUN}, {source.names} "
        f"FROM {source.table} AS r JOIN runs AS u USING (run) "
        f"WHERE r.run IN (SELECT unnest($1)) AND r.created IS NOT NULL AND {_TAKES_PART} "
        f"AND r.benchmark <> {quoted(JOB)} "
        f"GROUP BY {_ASKED_OF_RUN}, {source.names} HAVING count(DISTINCT r.run) > 1",
        [list(runs)],
    )
    for id_, count, first, last, *rest in found.fetchall():
        told = dict(zip(_ASKED, rest, strict=False))
        kept = dict(zip(source.columns, rest[len(_ASKED) :], strict=True))
        yield RunSeries(id_, count, _utc(first), _utc(last), told, kept)


def _point(found: Mapping[str, Any], told: Mapping[str, str]) -> TrendPoint:
    """`told`: the columns that hold what may have changed, by its words."""
    values = found.get("values")
    return TrendPoint(
        run=found["run"],
        time=_utc(found["created"]),
        value=estimate(values) if values else _latency(found),
        launches=len(values) if values else found["launches"],
        facts={name: _fact(found[column]) for name, column in told.items()},
        flags=tuple(found.get("flags") or ()),
        wrong_count=found.get("wrong_count") or 0,
    )


def _latency(found: Mapping[str, Any]) -> Estimate:
    value, low, high = found["latency_s"], found["latency_low_s"], found["latency_high_s"]
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
