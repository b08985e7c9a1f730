# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the products of matrices of the suite NODE say of a BLAS: its share of what the cores can
do, and why it is not more."""

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
"""Fewer threads than this at work are one, and what else the process does."""
ALL_THERE = 0.75
"""Of its threads or cores: less is worth a word."""
FAR_BELOW = 0.6
"""Of the peak: a library that fits the core has more."""
CLOSE = (0.7, 1.05)
"""Of a narrower peak: the library uses those instructions."""
SAME_CLOCK = 0.02
"""What a peak may differ by before and beside the products."""


@dataclass(frozen=True)
class Product:
    """A row of products, and the peaks from registers on as many cores."""

    row: Row
    peaks: Mapping[str, Row] = field(default_factory=dict, hash=False)
    """By set of instructions, in the same precision."""
    nominal: float = math.nan
    """Operations per second at the clock that the machine says it has."""

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
        """The library as it was asked for."""
        found = re.search(r"\bblas=(\S+)", self.row.cell.settings)
        if found:
            return found[1]
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
        """How many were at work."""
        return self.row.ranks * self.row.cell.threads

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not faster, as its threads and instructions say; nothing where nothing is to be
        said."""
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
    """The clock that an x86 processor says it has, which its counter counts; NaN elsewhere."""
    clocks = [launch.clock for launch in run.launches if launch.clock.name == "tsc"]
    if clocks:
        return clocks[0].hz
    return math.nan


def products(
    ours: Sequence[Row], clocks: Mapping[int, float], counter_hz: float = math.nan
) -> tuple[Product, ...]:
    """`clocks`: measured cycles per second, by how many ranks were at work. Libraries stand beside
    each other, in the order in which they were named."""
    rows = [row for row in ours if row.cell.benchmark in NUMBER_BYTES]
    found = [_product(row, ours, clocks, counter_hz) for row in rows]
    libraries = list(dict.fromkeys(product.library for product in found))
    return tuple(sorted(found, key=lambda p: (*_shape(p), libraries.index(p.library))))


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
    """By how much products fall behind the highest peak in double precision on each number of
    ranks, where there are launches without products and with them."""
    hot: set[int] = set()
    highest: dict[int, Row] = {}
    for row in ours:
        if row.cell.benchmark in NUMBER_BYTES:
            hot.update(row.numbers)
        elif _is_peak(row) and not is_single(row):
            highest[row.ranks] = max(highest.get(row.ranks, row), row, key=_speed)
    found: list[Throttle] = []
    for row in highest.values():
        found += _throttle(row, hot)
    return tuple(found)


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
    """What its threads and instructions say; nothing where there is nothing to say."""
    return tuple(filter(None, (_of_threads(product), _of_core(product))))


def _of_threads(product: Product) -> str:
    """From CPU times: a thread that has to wait for a core still does its share."""
    cell = product.row.cell
    wanted, working, cores = cell.threads, cell.busy_threads, cell.busy_cores
    if not math.isfinite(working):
        return ""
    if wanted > 1 and working < ALONE:
        who = "sequential MKL" if cell.variant.startswith("MKL") else "this BLAS is sequential"
        return f"one busy core of {wanted}: {who}"
    if cores < ALL_THERE * working:
        threads = many(1 if wanted == 1 else round(working), "thread")
        return f"{threads} had {cores:.1f} cores: others were at work here, or they share a core"
    if working < ALL_THERE * wanted:
        return f"{working:.1f} busy cores of {wanted}: this BLAS uses fewer threads than cores"
    return ""


def _of_core(product: Product) -> str:
    """Only where it had its cores, and all its threads worked."""
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
