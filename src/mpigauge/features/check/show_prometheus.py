# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A check as metrics of Prometheus, for the nightly test of a cluster."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from mpigauge.features.check.result import CheckOutcome
from mpigauge.model.moments import unix_time
from mpigauge.show.prometheus import Labels, Metric, one_of

if TYPE_CHECKING:
    from mpigauge.features.check.result import CheckLine, CheckResult

OUTCOMES = get_args(CheckOutcome)
_WORST_FIRST = ("FAIL", "UNDECIDED", "PASS")
_METRICS = {
    "s": "mpigauge_check_seconds",
    "B/s": "mpigauge_check_bytes_per_second",
    "/s": "mpigauge_check_messages_per_second",
}
"""By units. Numbers of other units, which programs have printed, have an outcome alone."""


def metrics_of(found: CheckResult, created: str) -> Iterator[Metric]:
    """The outcome of all, of each line, and what was measured and allowed. `created`: when the run
    was made, as its header has it."""
    distinct = _distinct(found.lines)
    yield Metric(
        "mpigauge_check_run_timestamp_seconds",
        "When the run that was checked was made, in seconds since 1970.",
        (({}, unix_time(created)),),
    )
    yield Metric(
        "mpigauge_check_outcome",
        "The outcome of the whole check: 1 for what it is, 0 for what it is not.",
        tuple(one_of({}, "outcome", OUTCOMES, found.outcome)),
    )
    outcomes: list[tuple[Labels, float]] = []
    for line in distinct:
        outcomes += one_of(_labels(line), "outcome", OUTCOMES, line.outcome)
    yield Metric(
        "mpigauge_check_line_outcome",
        "The outcome of each number that was checked: 1 for what it is, 0 for what it is not.",
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
    """Of several lines that ask the same of a number the worst: a series may come only once."""
    found: dict[tuple[tuple[str, str], ...], CheckLine] = {}
    for line in sorted(lines, key=lambda each: _WORST_FIRST.index(each.outcome)):
        found.setdefault(tuple(_labels(line).items()), line)
    return list(found.values())


def _labels(line: CheckLine) -> Labels:
    """`bound` tells two limits of one number apart."""
    return {"what": line.name, "quantity": line.what, "bound": line.bound}


def _numbers(line: CheckLine) -> Iterator[tuple[Labels, float]]:
    """Without what is not known."""
    known = {"allowed": line.allowed}
    if line.value is not None:
        known |= line.value._asdict()
    for number, value in known.items():
        if math.isfinite(value):
            yield {**_labels(line), "number": number}, value
