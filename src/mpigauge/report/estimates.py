# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""An estimate and its error as words of a table, which has its unit in a heading."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.units import number, plus_minus

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate

GIGA = 1e-9


def scaled(estimate: Estimate, scale: float = GIGA) -> str:
    """In this unit, with as many digits as its error leaves."""
    return number(estimate.value * scale, estimate.error * scale)


def error(estimate: Estimate) -> str:
    """± with a percentage; empty where it is not known."""
    return plus_minus(estimate.relative_error) if math.isfinite(estimate.error) else ""
