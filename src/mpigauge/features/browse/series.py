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
        return "time" if self.is_time else str(self.columns["better"])


def series(con: DuckDBPyConnection, runs: Sequence[str], benchmark: str = "") -> list[RunSeries]:
    """Numbers that two of these runs or more have, those of most runs first."""
    found = [*_index(con, "rows", IDENTITY, runs), *_index(con, "figures", _OF_FIGURES, runs)]
    named = [each for each in found if benchmark in ("", each.benchmark)]
    return sorted(named, key=_order)


def started_otherwise(of: RunSeries, among: Sequence[RunSeries]) -> list[RunSeries]:
    """The same number where ranks were brought together in another way: a series of its own."""
    return [each for each in among if each.id != of.id and _but_sync(each) == _but_sync(of)]


def _but_sync(of: RunSeries) -> tuple[dict[str, Any], dict[str, Any]]:
    columns = {name: value for name, value in of.columns.items() if name != "sync"}
    return dict(of.asked), columns


def _order(of: RunSeries) -> tuple[object, ...]:
    return -of.runs, of.benchmark.lower(), of.message_bytes, *of.asked.values(), of.id


def points(con: DuckDBPyConnection, of: RunSeries, runs: Sequence[str]) -> list[TrendPoint]:
    """The newest of these runs, each with its number."""
    facts = ", ".join(f"u.{column}" for column in FACTS.values())
    table, columns = ("rows", IDENTITY) if of.is_time else ("figures", _OF_FIGURES)
    value = _TIME if of.is_time else _FIGURE
    asked = ", ".join(f"u.{name}" for name in _ASKED)
    group = "" if of.is_time else f"GROUP BY r.run, r.created, {facts}"
    found = con.execute(
        f"SELECT r.run, r.created, {facts}, {value} FROM {table} AS r JOIN runs AS u USING (run) "
        f"WHERE {_id(columns, asked)} = $1 AND r.run IN (SELECT unnest($2)) "
        f"AND r.created IS NOT NULL AND {_TAKES_PART} {group} "
        f"ORDER BY r.created DESC, r.run LIMIT {MOST_RUNS}",
        [of.id, list(runs)],
    )
    names = [name for name, *_ in found.description or ()]
    return [_point(dict(zip(names, row, strict=True)), FACTS) for row in found.fetchall()]


def histories(
    con: DuckDBPyConnection, of: Sequence[RunSeries], runs: Sequence[str]
) -> dict[str, list[TrendPoint]]:
    """Of each series the newest of these runs, without what may have changed: for a board."""
    found: dict[str, list[TrendPoint]] = {each.id: [] for each in of}
    asked = ", ".join(f"u.{name}" for name in _ASKED)
    for table, columns, value, is_time in (
        ("rows", IDENTITY, _TIME, True),
        ("figures", _OF_FIGURES, _FIGURE, False),
    ):
        ids = [each.id for each in of if each.is_time is is_time]
        group = "" if is_time else "GROUP BY id, r.run, r.created"
        points = con.execute(
            f"SELECT {_id(columns, asked)} AS id, r.run, r.created, {value} "
            f"FROM {table} AS r JOIN runs AS u USING (run) "
            f"WHERE {_id(columns, asked)} IN (SELECT unnest($1)) "
            f"AND r.run IN (SELECT unnest($2)) AND r.created IS NOT NULL AND {_TAKES_PART} {group} "
            "QUALIFY row_number() OVER (PARTITION BY id ORDER BY r.created DESC, r.run) "
            f"<= {MOST_ON_BOARD}",
            [ids, list(runs)],
        )
        names = [name for name, *_ in points.description or ()]
        for row in points.fetchall() if ids else ():
            told = dict(zip(names, row, strict=True))
            found[told["id"]].append(_point(told, {}))
    return found


def facts(con: DuckDBPyConnection, runs: Sequence[str]) -> list[dict[str, str]]:
    """Of each run what it was made with, by words; nothing where it is not in the tables."""
    told = {**_TOLD, **FACTS, "MPI": "mpi"}
    query = f"SELECT run, {', '.join(told.values())} FROM runs WHERE run IN (SELECT unnest($1))"
    found = {row[0]: row[1:] for row in con.execute(query, [list(runs)]).fetchall()}
    return [
        {name: _in_words(_fact(v)) for name, v in zip(told, found.get(run, ()), strict=False)}
        for run in runs
    ]


_TOLD = {name: name for name in ("command", "host", "transport", "settings")}
_TIME = (
    "r.latency_s, "
    "coalesce(r.latency_low_s, r.range_low_s * r.time_scale) AS latency_low_s, "
    "coalesce(r.latency_high_s, r.range_high_s * r.time_scale) AS latency_high_s, "
    "r.launches, r.flags, r.wrong_count"
)
_FIGURE = "list(r.value ORDER BY r.launch) AS values"


def _index(
    con: DuckDBPyConnection, table: str, columns: Sequence[str], runs: Sequence[str]
) -> Iterator[RunSeries]:
    names = ", ".join(f"r.{name}" for name in columns)
    asked = ", ".join(f"u.{name}" for name in _ASKED)
    found = con.execute(
        f"SELECT {_id(columns, asked)} AS id, count(DISTINCT r.run) AS runs, "
        f"min(r.created), max(r.created), {asked}, {names} "
        f"FROM {table} AS r JOIN runs AS u USING (run) "
        f"WHERE r.run IN (SELECT unnest($1)) AND r.created IS NOT NULL AND {_TAKES_PART} "
        f"AND r.benchmark <> {quoted(JOB)} "
        f"GROUP BY {asked}, {names} HAVING count(DISTINCT r.run) > 1",
        [list(runs)],
    )
    for id_, count, first, last, *rest in found.fetchall():
        told = dict(zip(_ASKED, rest, strict=False))
        kept = dict(zip(columns, rest[len(_ASKED) :], strict=True))
        yield RunSeries(id_, count, _utc(first), _utc(last), told, kept)


def _id(columns: Sequence[str], asked: str) -> str:
    names = ", ".join(f"r.{name}" for name in columns)
    return f"substr(md5(CAST(row({asked}, {names}) AS VARCHAR)), 1, 16)"


def _point(found: Mapping[str, Any], told: Mapping[str, str]) -> TrendPoint:
    """`told`: the columns that hold what may have changed, by its words."""
    values = found.get("values")
    value = estimate(values) if values else Estimate(*map(_real, _ends(found)))
    return TrendPoint(
        run=found["run"],
        time=_utc(found["created"]),
        value=value,
        launches=len(values) if values else found["launches"],
        facts={name: _fact(found[column]) for name, column in told.items()},
        flags=tuple(found.get("flags") or ()),
        wrong_count=found.get("wrong_count") or 0,
    )


def _ends(found: Mapping[str, Any]) -> Iterator[Any]:
    yield from (found[name] for name in ("latency_s", "latency_low_s", "latency_high_s"))


def _real(value: float | None) -> float:
    return float("nan") if value is None else value


def _fact(value: Any) -> Fact:
    if isinstance(value, bool):
        return "on" if value else "off"
    return tuple(value) if isinstance(value, list) else str(value or "")


def _in_words(fact: Fact) -> str:
    return fact if isinstance(fact, str) else ", ".join(fact)


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc)
