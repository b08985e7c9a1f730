# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Predictions as stored runs, whose rows have the origin `predicted`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.cards import FIRST_SUITE
from mpigauge.model.column_facts import PREDICTED
from mpigauge.model.units import listed
from mpigauge.products.predict.prediction import PING_PONG
from mpigauge.products.predict.show import trust_lines
from mpigauge.runs.readers.reading import Reading, TextTable
from mpigauge.runs.store.imported import write_imported
from mpigauge.schedules import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mpigauge.products.predict.prediction import Prediction

PROGRAM = "mpigauge predict"


def store(of: Prediction, output: Path) -> Path:
    """The folder of a run with the chosen time of each size."""
    machine, calibration = of.machine, of.calibration
    half_trip = of.operation == PING_PONG
    scale = 0.5 if half_trip else 1.0
    rows = []
    for size in of.sizes:
        if size.chosen is not None:
            value, low, high = (time / scale for time in size.chosen.cost.estimate)
            rows.append(
                {"message_bytes": size.message_bytes, "time_p50_s": value, "ci_low_s": low,
                 "ci_high_s": high, "time_max_s": value,
                 "moved_bytes": size.message_bytes if half_trip else 0}
            )  # fmt: skip
    reduces = not half_trip and OPERATIONS[of.operation].reduces
    fixed = {
        "datatype": "float" if reduces else "byte", "op": "sum" if reduces else "",
        "launch": 0, "suite": FIRST_SUITE, "benchmark": of.operation, "origin": PREDICTED,
        "ranks": 2 if half_trip else machine.ranks, "groups": 1, "group": -1, "source": PROGRAM,
        "placement": "hosts" if machine.ppn == 1 or half_trip else f"ppr:{machine.ppn}:node",
        "statistic": f"predicted: {of.what}", "time_scale": scale, "calls": 1, "samples": 1,
    }  # fmt: skip
    table = TextTable.of_rows(fixed, rows)
    words = f"{calibration.name}: predicted, {of.what}"
    reading = Reading(tables=(table,), remarks=tuple(_remarks(of)))
    return write_imported(reading, [words], output, "predict", calibration.machine)


def _remarks(of: Prediction) -> Iterator[str]:
    """Yields how good predictions of this calibration were, and what was not measured."""
    yield from trust_lines(of.calibration, of.operation)
    if of.assumed:
        yield f"times derive from what was not measured but assumed: {listed(of.assumed)}"
