# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Launchers: the command for a job. Pure: nothing is started here.

A launcher is one file in this folder with `@launcher("name")` over a function from a Job to a
Command. There is no list to edit.
"""

from __future__ import annotations

from mpigauge.site.launch.job import Command, Job, OnHost
from mpigauge.site.launch.registry import (
    LAUNCHERS,
    cannot_start,
    check_launcher,
    command,
    nameable,
)

__all__ = [
    "LAUNCHERS",
    "Command",
    "Job",
    "OnHost",
    "cannot_start",
    "check_launcher",
    "command",
    "nameable",
]
