# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The raw samples of runs as a table: a line for every sample, in seconds of one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.model.columns import COLUMNS, KEY_COLUMNS
from mpigauge.model.errors import UserError
from mpigauge.model.record import CellRecord, samples_of
from mpigauge.result.library.build import read_run
from mpigauge.result.library.tables import SqlColumn, of_columns

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from mpigauge.model.record import Raw
    from mpigauge.runs.store import Run

_CELL = (
    SqlColumn("run", "VARCHAR"),
    SqlColumn("launch", "BIGINT"),
    *of_columns([column for column in COLUMNS if column.name in KEY_COLUMNS]),
)
_SAMPLE = (
    SqlColumn("sample", "BIGINT"),
    SqlColumn("round", "BIGINT"),
    SqlColumn("taint", "BIGINT"),
    SqlColumn("time_max_s", "DOUBLE"),
    SqlColumn("time_min_s", "DOUBLE"),
    SqlColumn("time_avg_s", "DOUBLE"),
)
SAMPLES = _CELL + _SAMPLE
"""Columns: the cell and its launch, the number of the sample, the visit in which it was taken with
its disturbances, and the sample's time on the slowest rank, the fastest, and on average."""


def add_samples(con: DuckDBPyConnection, runs: Mapping[str, Path]) -> list[str]:
    """Makes the table `samples` of these run folders; returns notes on what is left out."""
    columns = ", ".join(f'"{field.name}" {field.type}' for field in SAMPLES)
    con.execute(f"CREATE TEMP TABLE samples ({columns})")
    notes: list[str] = []
    for name, path in runs.items():
        try:
            _add(con, name, read_run(path), notes)
        except UserError as error:
            notes.append(f"left out: {error}")
    return notes


def _add(con: DuckDBPyConnection, name: str, run: Run, notes: list[str]) -> None:
    marks = ", ".join("?" for _ in _CELL)
    for record in run.of(CellRecord):
        if record.raw is None:
            continue
        try:
            con.register("times", _times(run, record.raw, record.cell.calls))
        except (UserError, OSError) as error:
            notes.append(f"left out: samples of {name}: {error}")
            continue
        values = [getattr(record.cell, field.name) for field in _CELL[1:]]
        con.execute(f"INSERT INTO samples SELECT {marks}, * FROM times", [name, *values])


def _times(run: Run, raw: Raw, calls: int) -> dict[str, Any]:
    """Arrays with an element for each sample, in the order of _SAMPLE."""
    import numpy as np

    seconds = run.ticks(raw).astype(np.float64) / (calls * raw.hz)
    slowest, fastest, mean = seconds
    counts = [chunk.n for chunk in raw.chunks]
    arrays = (
        np.arange(samples_of(raw)),
        np.repeat([chunk.round for chunk in raw.chunks], counts),
        np.repeat([chunk.taint for chunk in raw.chunks], counts),
        slowest,
        fastest,
        mean,
    )
    return {field.name: array for field, array in zip(_SAMPLE, arrays, strict=True)}
