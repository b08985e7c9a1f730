# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The columns of rows in CSV and JSON: name, unit, meaning and source of the value.

Names and meanings of stored columns come from schema/columns.toml; times are per call, and the
printed time is `latency_s`.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.model.between import Scatter
    from mpigauge.model.row import Estimate, Row


class Field(NamedTuple):
    name: str
    unit: str
    about: str
    value: Callable[[Row], Any]


NAN = math.nan
_NOT_OF_ROWS = ("launch", "ci_low_s", "ci_high_s", "stop")


@cache
def fields() -> tuple[Field, ...]:
    stored = (_stored(c.name, c.unit, c.about) for c in COLUMNS if c.name not in _NOT_OF_ROWS)
    return (*stored, *_OF_ROWS)


def plain(value: Any) -> Any:
    """The value for output: None instead of NaN or infinity, a list instead of a tuple."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple):
        return list(value)
    return value


def values(row: Row, of: Sequence[Field] = ()) -> dict[str, Any]:
    """The values of these columns in a row; by default of the columns that every row has."""
    return {field.name: plain(field.value(row)) for field in of or fields()}


def _stored(name: str, unit: str, about: str) -> Field:
    return Field(name, unit, about, lambda row: getattr(row.cell, name))


def _end(of: Callable[[Row], Estimate | None], end: int) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        estimate = of(row)
        if estimate is None or (end and row.is_range):
            return None
        return estimate[end]

    return value


def with_ends(
    name: tuple[str, str], unit: str, about: str, of: Callable[[Row], Estimate | None]
) -> list[Field]:
    stem, suffix = name
    return [
        Field(f"{stem}_{suffix}", unit, about, _end(of, 0)),
        Field(
            f"{stem}_low_{suffix}",
            unit,
            f"Lower end of the interval of {stem}_{suffix}.",
            _end(of, 1),
        ),
        Field(f"{stem}_high_{suffix}", unit, "Upper end of that interval.", _end(of, 2)),
    ]


def _of_interval(row: Row, end_s: float) -> float:
    """An end of the interval; NaN if only a range is known."""
    if row.is_range:
        return NAN
    return end_s


def _of_several(row: Row, choose: Callable[[Sequence[float]], float]) -> float:
    """A value chosen among the launches; NaN if there is only one launch."""
    if row.launches > 1:
        return choose(row.values_s)
    return NAN


def _of_scatter(row: Row, choose: Callable[[Scatter], Any], unknown: Any) -> Any:
    """A value derived from the row's scatter over earlier runs; `unknown` without such runs."""
    if row.scatter is None:
        return unknown
    return choose(row.scatter)


_OF_ROWS = (
    Field(
        "ci_low_s",
        "s",
        "Lower end of the interval of time_p50_s, of this run; empty where there are too few "
        "launches for one.",
        lambda row: _of_interval(row, row.low_s),
    ),
    Field(
        "ci_high_s",
        "s",
        "Upper end of that interval.",
        lambda row: _of_interval(row, row.high_s),
    ),
    Field(
        "range_low_s",
        "s",
        "Smallest launch, of several; no end of an interval.",
        lambda row: _of_several(row, min),
    ),
    Field(
        "range_high_s",
        "s",
        "Largest launch, of several.",
        lambda row: _of_several(row, max),
    ),
    Field(
        "machine_low_s",
        "s",
        "Lower end of the 95 % interval of time_p50_s for this machine, whenever it is measured.",
        lambda row: row.machine_time.low,
    ),
    Field("machine_high_s", "s", "Upper end of that interval.", lambda row: row.machine_time.high),
    Field(
        "machine_sd",
        "",
        "Standard deviation, from run to run on this machine, of the logarithm of time_p50_s.",
        lambda row: _of_scatter(row, lambda scatter: scatter.sd, NAN),
    ),
    Field(
        "machine_runs",
        "",
        "Earlier runs that this rests on; fewer than 5: the machine is not known yet, and it rests "
        "on a starting value.",
        lambda row: _of_scatter(row, lambda scatter: scatter.runs, None),
    ),
    Field(
        "machine_outside",
        "",
        "Whether this run is farther from the earlier ones than they were from each other.",
        lambda row: _of_scatter(row, lambda scatter: scatter.outside, None),
    ),
    Field(
        "interval",
        "",
        "What is known of this run: interval, 95 % over launches; range, no interval but "
        "range_low_s and range_high_s; one launch, 95 % inside one launch.",
        lambda row: row.kind,
    ),
    Field("launches", "", "Launches that the row rests on.", lambda row: row.launches),
    Field("launch_times_s", "s", "time_p50_s of each launch.", lambda row: row.values_s),
    Field("stops", "", "Why sampling ended, for each launch.", lambda row: row.stops),
    *with_ends(("latency", "s"), "s", "The printed time.", lambda row: row.latency),
    *with_ends(
        ("bandwidth", "bytes_per_s"), "B/s", "moved_bytes / latency_s.", lambda row: row.bandwidth
    ),
    *with_ends(
        ("bus_bandwidth", "bytes_per_s"),
        "B/s",
        "Bus bandwidth of a collective as nccl-tests defines it; empty where it has no definition.",
        lambda row: row.bus_bandwidth,
    ),
    *with_ends(("message_rate", "per_s"), "1/s", "messages / latency_s.", lambda row: row.rate),
)
