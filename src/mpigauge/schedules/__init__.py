# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Schedules of collectives: who sends what to whom in which step. Pure: nothing is sent here.

An algorithm is described once, by expressions (phase.py). The kernels of suite ALG are made from
it by tools/generate.py, and everything that predicts times evaluates it for all ranks at once.
"""

from __future__ import annotations

from mpigauge.schedules.algorithm import NODE_RANKS_NEEDED, Algorithm
from mpigauge.schedules.operation import OPERATIONS
from mpigauge.schedules.phase import Kind
from mpigauge.schedules.registry import ALGORITHMS, algorithms_of, find
from mpigauge.schedules.step import Blocks, Messages, Pattern, Shape, Step

__all__ = [
    "ALGORITHMS",
    "NODE_RANKS_NEEDED",
    "OPERATIONS",
    "Algorithm",
    "Blocks",
    "Kind",
    "Messages",
    "Pattern",
    "Shape",
    "Step",
    "algorithms_of",
    "find",
]
