# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Turns a user's request into a plan of launches. Pure: nothing is started here."""

from __future__ import annotations

from mpigauge.measuring.plan.kernel import host_words, kernel_words
from mpigauge.measuring.plan.plan import LaunchPlan, Plan, PlanPart
from mpigauge.measuring.plan.request import LookedUp, Request, read_request
from mpigauge.measuring.plan.resolve import resolve
from mpigauge.measuring.plan.resources import Resources

__all__ = [
    "LaunchPlan",
    "LookedUp",
    "Plan",
    "PlanPart",
    "Request",
    "Resources",
    "host_words",
    "kernel_words",
    "read_request",
    "resolve",
]
