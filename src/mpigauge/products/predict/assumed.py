# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The values that a calibration assumes where nothing was measured.

They are the only ones. They were chosen before any prediction was compared with a measurement, and
are fitted to none. Each stands for a node of two sockets of the years 2018 to 2024, and may be off
by a factor of two either way, which is its interval. docs/explain/predict.md has the reasons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.row import Estimate

if TYPE_CHECKING:
    from collections.abc import Mapping

FACTOR = 2.0
"""An assumed value is at most this factor off, either way."""
LATENCY_S = 0.35e-6
"""A message between two ranks of a node."""
PAIR_BYTES_PER_S = 10e9
"""The rate of such a message, where no other is sent."""
DEFAULTS: Mapping[str, float] = {
    "node_copy": 100e9,
    "message_gap": 0.15e-6,
    "flag": 0.15e-6,
    "reduction": 0.0,
}
"""The keys are those of calibration.QUANTITIES. A reduction takes no time of its own: it reads what
was just copied, and Reduce_local measures its rate in seconds."""


def interval(value: float) -> Estimate:
    """The assumed value, and the range that it may lie in."""
    return Estimate(value, value / FACTOR, value * FACTOR)
