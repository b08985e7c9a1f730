# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a list of runs shows beside their names: headline numbers, their curves, and the machines
that they were made on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from mpigauge.draw.axes import bytes_per_s, seconds
from mpigauge.draw.spark import sparkline
from mpigauge.model.row import Estimate, error_words
from mpigauge.model.units import byte_count, many

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_MACHINES = 6
"""That are seen at once, those with the newest runs; the others are folded."""
_MOST_VALUES = 60
"""Of a machine's latency: the newest."""
QUOTED = (
    "latency_bytes", "latency_s", "latency_low_s", "latency_high_s", "bandwidth_bytes",
    "bandwidth_bytes_per_s", "bandwidth_low_bytes_per_s", "bandwidth_high_bytes_per_s",
    "headline_interval",
)  # fmt: skip
"""Columns of the table runs."""
_UNITS = (("latency", "s", seconds), ("bandwidth", "bytes_per_s", bytes_per_s))


@dataclass(frozen=True)
class Quoted:
    """The numbers that a report quotes of a run, in words; empty: it has none."""

    latency: str = ""
    latency_error: str = ""
    latency_of: str = ""
    bandwidth: str = ""
    bandwidth_error: str = ""
    bandwidth_of: str = ""

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Quoted:
        """`found`: the columns QUOTED."""
        known: dict[str, str] = {}
        kind = found["headline_interval"] or ""
        for name, unit, words in _UNITS:
            value = Estimate(
                _known(found[f"{name}_{unit}"]),
                _known(found[f"{name}_low_{unit}"]),
                _known(found[f"{name}_high_{unit}"]),
            )
            if value.value > 0:
                known |= {name: words(value.value), f"{name}_error": error_words(value, kind)}
                known[f"{name}_of"] = byte_count(found[f"{name}_bytes"])
        return cls(**known)


def _known(value: float | None) -> float:
    if value is None:
        return math.nan
    return value


@dataclass(frozen=True)
class MachineEntry:
    """A machine, by its newest run that has such numbers."""

    host: str
    cpu: str
    mpis: str
    runs: str
    last: str
    quoted: Quoted
    spark: str
    """Its latency from run to run of the same MPI and message, as SVG; empty: there is nothing to
    draw."""
    href: str
    trends: str


def machines(con: DuckDBPyConnection, base: str, names: Sequence[str]) -> list[MachineEntry]:
    """The machines that these runs were made on, the newest run first."""
    quoted = ", ".join(f"{name} := {name}" for name in QUOTED)
    found = con.execute(
        "SELECT host, count(*) AS runs, max(created) AS last, arg_max(cpu, created) AS cpu, "
        "list_sort(list(DISTINCT mpi)) AS mpis, "
        "list([latency_s::VARCHAR, mpi_name, latency_bytes::VARCHAR] ORDER BY created) "
        "FILTER (latency_s > 0) AS latencies, "
        f"arg_max(struct_pack({quoted}), created) FILTER (latency_s > 0) AS newest "
        "FROM runs WHERE run IN (SELECT unnest($1)) AND host <> '' GROUP BY host "
        "ORDER BY last DESC NULLS LAST, host",
        [list(names)],
    )
    heads = [name for name, *_ in found.description or ()]
    return [_machine(dict(zip(heads, row, strict=True)), base) for row in found.fetchall()]


def curves(con: DuckDBPyConnection, names: Sequence[str]) -> dict[str, str]:
    """The curve of its first benchmark, as SVG, of each of these runs that has one."""
    found = con.execute(
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
    for run, benchmark, values in found.fetchall():
        drawn[run] = sparkline(values, f"Time of {benchmark} over message size")
    return drawn


def _alike(latencies: Sequence[Sequence[str]]) -> list[float]:
    """Those of the MPI and the message that the newest has: others are not a step."""
    return [float(value) for value, *of in latencies if of == latencies[-1][1:]]


def _machine(found: Mapping[str, Any], base: str) -> MachineEntry:
    quoted = Quoted.of(found["newest"]) if found["newest"] else Quoted()
    latencies = _alike(found["latencies"] or [])[-_MOST_VALUES:]
    host = urlencode({"host": found["host"]})
    return MachineEntry(
        host=found["host"],
        cpu=found["cpu"] or "",
        mpis=", ".join(filter(None, found["mpis"] or ())),
        runs=many(found["runs"], "run"),
        last=f"{found['last']:%Y-%m-%d %H:%M}" if found["last"] else "",
        quoted=quoted,
        spark=sparkline(latencies, f"Latency of the last {many(len(latencies), 'run')}"),
        href=f"{base}?{host}",
        trends=f"{base}trends?{host}",
    )
