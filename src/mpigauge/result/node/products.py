# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Matrix products of the suite NODE: the share of the cores' peak that a BLAS reaches, and why it
is not more."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.model.row import NOTHING
from mpigauge.model.units import many
from mpigauge.result.stats.order import median

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate, Row
    from mpigauge.runs.store import Run

NUMBER_BYTES = {"DGEMM": 8, "SGEMM": 4, "DGEMM_update": 8, "SGEMM_update": 4}
DEPTH_OF_UPDATE = 192
UPDATE = "_update"
SINGLE = "_single"
ALONE = 1.5
"""Fewer busy threads than this are one thread, with the rest of the process."""
ALL_THERE = 0.75
"""The share of busy threads or cores below which the result is explained."""
FAR_BELOW = 0.6
"""The share of the peak below which a library does not fit the core."""
CLOSE = (0.7, 1.05)
"""The shares of a narrower peak at which the library uses those instructions."""
SAME_CLOCK = 0.02
"""The relative difference of a peak before and beside the products that is not throttling."""


@dataclass(frozen=True)
class Product:
    """A row of products, and the peaks from registers on as many cores."""

    row: Row
    peaks: Mapping[str, Row] = field(default_factory=dict, hash=False)
    """The peaks by set of instructions, in the same precision."""
    nominal: float = math.nan
    """Operations per second at the clock that the machine reports."""

    @property
    def name(self) -> str:
        return self.row.cell.benchmark.removesuffix(UPDATE)

    @property
    def order(self) -> int:
        return max(1, math.isqrt(self.row.message_bytes // NUMBER_BYTES[self.row.cell.benchmark]))

    @property
    def depth(self) -> int:
        if self.row.cell.benchmark.endswith(UPDATE):
            return DEPTH_OF_UPDATE
        return self.order

    @property
    def library(self) -> str:
        """The requested library; empty: none was named."""
        match = re.search(r"\bblas=(\S+)", self.row.cell.settings)
        if match:
            return match[1]
        return ""

    @property
    def speed(self) -> Estimate:
        """Operations per second."""
        return self.row.rate or NOTHING

    @property
    def best(self) -> str:
        """The set of instructions with the highest peak; empty: none was measured."""
        return max(self.peaks, key=lambda each: _speed(self.peaks[each]), default="")

    @property
    def of_peak(self) -> float:
        return self.of(self.best)

    @property
    def of_nominal(self) -> float:
        return self.speed.value / self.nominal

    @property
    def cores(self) -> int:
        """The number of cores: ranks times threads."""
        return self.row.ranks * self.row.cell.threads

    @property
    def reasons(self) -> tuple[str, ...]:
        """Explanations of a low speed by busy threads and instructions; empty if it is not low."""
        return why(self)

    def of(self, instructions: str) -> float:
        """The share of the peak of these instructions; NaN where it was not measured."""
        peak = self.peaks.get(instructions)
        if peak is None:
            return math.nan
        return self.speed.value / _speed(peak)


@dataclass(frozen=True)
class Throttle:
    """The peak before the products, and beside them, when cores were hot; operations per second."""

    peak: Row
    before: float
    beside: float

    @property
    def ratio(self) -> float:
        return self.beside / self.before

    @property
    def disturbed(self) -> bool:
        return "tainted" in self.peak.flags


def counter_hz(run: Run) -> float:
    """Returns the clock of an x86 processor's time stamp counter; NaN elsewhere."""
    clocks = [launch.clock for launch in run.launches if launch.clock.name == "tsc"]
    if clocks:
        return clocks[0].hz
    return math.nan


def products(
    ours: Sequence[Row], clocks: Mapping[int, float], counter_hz: float = math.nan
) -> tuple[Product, ...]:
    """Returns the products, those of different libraries next to each other, in the order of
    libraries. `clocks`: measured cycles per second, by the number of busy ranks."""
    rows = [row for row in ours if row.cell.benchmark in NUMBER_BYTES]
    result = [_product(row, ours, clocks, counter_hz) for row in rows]
    libraries = list(dict.fromkeys(product.library for product in result))
    return tuple(sorted(result, key=lambda p: (*_shape(p), libraries.index(p.library))))


def _shape(product: Product) -> tuple[object, ...]:
    row = product.row
    many = row.ranks * row.cell.threads
    return many, row.ranks, product.depth != product.order, product.name, product.order


def _product(
    row: Row, ours: Sequence[Row], clocks: Mapping[int, float], counter_hz: float
) -> Product:
    cores = row.ranks * row.cell.threads
    single = NUMBER_BYTES[row.cell.benchmark] == 4
    peaks = {}
    for each in ours:
        if _is_peak(each) and each.ranks == cores and is_single(each) == single:
            peaks[_instructions(each)] = each
    a_cycle = max(map(_speed, peaks.values()), default=math.nan) / cores / _clock(clocks, cores)
    nominal = math.nan
    if math.isfinite(a_cycle):
        nominal = round(a_cycle) * counter_hz * cores
    return Product(row, peaks, nominal)


def _clock(clocks: Mapping[int, float], cores: int) -> float:
    return clocks.get(cores, math.nan)


def _is_peak(row: Row) -> bool:
    return row.cell.benchmark.startswith("Peak_")


def is_single(row: Row) -> bool:
    return row.cell.benchmark.endswith(SINGLE)


def _instructions(row: Row) -> str:
    return row.cell.benchmark.removeprefix("Peak_").removesuffix(SINGLE)


def _speed(row: Row) -> float:
    if row.rate:
        return row.rate.value
    return math.nan


def throttles(ours: Iterable[Row]) -> tuple[Throttle, ...]:
    """Returns the change of the highest double-precision peak beside products, for each number of
    ranks that has launches without products and with them."""
    hot: set[int] = set()
    highest: dict[int, Row] = {}
    for row in ours:
        if row.cell.benchmark in NUMBER_BYTES:
            hot.update(row.numbers)
        elif _is_peak(row) and not is_single(row):
            highest[row.ranks] = max(highest.get(row.ranks, row), row, key=_speed)
    result: list[Throttle] = []
    for row in highest.values():
        result += _throttle(row, hot)
    return tuple(result)


def _throttle(row: Row, hot: set[int]) -> Iterator[Throttle]:
    """`hot`: the numbers of launches with products."""
    before, beside = [], []
    for number, seconds in zip(row.numbers, row.values_s, strict=True):
        if number in hot:
            beside.append(seconds)
        else:
            before.append(seconds)
    if before and beside:
        operations = row.cell.messages / row.cell.time_scale
        yield Throttle(row, operations / median(before), operations / median(beside))


# --- why it is not more ---------------------------------------------------------------------
def why(product: Product) -> tuple[str, ...]:
    """Explains a low speed by busy threads and instructions; empty if it is not low."""
    return tuple(filter(None, (_of_threads(product), _of_core(product))))


def _of_threads(product: Product) -> str:
    """Explains a low speed from CPU times: a thread that waits for a core is still a busy one."""
    cell = product.row.cell
    all_threads, working, cores = cell.threads, cell.busy_threads, cell.busy_cores
    if not math.isfinite(working):
        return ""
    if all_threads > 1 and working < ALONE:
        who = "sequential MKL" if cell.variant.startswith("MKL") else "this BLAS is sequential"
        return f"one busy core of {all_threads}: {who}"
    if cores < ALL_THERE * working:
        threads = many(1 if all_threads == 1 else round(working), "thread")
        return f"{threads} had {cores:.1f} cores: others were at work here, or they share a core"
    if working < ALL_THERE * all_threads:
        return f"{working:.1f} busy cores of {all_threads}: this BLAS uses fewer threads than cores"
    return ""


def _of_core(product: Product) -> str:
    """The sentence on a slow product; empty unless it had its cores and all its threads worked."""
    if _of_threads(product) or not product.of_peak < FAR_BELOW:
        return ""
    text = f"{_who(product)}: {_share(product.of_peak)} of the peak of {product.best}"
    for name, peak in product.peaks.items():
        narrower = _speed(peak) < CLOSE[0] * _speed(product.peaks[product.best])
        if narrower and CLOSE[0] <= product.of(name) <= CLOSE[1]:
            return f"{text}, {_share(product.of(name))} of that of {name}, which it seems to use"
    return text


def _who(product: Product) -> str:
    """The type of core that the library has chosen its code for, or what it calls itself."""
    core = re.search(r"core ([^,]+)", product.row.cell.variant)
    if core:
        return f"core type {core[1]}"
    return product.row.cell.variant or "this BLAS"


def _share(ratio: float) -> str:
    return f"{100 * ratio:.0f} %"
