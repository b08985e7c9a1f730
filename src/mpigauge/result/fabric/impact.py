# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Victims alone and beside aggressors, visit by visit: how much longer a call takes."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.model.row import Estimate
from mpigauge.model.units import byte_count
from mpigauge.result.stats.order import fixed_order, median_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from mpigauge.model.columns import Cell
    from mpigauge.model.record import CellRecord
    from mpigauge.runs.store import Run

    Ticks = npt.NDArray[np.float64]

SUITE = "FABRIC"
AGGRESSORS = ("sleep", "alltoall", "incast", "put", "bcast", "allreduce")
"""The loads that other hosts make, in the order of tables; the first is the control, which makes
none."""
CONTROL = AGGRESSORS[0]
VICTIMS = ("Latency8", "Allreduce8", "Ring", "Allreduce")
STOPPED = "aggressors"
"""The flag of a cell whose aggressors stopped before they were told to."""
TAIL = 0.99
_RESAMPLED = 1000
_BATCH = 1 << 20
"""The most samples that are resampled at once, so that they take little memory."""
_LEVEL = 0.95
_Visit = tuple[int, int]
"""A launch and a round in it."""


@dataclass(frozen=True)
class Impact:
    """A victim beside one kind of aggressors."""

    victim: str
    message_bytes: int
    aggressor: str
    alone_s: float
    """The median of a call alone."""
    median: Estimate
    """The ratio of the medians: that of the visits in the same rounds."""
    tail: Estimate
    """The ratio of the 99th percentiles over all visits, with an interval over rounds."""
    visits: int
    aggressors_bytes_per_s: float
    """The bandwidth of the aggressors meanwhile; NaN: they sleep."""
    is_stopped: bool
    """True if the aggressors stopped early, so that it does not count."""
    ratios: tuple[float, ...] = ()
    """The ratio of the medians in each round."""
    tails: tuple[float, ...] = ()
    """The ratio of the 99th percentiles in each round."""
    alone_by_round: tuple[float, ...] = ()
    """The median of a call alone in each round, in seconds."""


def impact_name(victim: str, message_bytes: int) -> str:
    """A victim with its size, such as Latency 8 B."""
    return f"{victim.rstrip('8')} {byte_count(message_bytes)}"


def impacts(run: Run) -> tuple[Impact, ...]:
    """The impact of each kind of aggressors on each victim."""
    cells: dict[tuple[str, int, str], list[CellRecord]] = defaultdict(list)
    for record in _records(run):
        victim, _, aggressor = record.cell.benchmark.partition("_")
        if victim in VICTIMS:
            cells[victim, record.cell.message_bytes, aggressor].append(record)
    made = []
    for (victim, size, aggressor), beside in sorted(cells.items(), key=_place):
        alone = cells.get((victim, size, ""))
        if aggressor and alone:
            made.append(_impact(run, victim, size, aggressor, alone, beside))
    return tuple(made)


def _records(run: Run) -> Iterable[CellRecord]:
    from mpigauge.model.record import CellRecord

    return (each for each in run.of(CellRecord) if each.cell.suite == SUITE)


def _place(item: tuple[tuple[str, int, str], object]) -> tuple[int, int, int]:
    victim, size, aggressor = item[0]
    return VICTIMS.index(victim), size, (*AGGRESSORS, "").index(aggressor)


def _impact(
    run: Run,
    victim: str,
    size: int,
    aggressor: str,
    alone: Sequence[CellRecord],
    beside: Sequence[CellRecord],
) -> Impact:
    before, meanwhile = visits_of(run, alone), visits_of(run, beside)
    both = [visit for visit in before if visit in meanwhile]
    pairs = [(before[visit], meanwhile[visit]) for visit in both]
    cells = [record.cell for record in beside]
    ratios = tuple(float(np.median(with_load) / np.median(free)) for free, with_load in pairs)
    median = _of_medians(ratios) if pairs else _of_cells([r.cell for r in alone], cells)
    scale = alone[0].cell.time_scale
    sent = [each.beside_bytes_per_s for each in cells if each.beside_bytes_per_s > 0]
    return Impact(
        victim,
        size,
        aggressor,
        float(np.median([record.cell.time_p50_s for record in alone])) * scale,
        median,
        _of_tails(pairs),
        len(pairs),
        float(np.median(sent)) if sent else math.nan,
        any(STOPPED in cell.flags for cell in cells),
        ratios,
        tuple(_tail_ratio([pair]) for pair in pairs),
        tuple(float(np.median(visit)) * scale for visit in before.values()),
    )


