# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Exports a check as Prometheus metrics, for the nightly test of a cluster."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from mpigauge.model.moments import unix_time
from mpigauge.products.check.result import CheckOutcome
from mpigauge.show.tables.prometheus import Labels, Metric, one_of

if TYPE_CHECKING:
    from mpigauge.products.check.result import CheckLine, CheckResult

OUTCOMES = get_args(CheckOutcome)
_WORST_FIRST = ("FAIL", "UNDECIDED", "PASS")
_METRICS = {
    "s": "mpigauge_check_seconds",
    "B/s": "mpigauge_check_bytes_per_second",
    "/s": "mpigauge_check_messages_per_second",
    "×": "mpigauge_check_ratio",
}
"""The metric for each unit. Numbers in other units, printed by programs, only have an outcome."""


def metrics_of(result: CheckResult, created: str) -> Iterator[Metric]:
    """Yields the overall outcome, the outcome of each line, and measured and allowed values.
    `created`: the time in the header of the run."""
    distinct = _distinct(result.lines)
    yield Metric(
        "mpigauge_check_run_timestamp_seconds",
        "The creation time of the checked run, in seconds since 1970.",
        (({}, unix_time(created)),),
    )
    yield Metric(
        "mpigauge_check_outcome",
        "The outcome of the whole check: 1 for its value, 0 for the others.",
        tuple(one_of({}, "outcome", OUTCOMES, result.outcome)),
    )
    outcomes: list[tuple[Labels, float]] = []
    for line in distinct:
        outcomes += one_of(_labels(line), "outcome", OUTCOMES, line.outcome)
    yield Metric(
        "mpigauge_check_line_outcome",
        "The outcome of each number that was checked: 1 for its value, 0 for the others.",
        tuple(outcomes),
    )
    for unit, name in _METRICS.items():
        numbers: list[tuple[Labels, float]] = []
        for line in distinct:
            if line.unit == unit:
                numbers += _numbers(line)
        yield Metric(
            name,
            "Each number that was checked: the value, the ends of its interval, what is allowed.",
            tuple(numbers),
        )


def _distinct(lines: Sequence[CheckLine]) -> list[CheckLine]:
    """Returns the worst line for each set of labels, as a series must not repeat."""
    worst: dict[tuple[tuple[str, str], ...], CheckLine] = {}
    for line in sorted(lines, key=lambda each: _WORST_FIRST.index(each.outcome)):
        worst.setdefault(tuple(_labels(line).items()), line)
    return list(worst.values())


def _labels(line: CheckLine) -> Labels:
    """Returns the labels of a line; `bound` distinguishes two limits of one number."""
    return {"what": line.name, "quantity": line.what, "bound": line.bound}


def _numbers(line: CheckLine) -> Iterator[tuple[Labels, float]]:
    """Yields the finite numbers of a line with their labels."""
    values = {"allowed": line.allowed}
    if line.value is not None:
        values |= line.value._asdict()
    for number, value in values.items():
        if math.isfinite(value):
            yield {**_labels(line), "number": number}, value
