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
    from collections.abc import Mapping, Sequence

_LEAST_HELD = 1 / 2
"""Of all numbers, that a launch must have to tell how it deviates."""


@dataclass(frozen=True)
class SideValue:
    """One number of one side."""

    sample: Sample
    launches: tuple[int, ...]
    """That its values are of; values of one launch have the same in all numbers of a side."""


def ratio_of_all(
    numbers: Sequence[tuple[SideValue, SideValue]],
    first_starts: Mapping[int, str],
    second_starts: Mapping[int, str],
) -> Ratio:
    """second / first over all of these numbers."""
    firsts, seconds = ([pair[side] for pair in numbers] for side in (0, 1))
    if not all(value > 0 for known in (*firsts, *seconds) for value in known.sample.values):
        return UNKNOWN
    log = _mean([printed(a.sample, b.sample) for a, b in numbers])
    of_a, of_b = _deviations(firsts), _deviations(seconds)
    if not of_a or not of_b:
        return UNKNOWN
    pairs = in_turn(
        [(first_starts.get(launch, ""), launch) for launch in of_a],
        [(second_starts.get(launch, ""), launch) for launch in of_b],
    )
    a, b = _sample(firsts, of_a, 0.0), _sample(seconds, of_b, log)
    return replace(ratio(a, b, pairs), log=log)


def _deviations(side: Sequence[SideValue]) -> dict[int, float]:
    """Of each launch that has enough of the numbers, in the order of launches."""
    found: dict[int, list[float]] = defaultdict(list)
    for known in side:
        middle = median(known.sample.values)
        for launch, value in zip(known.launches, known.sample.values, strict=True):
            found[launch].append(math.log(value / middle))
    least = _LEAST_HELD * len(side)
    return {launch: _mean(found[launch]) for launch in sorted(found) if len(found[launch]) >= least}


def _sample(side: Sequence[SideValue], deviations: Mapping[int, float], level: float) -> Sample:
    """The errors of single numbers within a launch do not depend on each other; runs of a machine
    differ alike at all sizes."""
    samples = [known.sample for known in side]
    return Sample(
        values=tuple(math.exp(level + each) for each in deviations.values()),
        own_error=math.hypot(*(each.own_error for each in samples)) / len(samples),
        between_runs=_mean([each.between_runs for each in samples]),
        runs=min(each.runs for each in samples),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
