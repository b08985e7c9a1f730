# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""An estimate and its error as words of a table, which has its unit in a heading."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.units import from_to, number, plus_minus

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate

GIGA = 1e-9
ONE_LAUNCH = "1 launch"
"""Instead of an error, which one launch does not have."""


def scaled(estimate: Estimate, scale: float = GIGA) -> str:
    """An estimate in this unit, with as many digits as its error leaves."""
    return number(estimate.value * scale, estimate.error * scale)


def error(estimate: Estimate, is_range: bool = False) -> str:
    """± with a percentage; of a few launches, where they lie; of one, that it is one."""
    if is_range and estimate.value:
        return from_to(estimate.low / estimate.value - 1, estimate.high / estimate.value - 1)
    if not math.isfinite(estimate.error):
        return ONE_LAUNCH
    return plus_minus(estimate.relative_error)
