# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One ratio of many numbers that were measured in the same launches: of a curve over all its sizes.

It is the geometric mean of the single ratios, so that it follows from what is printed. Numbers of
one launch move together: where a launch is slow, it is so at many sizes. So its interval does not
come from the single ones, but from launches. What a launch deviates by is the mean over its numbers
of the logarithm of each to the median of that number in the same run. These deviations, one for
each launch, are then judged like the values of a single number (result/stats/ratio.py).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.result.stats.in_turn import in_turn
from mpigauge.result.stats.order import median
from mpigauge.result.stats.ratio import UNKNOWN, Ratio, Sample, printed, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_LEAST_HELD = 1 / 2
"""The least share of all numbers that a launch must have for its deviation to count."""


@dataclass(frozen=True)
class SideValue:
    """One number of one side."""

    sample: Sample
    launches: tuple[int, ...]
    """The launch of each value; a launch has the same number in all values of a side."""

    @property
    def is_positive(self) -> bool:
        return all(value > 0 for value in self.sample.values)


def ratio_of_all(
    numbers: Sequence[tuple[SideValue, SideValue]],
    first_starts: Mapping[int, str],
    second_starts: Mapping[int, str],
) -> Ratio:
    """second / first over all of these numbers."""
    firsts, seconds, logs = [], [], []
    for first, second in numbers:
        if not (first.is_positive and second.is_positive):
            return UNKNOWN
        firsts.append(first)
        seconds.append(second)
        logs.append(printed(first.sample, second.sample))
    log = _mean(logs)
    of_a, of_b = _deviations(firsts), _deviations(seconds)
    if not of_a or not of_b:
        return UNKNOWN
    pairs = in_turn(_begun(of_a, first_starts), _begun(of_b, second_starts))
    a, b = _sample(firsts, of_a, 0.0), _sample(seconds, of_b, log)
    return replace(ratio(a, b, pairs), log=log)


def _begun(launches: Iterable[int], starts: Mapping[int, str]) -> list[tuple[str, int]]:
    """Returns the launches with their start times; an unknown time is empty."""
    return [(starts.get(launch, ""), launch) for launch in launches]


def _deviations(side: Sequence[SideValue]) -> dict[int, float]:
    """The mean deviation of each launch that has enough of the numbers, on logarithms, in the order
    of launches."""
    logs: dict[int, list[float]] = defaultdict(list)
    for number in side:
        middle = median(number.sample.values)
        for launch, value in zip(number.launches, number.sample.values, strict=True):
            logs[launch].append(math.log(value / middle))
    deviations = {}
    for launch, values in sorted(logs.items()):
        if len(values) >= _LEAST_HELD * len(side):
            deviations[launch] = _mean(values)
    return deviations


def _sample(side: Sequence[SideValue], deviations: Mapping[int, float], level: float) -> Sample:
    """The errors of single numbers within a launch do not depend on each other; runs of a machine
    differ alike at all sizes."""
    own_errors, between_runs, runs = [], [], []
    for number in side:
        own_errors.append(number.sample.own_error)
        between_runs.append(number.sample.between_runs)
        runs.append(number.sample.runs)
    return Sample(
        values=tuple(math.exp(level + each) for each in deviations.values()),
        own_error=math.hypot(*own_errors) / len(own_errors),
        between_runs=_mean(between_runs),
        runs=min(runs),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
