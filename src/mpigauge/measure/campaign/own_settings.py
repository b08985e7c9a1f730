# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings that mpigauge itself adds to a launch of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mpigauge.model.cards import FIRST_SUITE
from mpigauge.result.nature import SENDING, Does, nature
from mpigauge.site.mpi.quick_start import quick_start
from mpigauge.site.mpi.transports import report_of

if TYPE_CHECKING:
    from mpigauge.measure.plan import Plan, PlanPart
    from mpigauge.model.mpi import Mpi

_WITHOUT_WINDOWS: frozenset[Does] = SENDING | {"local", "files", "node"}
"""Benchmarks that neither create windows nor start MPI in a measured operation."""


def own_settings(plan: Plan, part: PlanPart, mpi: Mpi, env: Mapping[str, str]) -> dict[str, str]:
    """Returns what makes the MPI report its transport, and start without a needless wait."""
    return reporting(mpi, env) | start_settings(plan, part, mpi, env)


def reporting(mpi: Mpi, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings that make the MPI report its transport, unless the user set them."""
    settings = report_of(mpi.name).settings
    return {name: value for name, value in settings.items() if name not in env}


def start_settings(plan: Plan, part: PlanPart, mpi: Mpi, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings that shorten the start of MPI and change no measured operation."""
    if part.foreign or len(part.hosts) > 1 or not all(map(_is_safe, part.benchmarks)):
        return {}
    chosen = {**plan.settings, **plan.env, **part.settings, **part.env}
    return quick_start(mpi, chosen, env)


def start_settings_of(plan: Plan, mpi: Mpi, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the start settings of all parts of a plan together."""
    merged: dict[str, str] = {}
    for part in plan.parts:
        merged |= start_settings(plan, part, mpi, env)
    return merged


def _is_safe(benchmark: str) -> bool:
    suite, _, name = benchmark.rpartition(":")
    return nature(suite or FIRST_SUITE, name).does in _WITHOUT_WINDOWS
