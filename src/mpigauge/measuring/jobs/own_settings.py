# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings that mpigauge itself adds to a launch of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.memory.buffer_memory import is_on_gpu
from mpigauge.model.cards import FIRST_SUITE
from mpigauge.site.mpi.quick_start import is_slow_version, quick_start
from mpigauge.site.mpi.transports.registry import report_of

if TYPE_CHECKING:
    from mpigauge.measuring.plan import Plan, PlanPart
    from mpigauge.model.mpi import Mpi


def own_settings(plan: Plan, part: PlanPart, mpi: Mpi, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings that make the MPI report its transport, start without needless waits,
    and accept device memory where the plan has any."""
    starting = start_settings(plan, part, mpi, env)
    return reporting(mpi, env) | starting | settings_for_gpus(plan, part, mpi, env)


def reporting(mpi: Mpi, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings that make the MPI report its transport, unless the user set them."""
    settings = report_of(mpi.name).settings
    return {name: value for name, value in settings.items() if name not in env}


def start_settings(plan: Plan, part: PlanPart, mpi: Mpi, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings that shorten the start of MPI and change no measured operation."""
    if not is_slow_version(mpi.name, mpi.version) or part.foreign or len(part.hosts) > 1:
        return {}
    if not all(map(_is_safe, part.benchmarks)):
        return {}
    chosen = {**plan.settings, **plan.env, **part.settings, **part.env}
    return quick_start(mpi, chosen, env)


def settings_for_gpus(
    plan: Plan, part: PlanPart, mpi: Mpi, env: Mapping[str, str]
) -> dict[str, str]:
    """Returns the settings with which the MPI accepts buffers on a GPU. UserError: settings of the
    user exclude GPUs."""
    if part.foreign or not any(map(is_on_gpu, plan.memory)):
        return {}
    from mpigauge.site.mpi.device_memory import cuda_libraries, device_settings

    cuda = cuda_libraries(mpi, env)
    if plan.cuda:
        cuda = replace(cuda, driver=Path(plan.cuda))
    chosen = {**plan.settings, **plan.env, **part.settings, **part.env}
    return device_settings(mpi, cuda, chosen, env)


def gpu_settings_of(plan: Plan, mpi: Mpi, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings for buffers on a GPU of all parts of a plan together."""
    merged: dict[str, str] = {}
    for part in plan.parts:
        merged |= settings_for_gpus(plan, part, mpi, env)
    return merged


def start_settings_of(plan: Plan, mpi: Mpi, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the start settings of all parts of a plan together."""
    merged: dict[str, str] = {}
    for part in plan.parts:
        merged |= start_settings(plan, part, mpi, env)
    return merged


def _is_safe(benchmark: str) -> bool:
    """True if a benchmark neither creates windows nor starts MPI in a measured operation."""
    from mpigauge.result.nature import SENDING, nature

    suite, _, name = benchmark.rpartition(":")
    return nature(suite or FIRST_SUITE, name).does in SENDING | {"local", "files", "node"}
