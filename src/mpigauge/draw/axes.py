# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Axes of plots: the positions of values, and the ticks with their labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from mpigauge.model.units import byte_count

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_RATES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
_OPERATIONS = ((1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1e6, "MFLOP/s"))
_STEPS, _HALVES = (1, 2, 5), (1, 3)
"""Multiples of a power of ten; those of the second are half a decade from each other."""
_DECADES = ((1, _STEPS), (1, _HALVES), (1, (1,)), (2, (1,)), (3, (1,)), (4, (1,)), (5, (1,)),
            (6, (1,)), (7, (1,)))  # fmt: skip
"""Ticks on a logarithmic axis, the finest first: the step in powers of ten, and the multiples of
them."""
_DAY_S = 86400
_SLACK = 1e-9
_NOTHING_APART = 0.25
"""The position of 0 on a logarithmic axis, relative to the smallest positive value."""


@dataclass(frozen=True)
class Axis:
    title: str
    words: Callable[[float], str]
    """A value with its unit, in three digits."""
    base: int = 0
    """The base of a logarithmic axis; 0: linear."""
    bare: Callable[[float], str] | None = None
    """The shorter label of a tick, without the part in the title; None: as `words`."""
    names: tuple[str, ...] = ()
    """Names for 0, 1, …, on an axis of items instead of numbers."""

    @classmethod
    def of_names(cls, title: str, names: Sequence[str]) -> Axis:
        labels = tuple(names)
        return cls(title, lambda value: labels[round(value)], names=labels)

    def tick(self, value: float) -> str:
        words = self.bare or self.words
        return words(value)


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`, and the ticks on it."""

    axis: Axis
    low: float
    high: float
    zero: bool = False
    """True if a logarithmic axis begins with 0, apart from the rest."""

    @classmethod
    def of(cls, axis: Axis, values: Iterable[float]) -> Scale:
        """A scale around these values, without those that the axis cannot show."""
        if axis.names:
            return cls(axis, -0.5, len(axis.names) - 0.5)
        finite = [value for value in values if math.isfinite(value)]
        if not axis.base:
            low, high = min(finite, default=0.0), max(finite, default=1.0)
            room = (high - low) * 0.04 or abs(high) * 0.1 or 1.0
            return cls(axis, low - room, high + room)
        above = [value for value in finite if value > 0]
        low, high = min(above, default=1.0), max(above, default=1.0)
        room = max((high / low) ** 0.03, 1.05)
        zero = axis.base == 2 and 0 in finite
        if zero:
            low *= _NOTHING_APART
        return cls(axis, low / room, high * room, zero)

    def place(self, value: float) -> float:
        """The position of a value, from 0 to 1 between the ends, and outside of that beyond
        them."""
        if not self.axis.base:
            return (value - self.low) / (self.high - self.low)
        if value <= 0:
            value = self._nothing if self.zero else self.low / 2
        return math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self, most: int) -> list[float]:
        """Ticks on round values, at most about `most`; on an axis of names all."""
        if self.axis.names:
            return [float(place) for place in range(len(self.axis.names))]
        if not self.axis.base:
            return self._even(most)
        if self.axis.base == 2:
            return self._powers_of_two(most)
        return self._decades(most)

    @property
    def _nothing(self) -> float:
        """The value at whose position 0 is drawn."""
        return self.low * max(float((self.high / self.low) ** 0.03), 1.05)

    def _even(self, most: int) -> list[float]:
        step = _round_up((self.high - self.low) / most)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        by_words: dict[str, float] = {}
        for number in range(first, last + 1):
            by_words.setdefault(self.axis.tick(number * step), number * step)
        return list(by_words.values())  # on a short axis several would read the same

    def _powers_of_two(self, most: int) -> list[float]:
        low = self.low / _NOTHING_APART if self.zero else self.low
        first, last = math.ceil(math.log2(low) - _SLACK), math.floor(math.log2(self.high))
        every = max(1, -(-(last - first + 1) // most))
        powers = _powers(2.0, first, last, every)
        if not self.zero:
            return powers
        near = self.place(0) + 0.7 / most
        return [0.0, *(power for power in powers if self.place(power) > near)]

    def _decades(self, most: int) -> list[float]:
        """Ticks as fine as there is room for; linear ones if these are fewer than three."""
        for every, steps in _DECADES:
            ticks = self._of_decades(every, steps)
            if len(ticks) <= most + 1:
                break
        if len(ticks) > 2:
            return ticks
        return self._even(most)

    def _of_decades(self, every: int, steps: Sequence[int]) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        ticks = []
        for power in _powers(10.0, first, last, every):
            for step in steps:
                if self.low * (1 - _SLACK) <= step * power <= self.high:
                    ticks.append(step * power)
        return ticks


def _powers(base: float, first: int, last: int, every: int) -> list[float]:
    """The powers from the first exponent to the last that are multiples of `every`."""
    start = -(-first // every) * every
    return [base**n for n in range(start, last + 1, every)]


def _round_up(step: float) -> float:
    """The next of 1, 2 or 5 times a power of ten."""
    power = float(10.0 ** math.floor(math.log10(step)))
    for times in _STEPS:
        if times * power >= step * (1 - _SLACK):
            return times * power
    return 10 * power


def with_unit(value: float, units: Sequence[tuple[float, str]]) -> str:
    """Three digits and the unit that fits: 1.6 µs, 12.3 GB/s."""
    size = abs(value) * (1 + _SLACK)
    factor, unit = next((pair for pair in units if size >= pair[0]), units[-1])
    digits = f"{value / factor:.3g}"
    return f"{float(digits):g} {unit}"


def seconds(value: float) -> str:
    return with_unit(value, _TIMES)


def bytes_per_s(value: float) -> str:
    return with_unit(value, _RATES)


def flops(value: float) -> str:
    """A number of operations per second in words."""
    return with_unit(value, _OPERATIONS)


def plain(value: float) -> str:
    """Four digits, never in scientific notation."""
    return f"{float(f'{value:.4g}'):.15g}"


def in_unit(unit: str) -> Axis:
    """The axis of numbers with this unit, or none; rates in bytes per second are on the usual
    axis."""
    for factor, name in _RATES:
        if name == unit:
            return _in_rates(factor)
    return Axis(unit, lambda value: f"{plain(value)} {unit}".strip(), bare=plain)


def _in_rates(factor: float) -> Axis:
    """The axis of rates in this many bytes per second."""
    return Axis("bandwidth", lambda value: bytes_per_s(value * factor))


def share(value: float) -> str:
    return f"{100 * value:.3g} %"


def days(moment: datetime) -> float:
    """The position on the axis DATE: days since 1970, UTC."""
    return moment.timestamp() / _DAY_S


def _date(value: float) -> str:
    return f"{_moment(value):%Y-%m-%d %H:%M}"


def _date_of_tick(value: float) -> str:
    """A day, or a time of day between days."""
    moment = _moment(value)
    if moment.hour or moment.minute:
        return f"{moment:%H:%M}"
    return f"{moment:%Y-%m-%d}"


def _moment(value: float) -> datetime:
    return datetime.fromtimestamp(round(value * _DAY_S), timezone.utc)


def size(value: float) -> str:
    return byte_count(round(value))


SIZE = Axis("message size", size, 2)
ARRAY = Axis("array", size, 2)
TIME = Axis("time", seconds, 10)
BANDWIDTH = Axis("bandwidth", bytes_per_s, 10)
RANKS = Axis("ranks", plain, 2)
CORES = Axis("cores at work", plain, 2)
SHARE = Axis("share of samples", share)
SAMPLE = Axis("sample", plain)
DATE = Axis("date (UTC)", _date, bare=_date_of_tick)
