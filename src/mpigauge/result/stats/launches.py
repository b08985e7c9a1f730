# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One row for each cell out of all launches: the result of a run.

The value is the median over launches of the launch's value. Its interval, from six launches on, is
the hull of two:

- between launches: order statistics of the launches' values, at the order that stays true although
  the campaign looks after every launch and stops when the interval is narrow
  (result/stats/order.py);
- within launches: the typical distance from a launch's value to the ends of its own interval,
  shrinking as 1/√launches from six launches on.

Launches that follow each other are alike. So the hull is widened by √((1 + r) / (1 - r)), with the
correlation r of neighbours that the run and the earlier runs of its machine show together
(result/stats/history.py); a run that was stored without it keeps the hull.

The second is needed where launches agree by chance more closely than each of them can know, which
is what stopping at a narrow interval selects. On replayed traces of a quiet and a busy machine and
on autocorrelated, bimodal and drifting processes the hull covers the truth in 92 to 100 % of
trials, where the fixed order alone falls to 82 % (tests/replay/test_stats_coverage.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import pairwise
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mpigauge.model.column_facts import SIZE, place
from mpigauge.model.columns import COLUMNS, ORDER_OF_ROWS, Cell
from mpigauge.model.flags import SHARED_GPU
from mpigauge.model.grouping import distinct
from mpigauge.model.row import Row
from mpigauge.result.stats.order import ENDS, MAD, OF_MEDIAN, median, median_interval, running_order

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from mpigauge.model.between import Between
    from mpigauge.model.row import ErrorKind

Place = Callable[[Row], Any]
"""The sort key of a row."""
LEAST_FOR_INTERVAL = 6
PRECISE, STEADY, DRIFT, HOPELESS = "precise", "steady", "drift", "hopeless"
"""The reasons to end launches before the most, by their intervals: every one is narrow enough; by
earlier runs of the machine so many launches are precise, and an interval is wide by chance; the
machine differs more from run to run than launches of one run can show; more launches in a row would
make hardly any narrow."""
EMPTY, TIME = "empty", "time"
"""Other reasons: nothing can be measured here; cells have taken all of their time."""
DEFAULT_MOST = 20
"""The most launches of each part of a run, unless a number or a time is given."""
OR = " / "
"""The separator of variants that differ between launches."""
_FLAG_SHARE = 1 / 3


def rows(
    cells: Iterable[Cell], precision: float | None = None, between: Between | None = None
) -> list[Row]:
    """The rows of these cells: benchmarks in the order in which they appear, sizes upwards.

    A cell that a launch holds twice (it was resumed) counts once, the later one. With `precision`
    the flag "unconverged" says of the row, not of its launches, that it misses it. `between`: what
    the run knows of its launches and of earlier runs; without it launches count as independent.
    """
    by_key: dict[Hashable, dict[int, Cell]] = {}
    for cell in cells:
        by_key.setdefault(cell.key, {})[cell.launch] = cell
    made = []
    for by_launch in by_key.values():
        launches = [by_launch[launch] for launch in sorted(by_launch)]
        made.append(aggregate(launches, precision, between))
    return in_order(made)


def in_order(
    rows: Iterable[Row],
    benchmarks: Sequence[str] = (),
    sizes: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> list[Row]:
    """Sorts rows, since kernels write cells as they are finished.

    `benchmarks` come first in their order, others as they appear; `sizes` holds the requested
    sizes by benchmark, if there were any.
    """
    all_rows = list(rows)
    names: dict[str, int] = {}
    for name in (*benchmarks, *distinct(all_rows, _benchmark)):
        names.setdefault(name, len(names))
    special: dict[tuple[str, ...], Place] = {
        ("benchmark",): lambda row: names[row.benchmark],
        (SIZE,): lambda row: _place_of_size(row.message_bytes, sizes.get(row.benchmark)),
    }
    places = [special.get(columns) or _place_in(columns, all_rows) for columns in ORDER_OF_ROWS]

    def all_places(row: Row) -> list[Any]:
        return [place(row) for place in places]

    return sorted(all_rows, key=all_places)


def _place_in(columns: Sequence[str], rows: Iterable[Row]) -> Place:
    """Returns a sort key over these columns: one sorts by value, several by first appearance."""
    values_of = attrgetter(*columns)
    if len(columns) == 1:
        (name,) = columns
        return lambda row: place(name, values_of(row.cell))
    appeared: dict[Any, int] = {}
    for row in rows:
        appeared.setdefault(values_of(row.cell), len(appeared))
    return lambda row: appeared[values_of(row.cell)]


def _benchmark(row: Row) -> str:
    return row.benchmark


def _place_of_size(size: int, sizes: Sequence[int] | None) -> int:
    """Returns the place of a size in the list of requested sizes: that of the largest one not
    above it, as sizes may be rounded up to whole elements."""
    at, nearest = size, -1
    for number, listed in enumerate(sizes or ()):
        if nearest < listed <= size:
            at, nearest = number, listed
    return at


def aggregate(
    cells: Sequence[Cell], precision: float | None = None, between: Between | None = None
) -> Row:
    """The row of one cell of one or more launches."""
    widening, scatter = 1.0, None
    if between:
        widening, scatter = between.widening, between.of(cells[0].key)
    kind, (low, high) = interval(cells, widening)
    values, stops, numbers = [], [], []
    for cell in cells:
        values.append(cell.time_p50_s)
        stops.append(cell.stop)
        numbers.append(cell.launch)
    row = Row(
        cell=_over_launches(cells),
        low_s=low,
        high_s=high,
        kind=kind,
        launches=len(cells),
        values_s=tuple(values),
        stops=tuple(stops),
        numbers=tuple(numbers),
        scatter=scatter,
    )
    flags = _flags(row, cells, precision)
    if flags == row.cell.flags:
        return row
    return replace(row, cell=replace(row.cell, flags=flags))


def interval(cells: Sequence[Cell], widening: float = 1.0) -> tuple[ErrorKind, tuple[float, float]]:
    """Returns the kind of the interval and its ends, in seconds per call. `widening`: its width
    relative to that of independent launches."""
    if len(cells) == 1:
        # NaN after a launch that was cut short, and after IMB's schedule.
        return "one launch", (cells[0].ci_low_s, cells[0].ci_high_s)
    values, lows, highs = [], [], []
    for cell in cells:
        values.append(cell.time_p50_s)
        lows.append(cell.ci_low_s)
        highs.append(cell.ci_high_s)
    if len(values) < LEAST_FOR_INTERVAL:
        return "range", (min(values), max(values))
    return "interval", widened(median(values), hull(values, lows, highs), widening)


def hull(
    values: Sequence[float], lows: Sequence[float], highs: Sequence[float]
) -> tuple[float, float]:
    """The interval of the median of launches with these values and intervals of their own."""
    low, high = median_interval(values, running_order(len(values)))
    value, shrink = median(values), math.sqrt(LEAST_FOR_INTERVAL / len(values))
    to_low, to_high = [], []
    for of_launch, launch_low, launch_high in zip(values, lows, highs, strict=True):
        to_low.append(of_launch - launch_low)
        to_high.append(launch_high - of_launch)
    below, above = _typical(to_low) * shrink, _typical(to_high) * shrink
    return min(low, value - below), max(high, value + above)


def widened(value: float, ends: tuple[float, float], factor: float) -> tuple[float, float]:
    """Ends that are so many times as far away, as ratios: times stay above 0."""
    low, high = ends
    if factor == 1 or not (value > 0 and low > 0):
        return ends
    return value * (low / value) ** factor, value * (high / value) ** factor


def expected_error(values: Sequence[float], launches: int, widening: float = 1.0) -> float:
    """Returns the expected relative half width of the interval of so many launches.

    1.96 standard errors of a median of normal values, whose standard deviation is 1.4826 median
    distances: a launch that lies far off says nothing of the others. NaN: fewer than two launches,
    or times that are not positive.
    """
    if len(values) < 2 or min(values) <= 0:
        return math.nan
    logs = [math.log(value) for value in values]
    middle, short = median(logs), len(logs) / (len(logs) - 1)
    distances = [abs(log - middle) for log in logs]
    deviation = MAD * median(distances) * math.sqrt(short)
    return ENDS * OF_MEDIAN * deviation / math.sqrt(launches) * widening


def _typical(distances: Iterable[float]) -> float:
    """Returns the median of all but NaN, at least 0; 0 if there are none, as in classic mode."""
    numbers = _without_nan(distances)
    if numbers:
        return max(median(numbers), 0.0)
    return 0.0


def _over_launches(cells: Sequence[Cell]) -> Cell:
    """One cell whose counts are sums and whose times are medians over launches; launches may have
    chosen different ways."""
    if len(cells) == 1:
        return cells[0]
    by_column = zip(*map(_TAKEN, cells), strict=True)
    columns: dict[str, Any] = {}
    for (name, take), values in zip(_TAKE.items(), by_column, strict=True):
        columns[name] = take(_without_nan(values))
    variants = [cell.variant for cell in cells if cell.variant]
    return replace(cells[0], **columns, variant=OR.join(dict.fromkeys(variants)))


def _without_nan(values: Iterable[float]) -> list[float]:
    return [value for value in values if value == value]  # NaN is not what it is


def _or_nothing(take: Callable[[Sequence[float]], float]) -> Callable[[Sequence[float]], float]:
    return lambda values: take(values) if values else math.nan


_OVER_LAUNCHES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": sum, "least": _or_nothing(min), "most": _or_nothing(max)
}  # fmt: skip
_TAKE: dict[str, Callable[[Sequence[float]], float]] = {
    **{f.name: _or_nothing(median) for f in fields(Cell) if str(f.type) == "float"},
    **{c.name: _OVER_LAUNCHES[c.over_launches] for c in COLUMNS if c.over_launches},
}
_TAKEN = attrgetter(*_TAKE)


def _flags(row: Row, cells: Sequence[Cell], precision: float | None) -> tuple[str, ...]:
    """The flags that a third of the launches raise, and those that only all launches can show."""
    raised: Counter[str] = Counter()
    for cell in cells:
        raised.update(cell.flags)
    judged = precision is not None and row.cell.mode != "classic"
    kept = []
    for flag, count in raised.items():
        if count >= len(cells) * _FLAG_SHARE and not (judged and flag == "unconverged"):
            kept.append(flag)
    if precision is not None and judged and not row.relative_error <= precision:
        kept.append("unconverged")
    if "bimodal" not in kept and in_two_groups(row.values_s):
        kept.append("bimodal")
    if row.cell.sharing:
        kept.append(SHARED_GPU)
    return tuple(kept)


def in_two_groups(values: Sequence[float]) -> bool:
    """True if launches fall into two clearly separate groups of at least two each."""
    ordered = sorted(values)
    spread = ordered[-1] - ordered[0]
    if len(ordered) < LEAST_FOR_INTERVAL or spread < 0.1 * median(ordered):
        return False
    widest = -math.inf
    for low, high in pairwise(ordered[1:-1]):
        widest = max(widest, high - low)
    return widest > 0.5 * spread
