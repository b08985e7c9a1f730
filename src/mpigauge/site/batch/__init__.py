# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Batch systems: the hosts of a job, the request for one, and its state. Pure.

A batch system is one file in this folder with `@batch_system` over a subclass of System. There is
no list to edit.
"""

from __future__ import annotations

from mpigauge.site.batch.registry import SYSTEMS, batch_system, check_inside, here, hosts
from mpigauge.site.batch.script import script
from mpigauge.site.batch.system import BatchState, Given, System, Wish

__all__ = [
    "SYSTEMS",
    "BatchState",
    "Given",
    "System",
    "Wish",
    "batch_system",
    "check_inside",
    "here",
    "hosts",
    "script",
]
