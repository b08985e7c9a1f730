# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What spoils times on a machine: what was found, what it costs, and what mends it.

A check is a function in a file of `checks/` that says `@check("name", "about")` over a function
from a Host to its findings. There is no list to edit.
"""

from __future__ import annotations

from mpigauge.doctor.finding import Asked, Finding, Host, Measured
from mpigauge.doctor.measure import measure
from mpigauge.doctor.registry import CHECKS, diagnose

__all__ = ["CHECKS", "Asked", "Finding", "Host", "Measured", "diagnose", "measure"]
