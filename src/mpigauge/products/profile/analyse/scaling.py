# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""POP's scaling of a program: its efficiencies on several numbers of ranks.

The profile with the fewest ranks is the reference. Computation scaling is the reference's total
computation over that of a profile; with weak scaling both are per rank. Global efficiency is
parallel efficiency × computation scaling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mpigauge.model.errors import UserError
from mpigauge.products.profile.analyse.bound import WhatBounds
from mpigauge.products.profile.analyse.efficiencies import (
    EfficienciesOverLaunches,
    efficiencies_of,
)
from mpigauge.products.profile.analyse.entries import TimeWithInterval
from mpigauge.products.profile.analyse.over_launches import OverLaunches

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.compared import SideOfProfile

Kind = Literal["strong", "weak"]
KINDS: tuple[Kind, ...] = ("strong", "weak")
WEAK_FROM = 0.5
"""The growth of total computation with ranks, as an exponent, from which on scaling is weak."""


@dataclass(frozen=True)
class ScalingPoint:
    """A program on one number of ranks."""

    side: SideOfProfile
    ranks: int
    run_s: TimeWithInterval
    """The time of the slowest rank, in seconds."""
    speedup: TimeWithInterval
    """The run time of the reference over this one."""
    efficiencies: EfficienciesOverLaunches
    computation: TimeWithInterval
    """The computation scaling."""
    is_starved: bool
    """True if ranks were kept from their cores, so that no efficiency is judged."""

    @property
    def overall(self) -> TimeWithInterval:
        """The global efficiency."""
        return _product(self.efficiencies.interval("parallel"), self.computation)


@dataclass(frozen=True)
class Scaling:
    kind: Kind
    is_inferred: bool
    """True if the kind follows from the total computation."""
    points: tuple[ScalingPoint, ...]
    """The points by number of ranks."""


def has_several_sizes(sides: Sequence[SideOfProfile]) -> bool:
    """True if the profiles differ in their numbers of ranks."""
    return len({_ranks(side) for side in sides}) > 1


def scaling_of(sides: Sequence[SideOfProfile], kind: Kind | None = None) -> Scaling:
    """Returns the scaling of profiles of one program. `kind`: strong or weak; None: inferred.
    UserError: all have the same number of ranks."""
    if not has_several_sizes(sides):
        raise UserError(
            f"--scaling is for profiles of several numbers of ranks, and all of these have "
            f"{_ranks(sides[0])}"
        )
    ordered = sorted(sides, key=_ranks)
    every = [_efficiencies(side) for side in ordered]
    chosen = kind or _inferred(every, [_ranks(side) for side in ordered])
    points = []
    for side, efficiencies in zip(ordered, every, strict=True):
        run_s = _over_launches([each.run_s for each in efficiencies.each])
        reference_s = _over_launches([each.run_s for each in every[0].each])
        share = _ranks(side) / _ranks(ordered[0]) if chosen == "weak" else 1.0
        points.append(
            ScalingPoint(
                side=side,
                ranks=_ranks(side),
                run_s=run_s,
                speedup=_ratio(reference_s, run_s),
                efficiencies=efficiencies,
                computation=_computation(every[0], efficiencies, share),
                is_starved=any(WhatBounds(account).is_starved for account in side.accounts),
            )
        )
    return Scaling(chosen, kind is None, tuple(points))


def _ranks(side: SideOfProfile) -> int:
    return len(side.jobs[0].ranks)


def _efficiencies(side: SideOfProfile) -> EfficienciesOverLaunches:
    return EfficienciesOverLaunches([efficiencies_of(account) for account in side.accounts])


def _inferred(every: Sequence[EfficienciesOverLaunches], ranks: Sequence[int]) -> Kind:
    """Returns the kind by the growth of total computation from the fewest to the most ranks."""
    first, last = _computing_s(every[0]), _computing_s(every[-1])
    if not (first.value > 0 and last.value > 0):
        return "strong"
    exponent = math.log(last.value / first.value) / math.log(ranks[-1] / ranks[0])
    return "weak" if exponent >= WEAK_FROM else "strong"


def _computing_s(of: EfficienciesOverLaunches) -> TimeWithInterval:
    return _over_launches([each.computing_s for each in of.each])


def _computation(
    reference: EfficienciesOverLaunches, of: EfficienciesOverLaunches, share: float
) -> TimeWithInterval:
    if of is reference:
        return TimeWithInterval(1.0, math.nan, math.nan)
    ratio = _ratio(_computing_s(reference), _computing_s(of))
    return TimeWithInterval(ratio.value * share, ratio.low * share, ratio.high * share)


# --- numbers with intervals -----------------------------------------------------------------------
def _over_launches(values: Sequence[float]) -> TimeWithInterval:
    return TimeWithInterval(*OverLaunches(values).estimate)


def _ratio(of: TimeWithInterval, to: TimeWithInterval) -> TimeWithInterval:
    if not to.value > 0:
        return TimeWithInterval(math.nan, math.nan, math.nan)
    return _with_error(of.value / to.value, of, to)


def _product(one: TimeWithInterval, other: TimeWithInterval) -> TimeWithInterval:
    return _with_error(one.value * other.value, one, other)


def _with_error(value: float, *parts: TimeWithInterval) -> TimeWithInterval:
    """Returns a product or ratio of independent numbers; parts without an interval are exact."""
    errors = []
    for part in parts:
        error = max(part.high - part.value, part.value - part.low)
        if math.isfinite(error) and part.value:
            errors.append(error / part.value)
    if not errors:
        return TimeWithInterval(value, math.nan, math.nan)
    wide = value * float(np.hypot.reduce(errors))
    return TimeWithInterval(value, value - wide, value + wide)
