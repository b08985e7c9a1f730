# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the phases of a run: stretches between which the share of MPI changes.

The share of MPI in equal steps is divided where this reduces the sum of squared deviations most, as
long as it does so by more than chance does (binary segmentation with the penalty of the Bayesian
information criterion; the noise is the median difference of neighbours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.analyse.entries import Numbers

STEPS = 200
LEAST_STEPS = 5
"""The least number of steps of a phase."""
MOST_PHASES = 12
LEAST_CHANGE = 0.05
"""The least difference of the share of MPI between two phases."""
PENALTY = 3.0
"""The penalty of a further phase in units of variance × the logarithm of the steps."""
LEAST_NOISE = 0.005
LEAST_SHARE = 0.25
"""The least share of the time in MPI of a call that names a phase."""
MOST_NAMES = 2


@dataclass(frozen=True)
class Phase:
    begin_s: float
    end_s: float
    share: float
    """The share of MPI in the time of all ranks."""
    sent_bytes: float
    """The bytes that all ranks sent."""
    calls: tuple[str, ...]
    """The calls with most recorded time, longest first; none: no call was recorded."""

    @property
    def name(self) -> str:
        if self.share < 0.5 or not self.calls:
            with_calls = f" and {', '.join(self.calls)}" if self.share >= 0.1 and self.calls else ""
            return f"computation{with_calls}"
        return ", ".join(self.calls)


def phases(account: Account) -> list[Phase]:
    """Returns the phases of a run in order; none: no rank has steps of time."""
    if not any(file.timelines for file in account.ranks):
        return []
    moments, shares = account.over_time(STEPS)
    edges = np.concatenate([[0.0], moments])
    cuts = [0, *change_points(shares), len(shares)]
    made = []
    for first, last in pairwise(cuts):
        begin_s, end_s = float(edges[first]), float(edges[last])
        share = float(shares[first:last].mean())
        sent = float(account.sent_between(np.array([begin_s, end_s]))[0])
        made.append(Phase(begin_s, end_s, share, sent, _dominant(account, begin_s, end_s)))
    return made


def change_points(values: Numbers) -> list[int]:
    """Returns the indices at which another level begins, in order."""
    noise = float(np.median(np.abs(np.diff(values)))) / 0.954 if len(values) > 1 else 0.0
    penalty = PENALTY * max(noise, LEAST_NOISE) ** 2 * math.log(max(len(values), 2))
    cuts: list[int] = []
    while len(cuts) + 1 < MOST_PHASES:
        edges = [0, *cuts, len(values)]
        best = max(
            (_best_cut(values, *ends) for ends in pairwise(edges)),
            default=(0.0, 0),
        )
        if best[0] <= penalty:
            break
        cuts = sorted([*cuts, best[1]])
    return _clear(values, cuts)


def _best_cut(values: Numbers, first: int, last: int) -> tuple[float, int]:
    """Returns the largest reduction of squared deviations by one cut, and its index."""
    part = values[first:last]
    count = len(part)
    if count < 2 * LEAST_STEPS:
        return 0.0, first
    sums = np.cumsum(part)
    at = np.arange(LEAST_STEPS, count - LEAST_STEPS + 1)
    left, right = sums[at - 1] / at, (sums[-1] - sums[at - 1]) / (count - at)
    gain = at * (count - at) / count * (left - right) ** 2
    best = int(gain.argmax())
    return float(gain[best]), first + int(at[best])


def _clear(values: Numbers, cuts: list[int]) -> list[int]:
    """Returns the cuts whose two sides differ clearly."""
    kept: list[int] = []
    for number, cut in enumerate(cuts):
        begin = kept[-1] if kept else 0
        end = cuts[number + 1] if number + 1 < len(cuts) else len(values)
        if abs(float(values[begin:cut].mean()) - float(values[cut:end].mean())) >= LEAST_CHANGE:
            kept.append(cut)
    return kept


def _dominant(account: Account, begin_s: float, end_s: float) -> tuple[str, ...]:
    """Returns the calls that take most of the recorded time between two moments."""
    calls = account.profile.timeline.calls
    within = calls[(calls["entered_s"] >= begin_s) & (calls["entered_s"] < end_s)]
    if not len(within):
        return ()
    seconds = np.bincount(
        within["site"], within["took_s"].astype(float), minlength=len(account.profile.spots)
    )
    by_call: dict[str, float] = {}
    for spot, of in zip(account.profile.spots, seconds, strict=True):
        by_call[spot.call] = by_call.get(spot.call, 0.0) + float(of)
    names = sorted(by_call, key=lambda name: -by_call[name])
    most = [name for name in names if by_call[name] >= LEAST_SHARE * sum(by_call.values())]
    return tuple(name.removeprefix("MPI_") for name in most[:MOST_NAMES])
