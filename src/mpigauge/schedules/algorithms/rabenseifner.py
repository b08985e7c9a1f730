# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Parts of the vector are reduced by recursive halving, then collected (R. Rabenseifner, 2004)."""

from __future__ import annotations

from mpigauge.schedules.phases import collect, double, fold, halve, unfold
from mpigauge.schedules.registry import add

STEPS = "2 log₂ P, and 2 more if P is no power of two"

add("Allreduce", "rabenseifner", "recursive halving, then recursive doubling", STEPS, (
    fold(reduces=True), halve(), double(), unfold(),
))  # fmt: skip
add("Reduce", "rabenseifner", "recursive halving, then a binomial tree to the root",
    "2 log₂ P, and 1 more if P is no power of two", (
    fold(reduces=True), halve(), collect(),
))  # fmt: skip
