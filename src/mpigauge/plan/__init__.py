# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""From what a user asks for to what is launched. Pure: nothing is started here."""

from __future__ import annotations

from mpigauge.plan.ground import Ground
from mpigauge.plan.kernel import bind_words, kernel_words
from mpigauge.plan.plan import LaunchPlan, Part, Plan
from mpigauge.plan.request import LookedUp, Request, read_request
from mpigauge.plan.resolve import resolve

__all__ = [
    "Ground",
    "LaunchPlan",
    "LookedUp",
    "Part",
    "Plan",
    "Request",
    "bind_words",
    "kernel_words",
    "read_request",
    "resolve",
]
