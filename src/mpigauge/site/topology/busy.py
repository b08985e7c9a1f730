# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How much longer everything takes on a machine where processes wait for cores."""

from __future__ import annotations

import os

MOST = 10.0
"""A hang has to be found some time. In a container the load is that of the whole machine."""


def load_of_a_core() -> float:
    """Processes that want to run, for each core that this one may use, over the last minute."""
    return os.getloadavg()[0] / len(os.sched_getaffinity(0))


def grown(seconds: float) -> float:
    """A time limit for an idle machine, as long as it has to be on this one now.

    Where four processes want each core, one gets a quarter of it: what is not a hang shall not be
    taken for one.
    """
    return seconds * min(MOST, max(1.0, load_of_a_core()))
