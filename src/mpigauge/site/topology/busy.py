# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The slowdown of a machine on which processes wait for cores."""

from __future__ import annotations

import os

MOST = 10.0
"""The largest factor: a hang must be detected eventually, and a container sees the load of the
whole machine."""


def load_of_a_core() -> float:
    """Returns the average number of runnable processes per core of ours, over the last minute."""
    return os.getloadavg()[0] / len(os.sched_getaffinity(0))


def grown(seconds: float) -> float:
    """Returns a time limit for an idle machine, scaled by the present load of this one.

    Where four processes share each core, one gets a quarter of it, and is slow without being hung.
    """
    return seconds * min(MOST, max(1.0, load_of_a_core()))