def visits_of(run: Run, records: Iterable[CellRecord]) -> Mapping[_Visit, Ticks]:
    """The samples of each visit in seconds, of the slowest rank."""
    visits: dict[_Visit, Ticks] = {}
    for record in records:
        if record.raw is None or not record.raw.chunks:
            continue
        slowest = run.ticks(record.raw)[0] / record.raw.hz / record.cell.calls
        start = 0
        for chunk in record.raw.chunks:
            visits[record.launch, chunk.round] = slowest[start : start + chunk.n]
            start += chunk.n
    return {visit: ticks for visit, ticks in visits.items() if len(ticks)}


def _of_medians(ratios: Sequence[float]) -> Estimate:
    """The median over rounds of the ratio within a round, so that a drift between rounds cancels
    out."""
    order = fixed_order(len(ratios))
    low, high = median_interval(ratios, order) if order else (math.nan, math.nan)
    return Estimate(float(np.median(ratios)), low, high)


def _of_cells(alone: Sequence[Cell], beside: Sequence[Cell]) -> Estimate:
    """The ratio of the medians of all samples, whose rounds are not known."""
    ratio = np.median([c.time_p50_s for c in beside]) / np.median([c.time_p50_s for c in alone])
    return Estimate(float(ratio), math.nan, math.nan)


def _of_tails(pairs: Sequence[tuple[Ticks, Ticks]]) -> Estimate:
    """The ratio of the 99th percentiles, and the middle 95 % of it in resampled rounds."""
    if not pairs:
        return Estimate(math.nan, math.nan, math.nan)
    value = _tail_ratio(pairs)
    count = len(pairs)
    if not fixed_order(count):
        return Estimate(value, math.nan, math.nan)
    chosen = np.random.default_rng(count).integers(count, size=(_RESAMPLED, count))
    cells = chosen + count * np.arange(_RESAMPLED)[:, None]
    times = np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)
    alone, beside = (resampled_tails([pair[side] for pair in pairs], times) for side in (0, 1))
    low, high = np.quantile(beside / alone, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Estimate(value, float(low), float(high))


def _tail_ratio(pairs: Sequence[tuple[Ticks, Ticks]]) -> float:
    alone, beside = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    return float(np.quantile(beside, TAIL) / np.quantile(alone, TAIL))


def resampled_tails(visits: Sequence[Ticks], times: npt.NDArray[np.intp]) -> Ticks:
    """The 99th percentile of each resample. A row of `times` has the number of times that each
    visit is in it, so the samples are sorted once for all resamples."""
    samples = np.concatenate(visits)
    order = np.argsort(samples)
    visit = np.repeat(np.arange(len(visits)), [len(each) for each in visits])[order]
    batches = np.array_split(times, -(-len(times) * len(samples) // _BATCH))
    return np.concatenate([_tails_of(samples[order], batch[:, visit]) for batch in batches])


def _tails_of(ordered: Ticks, times: npt.NDArray[np.intp]) -> Ticks:
    """The 99th percentile of ordered samples, which are there so many times in each row."""
    until = np.cumsum(times, axis=1)
    last = until[:, -1] - 1
    place = TAIL * last
    below = np.floor(place).astype(np.intp)
    low, high = (
        ordered[(until <= each[:, None]).sum(axis=1)]
        for each in (below, np.minimum(below + 1, last))
    )
    tails: Ticks = low + (high - low) * (place - below)
    return tails
