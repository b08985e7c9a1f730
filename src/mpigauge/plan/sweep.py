# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A plan for each arm of a sweep: its parts, with the settings of the arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mpigauge.plan.plan import Part, Plan


def swept(plan: Plan, arms: Sequence[tuple[str, Mapping[str, str]]], fail_fast: bool) -> Plan:
    """Every part with every arm (its name and its settings), each round in another order."""
    parts = tuple(_with(part, *arm) for arm in arms for part in plan.parts)
    return replace(plan, parts=parts, shuffle=True, fail_fast=fail_fast)


def _with(part: Part, arm: str, settings: Mapping[str, str]) -> Part:
    return replace(part, arm=arm, settings=dict(settings))
