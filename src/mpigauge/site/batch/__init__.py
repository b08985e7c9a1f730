# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Batch systems: what a job was given, how one is asked for, and what became of it. Pure.

A batch system is one file in this folder that says `@batch_system` over a subclass of System.
There is no list to edit.
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
