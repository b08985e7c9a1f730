# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rings: each rank sends to the next one, and receives from the one before."""

from __future__ import annotations

from mpigauge.schedules.phases import ring_gather, ring_reduce
from mpigauge.schedules.registry import add

add("Allgather", "ring", "a ring", "P - 1", (ring_gather(),))
add("Reduce_scatter", "ring", "a ring", "P - 1", (ring_reduce(),))
add("Allreduce", "ring", "sums of parts go round a ring, then the parts", "2 (P - 1)", (
    ring_reduce(), ring_gather(),
))  # fmt: skip
