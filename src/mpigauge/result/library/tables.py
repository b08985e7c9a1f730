# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The tables over runs: their columns, and the lines of a run in each.

Every column has one unit, which ends its name (docs/reference/columns.md), so units cannot be mixed
within a column. Only `figures` holds numbers of any unit, each with its unit in the same line.
Unknown values are NULL.
"""

from __future__ import annotations

import shlex
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.columns import COLUMNS, DERIVED
from mpigauge.model.fields import fields as row_fields
from mpigauge.model.fields import plain, values
from mpigauge.model.grouping import distinct
from mpigauge.model.moments import moment_of
from mpigauge.model.record import JOB, CallSite, Figure, Rank
from mpigauge.model.records import PARTS
from mpigauge.result.document import between, hosts_of_rows
from mpigauge.result.library.faults import faults
from mpigauge.result.stats.headline import quoted_rows
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.runs.store.imported import is_dated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.model.columns import Column
    from mpigauge.model.row import Row
    from mpigauge.runs.store import Run

Values = dict[str, Any]


class SqlColumn(NamedTuple):
    name: str
    type: str
    """The name of its type in DuckDB."""


_TYPES = {
    "int": "BIGINT", "float": "DOUBLE", "str": "VARCHAR", "bool": "BOOLEAN", "words": "VARCHAR[]"
}  # fmt: skip
_ROW_TYPES = {
    "interval": "VARCHAR", "launches": "BIGINT", "launch_times_s": "DOUBLE[]", "stops": "VARCHAR[]"
}  # fmt: skip


def type_of(column: str) -> str:
    """Returns the DuckDB type of a stored column; any other name is text."""
    for each in COLUMNS:
        if each.name == column:
            return _TYPES[each.type]
    return "VARCHAR"


OF_RUN = (
    SqlColumn("run", "VARCHAR"),
    SqlColumn("created", "TIMESTAMP"),
    SqlColumn("mpi", "VARCHAR"),
)
"""Begins every table: the folder of the run, when it began (UTC), the MPI and its version."""
_HOST = SqlColumn("host", "VARCHAR")


def of_columns(columns: Sequence[Column]) -> list[SqlColumn]:
    return [SqlColumn(column.name, _TYPES[column.type]) for column in columns]


def _of_rows() -> list[SqlColumn]:
    types = {column.name: _TYPES[column.type] for column in COLUMNS} | _ROW_TYPES
    return [SqlColumn(field.name, types.get(field.name, "DOUBLE")) for field in row_fields()]


def _of_records(kind: type[Any], prefix: str = "") -> list[SqlColumn]:
    """The fields of a record; those of its parts have the name of the part before their own."""
    columns: list[SqlColumn] = []
    for field in fields_of(kind):
        name, part = f"{prefix}{field.name}", PARTS.get(str(field.type))
        if part:
            columns += _of_records(part, f"{name}_")
        else:
            columns.append(SqlColumn(name, _TYPES[str(field.type)]))
    return columns


TABLES: dict[str, tuple[SqlColumn, ...]] = {
    "runs": (
        *OF_RUN,
        _HOST,
        SqlColumn("status", "VARCHAR"),
        SqlColumn("ended", "TIMESTAMP"),
        SqlColumn("command", "VARCHAR"),
        SqlColumn("version", "VARCHAR"),
        SqlColumn("mpi_name", "VARCHAR"),
        SqlColumn("mpi_version", "VARCHAR"),
        SqlColumn("transport", "VARCHAR"),
        SqlColumn("provider", "VARCHAR"),
        SqlColumn("hosts", "VARCHAR[]"),
        SqlColumn("cpu", "VARCHAR"),
        SqlColumn("cpus", "BIGINT"),
        SqlColumn("kernel", "VARCHAR"),
        SqlColumn("microcode", "VARCHAR"),
        SqlColumn("governors", "VARCHAR[]"),
        SqlColumn("turbo", "BOOLEAN"),
        SqlColumn("drivers", "VARCHAR[]"),
        SqlColumn("libraries", "VARCHAR[]"),
        SqlColumn("libc", "VARCHAR"),
        SqlColumn("settings", "VARCHAR"),
        SqlColumn("world_ranks", "BIGINT"),
        SqlColumn("benchmarks", "VARCHAR[]"),
        SqlColumn("sources", "VARCHAR[]"),
        SqlColumn("imported", "BOOLEAN"),
        SqlColumn("dated", "BOOLEAN"),
        SqlColumn("launches", "BIGINT"),
        SqlColumn("complete", "BIGINT"),
        SqlColumn("cells", "BIGINT"),
        SqlColumn("rows", "BIGINT"),
        SqlColumn("figures", "BIGINT"),
        SqlColumn("skips", "BIGINT"),
        SqlColumn("failures", "BIGINT"),
        SqlColumn("wrong_count", "BIGINT"),
        SqlColumn("measuring_s", "DOUBLE"),
        SqlColumn("latency_bytes", "BIGINT"),
        SqlColumn("latency_s", "DOUBLE"),
        SqlColumn("latency_low_s", "DOUBLE"),
        SqlColumn("latency_high_s", "DOUBLE"),
        SqlColumn("bandwidth_bytes", "BIGINT"),
        SqlColumn("bandwidth_bytes_per_s", "DOUBLE"),
        SqlColumn("bandwidth_low_bytes_per_s", "DOUBLE"),
        SqlColumn("bandwidth_high_bytes_per_s", "DOUBLE"),
        SqlColumn("headline_interval", "VARCHAR"),
        SqlColumn("notes", "VARCHAR[]"),
    ),
    "rows": (*OF_RUN, _HOST, *_of_rows()),
    "cells": (*OF_RUN, _HOST, *of_columns((*COLUMNS, *DERIVED))),
    "figures": (*OF_RUN, _HOST, *_of_records(Figure)),
    "call_sites": (*OF_RUN, _HOST, *_of_records(CallSite)),
    "ranks": (*OF_RUN, *_of_records(Rank)),
}


def contents(name: str, run: Run) -> Iterator[tuple[str, Values]]:
    """Each line of each table that a run has, as table and values by column; `name` is the run's.

    A cell that a launch holds twice, since it was resumed, is there once, as it was the last time.
    """
    cells = list({(cell.key, cell.launch): cell for cell in run.cells}.values())
    rows = rows_of(cells, _precision(run), run.between)
    facts = _facts(name, run, rows) | {"cells": len(cells), "rows": len(rows)}
    shared = {field.name: facts[field.name] for field in (*OF_RUN, _HOST)}
    yield "runs", facts
    for row in rows:
        yield "rows", shared | values(row)
    for cell in cells:
        derived = {column.name: getattr(cell, column.name) for column in DERIVED}
        yield "cells", shared | {n: plain(v) for n, v in (vars(cell) | derived).items()}
    for figure in run.of(Figure):
        yield "figures", shared | _plain(figure)
    for site in run.of(CallSite):
        yield "call_sites", shared | _plain(site)
    for rank in run.ranks:
        yield "ranks", shared | _plain(rank)


def _quoted(run: Run, rows: Sequence[Row]) -> Values:
    """The numbers that reports quote, of PingPong: the latency, the highest bandwidth, and of which
    kind the ends of both are."""
    zero, peak = quoted_rows(rows, between(hosts_of_rows(run, rows)))
    columns: Values = {"headline_interval": ""}
    if zero:
        columns["headline_interval"] = zero.kind
        columns["latency_bytes"] = zero.message_bytes
        columns["latency_s"] = plain(zero.latency.value)
        columns["latency_low_s"] = plain(zero.latency.low)
        columns["latency_high_s"] = plain(zero.latency.high)
    if peak and peak.bandwidth:
        columns["bandwidth_bytes"] = peak.message_bytes
        columns["bandwidth_bytes_per_s"] = plain(peak.bandwidth.value)
        columns["bandwidth_low_bytes_per_s"] = plain(peak.bandwidth.low)
        columns["bandwidth_high_bytes_per_s"] = plain(peak.bandwidth.high)
    return columns


def _precision(run: Run) -> float | None:
    """Returns the precision of the plan, else of the first launch, as everywhere for rows."""
    first = run.launches[0].precision if run.launches else None
    asked: float | None = run.plan.get("precision")
    if asked is None:
        return first
    return asked


def _plain(record: Any, prefix: str = "") -> Values:
    """The values of a record and of its parts, by the names of their columns."""
    columns: Values = {}
    for field in fields_of(record):
        name, value = f"{prefix}{field.name}", getattr(record, field.name)
        columns |= _plain(value, f"{name}_") if is_dataclass(value) else {name: plain(value)}
    return columns


def _facts(name: str, run: Run, rows: Sequence[Row]) -> Values:
    """The line of `runs`, but for how many cells and rows there are."""
    head, machine = run.header, run.passport.get("machine") or {}
    hosts = distinct(run.ranks, lambda rank: rank.host)
    first_host = hosts[0] if hosts else ""
    mpi = _mpi(head.get("mpi"))
    command = head.get("command") or ""
    if not isinstance(command, str):
        command = shlex.join(map(str, command))
    transport = head.get("transport") or {}
    settings = [f"{variable}={value}" for variable, value in sorted(_variables(run.plan))]
    sources = [row.cell.source for row in rows if row.cell.source]
    return {
        "run": name,
        "created": _time(head.get("created")),
        "mpi": f"{mpi['name']} {mpi['version']}".strip(),
        "host": str(machine.get("hostname") or first_host),
        "status": str(run.status.get("status", "unfinished")),
        "ended": _time(run.status.get("ended")),
        "command": command,
        "version": str(head.get("version", "")),
        "mpi_name": mpi["name"],
        "mpi_version": mpi["version"],
        "transport": str(transport.get("name") or ""),
        "provider": run.used or str(transport.get("used") or ""),
        "hosts": hosts,
        "cpu": str(machine.get("cpu_model", "")),
        "cpus": len(machine.get("allowed") or ()) or None,
        "kernel": str(machine.get("kernel", "")),
        "microcode": str(machine.get("microcode", "")),
        "governors": _words(machine.get("governors")),
        "turbo": machine.get("turbo"),
        "drivers": _words(machine.get("drivers")),
        "libraries": [_library(each) for each in run.passport.get("libraries") or ()],
        "libc": str(run.passport.get("libc", "")),
        "settings": " ".join(settings),
        "world_ranks": max((launch.world_ranks for launch in run.launches), default=None),
        "benchmarks": list(dict.fromkeys(_benchmarks(run, rows))),
        "sources": list(dict.fromkeys(sources)),
        "imported": bool(head.get("imported")),
        "dated": is_dated(head),
        "launches": len({launch.launch for launch in run.launches}),
        "complete": len(run.complete),
        "figures": len(run.of(Figure)),
        "skips": len(run.skips),
        "failures": len(run.failures),
        "wrong_count": sum(row.wrong_count for row in rows),
        "measuring_s": plain(sum(end.measuring_s for end in run.ends)),
        **_quoted(run, rows),
        "notes": faults(run),
    }


def _mpi(stored: Any) -> dict[str, str]:
    """Its name and version, out of all that is known of it or a word."""
    facts = stored if isinstance(stored, dict) else {"name": stored}
    return {key: str(facts.get(key) or "") for key in ("name", "version")}


def _benchmarks(run: Run, rows: Sequence[Row]) -> Iterator[str]:
    """Yields the benchmarks of rows and of figures."""
    for row in rows:
        yield row.benchmark
    for figure in run.of(Figure):
        if figure.benchmark != JOB:
            yield figure.benchmark


def _words(items: Any) -> list[str]:
    return [str(each) for each in items or ()]


def _library(stored: Mapping[str, Any]) -> str:
    """Its file, and the beginning of the digest of what is in it."""
    path, digest = str(stored.get("path") or ""), str(stored.get("sha256") or "")
    return f"{path.rpartition('/')[2]} {digest[:12]}".strip()


def _variables(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the variables that the run's options set for all ranks, with their values."""
    for name in ("env", "settings"):
        for variable, value in (plan.get(name) or {}).items():
            yield str(variable), str(value)


def _time(text: Any) -> str | None:
    """Returns a time in DuckDB's format; None: it is not a time of mpigauge."""
    moment = moment_of(text)
    if moment is None:
        return None
    return moment.replace(tzinfo=None).isoformat(" ")
