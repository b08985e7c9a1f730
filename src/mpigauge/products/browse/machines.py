# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Collects headline numbers, curves and machines for a list of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from mpigauge.draw.axes import bytes_per_s, seconds
from mpigauge.model.row import Estimate, error_words
from mpigauge.model.units import byte_count, many
from mpigauge.products.browse.spark import sparkline

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_MACHINES = 3
"""The number of machines shown at once, those with the newest runs; others are collapsed."""
_MOST_VALUES = 60
"""The maximum number of points in a machine's latency curve, the newest ones."""
QUOTED = (
    "latency_bytes", "latency_s", "latency_low_s", "latency_high_s", "bandwidth_bytes",
    "bandwidth_bytes_per_s", "bandwidth_low_bytes_per_s", "bandwidth_high_bytes_per_s",
    "headline_interval",
)  # fmt: skip
"""The columns of the table runs that hold headline numbers."""
_UNSURE = ("one launch", "range")
"""Kinds of errors that are no interval."""
_UNITS = (("latency", "s", seconds), ("bandwidth", "bytes_per_s", bytes_per_s))


@dataclass(frozen=True)
class Quoted:
    """The headline numbers of a run, formatted; empty: it has none."""

    latency: str = ""
    latency_error: str = ""
    latency_of: str = ""
    bandwidth: str = ""
    bandwidth_error: str = ""
    bandwidth_of: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Quoted:
        """Formats the columns QUOTED of a run."""
        texts: dict[str, str] = {}
        kind = row["headline_interval"] or ""
        for name, unit, words in _UNITS:
            value = Estimate(
                _or_nan(row[f"{name}_{unit}"]),
                _or_nan(row[f"{name}_low_{unit}"]),
                _or_nan(row[f"{name}_high_{unit}"]),
            )
            if value.value > 0:
                texts |= {name: words(value.value), f"{name}_error": error_words(value, kind)}
                texts[f"{name}_of"] = byte_count(row[f"{name}_bytes"])
        return cls(**texts)


def _or_nan(value: float | None) -> float:
    if value is None:
        return math.nan
    return value


@dataclass(frozen=True)
class MachineEntry:
    """A machine with the headline numbers of its newest run with an interval, else of its newest
    run."""

    host: str
    cpu: str
    mpis: str
    runs: str
    last: str
    quoted: Quoted
    spark: str
    """The latency over runs with the same MPI and message size, as SVG; empty: nothing to draw."""
    href: str
    trends: str


def machines(con: DuckDBPyConnection, base: str, names: Sequence[str]) -> list[MachineEntry]:
    """Returns the machines on which these runs were measured, newest run first."""
    quoted = ", ".join(f"{name} := {name}" for name in QUOTED)
    cursor = con.execute(
        "SELECT host, count(*) AS runs, max(created) AS last, arg_max(cpu, created) AS cpu, "
        "list_sort(list(DISTINCT mpi)) AS mpis, "
        "list([latency_s::VARCHAR, mpi_name, latency_bytes::VARCHAR] ORDER BY created) "
        "FILTER (latency_s > 0) AS latencies, "
        f"arg_max(struct_pack({quoted}), created) FILTER (latency_s > 0) AS newest, "
        f"arg_max(struct_pack({quoted}), created) FILTER (latency_s > 0 AND "
        "headline_interval NOT IN ($2, $3)) AS surest "
        "FROM runs WHERE run IN (SELECT unnest($1)) AND host <> '' GROUP BY host "
        "ORDER BY last DESC NULLS LAST, host",
        [list(names), *_UNSURE],
    )
    heads = [name for name, *_ in cursor.description or ()]
    return [_machine(dict(zip(heads, row, strict=True)), base) for row in cursor.fetchall()]


def curves(con: DuckDBPyConnection, names: Sequence[str]) -> dict[str, str]:
    """Returns for each run the curve of its first benchmark, if it has one, as SVG."""
    cursor = con.execute(
        "SELECT run, arg_min(benchmark, place), list(latency_s ORDER BY message_bytes) "
        "FROM (SELECT r.run, r.benchmark, r.message_bytes, min(r.latency_s) AS latency_s, "
        "list_position(u.benchmarks, r.benchmark) AS place "
        "FROM rows AS r JOIN runs AS u USING (run) "
        "WHERE r.run IN (SELECT unnest($1)) AND r.message_bytes >= 0 AND r.latency_s > 0 "
        "AND r.arm = '' AND r.members = '' "
        "GROUP BY r.run, r.benchmark, r.message_bytes, place "
        "QUALIFY place = min(place) OVER (PARTITION BY r.run)) GROUP BY run",
        [list(names)],
    )
    drawn = {}
    for run, benchmark, values in cursor.fetchall():
        drawn[run] = sparkline(values, f"Time of {benchmark} over message size")
    return drawn


def _alike(latencies: Sequence[Sequence[str]]) -> list[float]:
    """Returns the latencies with the MPI and message size of the newest."""
    return [float(value) for value, *of in latencies if of == latencies[-1][1:]]


def _machine(row: Mapping[str, Any], base: str) -> MachineEntry:
    run = row["surest"] or row["newest"]
    quoted = Quoted.of(run) if run else Quoted()
    latencies = _alike(row["latencies"] or [])[-_MOST_VALUES:]
    host = urlencode({"host": row["host"]})
    return MachineEntry(
        host=row["host"],
        cpu=row["cpu"] or "",
        mpis=", ".join(filter(None, row["mpis"] or ())),
        runs=many(row["runs"], "run"),
        last=f"{row['last']:%Y-%m-%d %H:%M}" if row["last"] else "",
        quoted=quoted,
        spark=sparkline(latencies, f"Latency of the last {many(len(latencies), 'run')}"),
        href=f"{base}?{host}",
        trends=f"{base}trends?{host}",
    )
