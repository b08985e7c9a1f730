# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The choice of launches that sample noise, and the words that hand a sample to the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mpigauge.result.stats.order import LOOKS

if TYPE_CHECKING:
    from mpigauge.measuring.plan.plan import Plan
    from mpigauge.model.record import Noise

BEFORE = "before"
_DIGITS = 3


def may_be_last(plan: Plan, number: int) -> bool:
    """True if the run may end with the round of this launch."""
    rounds = plan.round(number) + 1
    return rounds >= plan.most_rounds or (rounds >= plan.least_rounds and rounds in LOOKS)


def detour_words(noise: Iterable[Noise]) -> str:
    """Returns the samples of all ranks of a launch, as the kernels' option --detours takes them.
    Lengths have three digits; if not all detours were kept, the kept ones represent the rest."""
    seconds = lost_s = 0.0
    weights: dict[str, float] = {}
    for each in noise:
        seconds += each.seconds
        lost_s += each.lost_ratio * each.seconds
        for length in each.length_ns:
            word = f"{length * 1e-9:.{_DIGITS}g}"
            weights[word] = weights.get(word, 0.0) + each.detours / len(each.length_ns)
    lengths = ",".join(f"{word}*{weights[word]:g}" for word in sorted(weights, key=float))
    return f"{seconds:.9g}:{lost_s:.9g}:{lengths}"
