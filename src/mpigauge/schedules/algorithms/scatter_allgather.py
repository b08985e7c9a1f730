# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The root scatters parts of the message, which all ranks then collect."""

from __future__ import annotations

from mpigauge.schedules.phases import BINOMIAL, ring_gather
from mpigauge.schedules.registry import add

add(
    "Bcast",
    "scatter_allgather",
    "a binomial tree with parts of the message, which then go round a ring",
    "⌈log₂ P⌉ + P - 1",
    (BINOMIAL.scatter(), ring_gather()),
)
