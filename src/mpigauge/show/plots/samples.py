# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All samples of one cell: one after the other, and how they are distributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.draw.axes import SAMPLE, SHARE, TIME
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Mark, Panel, Picture, Plot, Point, Series
from mpigauge.model.record import CellRecord, samples_of
from mpigauge.model.units import byte_count, many
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mpigauge.model.row import Row
    from mpigauge.runs.store import Run

MOST_BINS = 100
"""Points of the time line: each stands for the samples of its stretch."""
_QUANTILES = 101
_STRETCHES = 300
_DOTS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""The shares of samples to mark in each stretch in a terminal, which has few dots."""
_BARS = 40
_WORDS = (
    "Launches begin where a number stands. Of the distribution the slowest half percent is left "
    "out."
)


@plot(
    "samples",
    "all samples of one cell: as they came, and their distribution",
    choices=("benchmark", "message_bytes"),
)
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    """A picture of the first run, of its first cell that fits and whose samples are stored."""
    records = stored_samples(shown[0].run)
    for row in shown[0].document.rows:
        named = chosen.benchmark.lower() in ("", row.benchmark.lower())
        sized = chosen.message_bytes in (None, row.message_bytes)
        if named and sized and row.key in records:
            return of_cell(shown[0].run, row, records[row.key])
    return None


def stored_samples(run: Run) -> Mapping[object, Sequence[CellRecord]]:
    """The records of each cell whose samples lie beside the run, by the cell's key."""
    there: dict[str, bool] = {}
    records: dict[object, list[CellRecord]] = {}
    for record in run.of(CellRecord):
        raw = record.raw
        if raw is None or not raw.file or not samples_of(raw):
            continue
        if raw.file not in there:
            there[raw.file] = (run.path / raw.file).is_file()
        if there[raw.file]:
            records.setdefault(record.cell.key, []).append(record)
    return records


def cell_words(row: Row) -> str:
    """The words that identify a cell."""
    cell = row.cell
    words = (row.benchmark, byte_count(row.message_bytes), many(cell.ranks, 'rank'), cell.members,
             cell.placement, cell.arm, cell.cache if cell.cache != "hot" else "")  # fmt: skip
    return " · ".join(filter(None, words))


def of_cell(run: Run, row: Row, records: Sequence[CellRecord]) -> Picture:
    """UserError: a file of samples is not whole."""
    import numpy as np

    launches = [_seconds(run, record) for record in records]
    times = np.concatenate(launches)
    begins = np.cumsum([0, *map(len, launches)])[:-1]
    marks = []
    for begin, record in zip(begins, records, strict=True):
        marks.append(Mark(float(begin), str(record.launch + 1)))
    stretches = Series("median", _stretches(times))
    line = Panel("as they came", SAMPLE, TIME, (stretches,), tuple(marks))
    name = Series("share of samples below", _distribution(times))
    spread = Panel("distribution", TIME, SHARE, (name,))
    about = (
        f"The slowest rank has {len(times)} samples, disturbed ones among them. The left panel "
        "shows the median of each stretch of samples, its quartiles and, paler, its extremes; "
        "numbers mark the launches. The right panel shows the share of samples below a time."
    )
    dots = Series("a sample", _dots(times))
    shape = Panel("distribution", TIME, SHARE, (_histogram(times),), style="bars")
    drawn = picture(Plot(cell_words(row), about, (line, spread)))
    characters = Plot(cell_words(row), about, (replace(line, series=(dots,), style="dots"), shape))
    return replace(drawn, characters=replace(characters, notes=(_WORDS,)))


def _seconds(run: Run, record: CellRecord) -> NDArray[np.float64]:
    """The printed times of the slowest rank."""
    import numpy as np

    if record.raw is None:
        raise ValueError("a cell without samples was asked for them")
    factor = record.cell.time_scale / (record.cell.calls * record.raw.hz)
    times: NDArray[np.float64] = run.ticks(record.raw)[0] * np.float64(factor)
    return times


def _stretches(times: NDArray[np.float64]) -> tuple[Point, ...]:
    import numpy as np

    points, at = [], 0
    for part in np.array_split(times, min(MOST_BINS, len(times))):
        least, low, middle, high, most = map(float, np.quantile(part, (0, 0.25, 0.5, 0.75, 1)))
        points.append(Point(at + len(part) / 2, middle, low, high, least, most))
        at += len(part)
    return tuple(points)


def _dots(times: NDArray[np.float64]) -> tuple[Point, ...]:
    """Each sample, or of each stretch of many those that show how they lie."""
    import numpy as np

    points, at = [], 0
    for part in np.array_split(times, min(_STRETCHES, len(times))):
        chosen = np.quantile(part, _DOTS) if len(part) > len(_DOTS) else part
        points += [Point(at + len(part) / 2, float(time)) for time in chosen]
        at += len(part)
    return tuple(points)


def _histogram(times: NDArray[np.float64]) -> Series:
    """The share of samples in each of some bins that are equally wide as ratios, without the
    slowest half percent."""
    import numpy as np

    positive = times[(times > 0) & (times <= np.quantile(times, 0.995))]
    low, high = float(positive.min()), float(positive.max())
    edges = np.geomspace(low, max(high, low * 1.01), _BARS + 1)
    counts, _ = np.histogram(positive, edges)
    middles = np.sqrt(edges[:-1] * edges[1:])
    shares = counts / len(times)
    points = (Point(float(x), float(y)) for x, y in zip(middles, shares, strict=True))
    return Series("share of samples", tuple(points))


def _distribution(times: NDArray[np.float64]) -> tuple[Point, ...]:
    """The distribution without the slowest half percent, which would leave the rest no room."""
    import numpy as np

    shares = np.linspace(0.0, 0.995, _QUANTILES)
    quantiles = np.quantile(times, shares)
    return tuple(Point(float(x), float(y)) for x, y in zip(quantiles, shares, strict=True))
