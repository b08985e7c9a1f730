# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The differences between hosts that are measured together, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.units import many

if TYPE_CHECKING:
    from mpigauge.model.hosts import ProbedHost
    from mpigauge.model.machine import Machine

MEMORY_STEP = 0.05
"""Relative difference of installed memory up to which two hosts count as equal."""


def differences(nodes: Sequence[ProbedHost]) -> list[str]:
    """Returns a sentence for each host that differs from the first."""
    return [
        f"host {node.name} differs from {nodes[0].name}: {', '.join(items)}"
        for node in nodes[1:]
        if (items := list(_between(nodes[0].machine, node.machine)))
    ]


def _between(first: Machine, other: Machine) -> Iterator[str]:
    for what, before, now in (
        ("", many(first.cores, "core"), many(other.cores, "core")),
        ("", many(first.packages, "socket"), many(other.packages, "socket")),
        ("", many(first.numa_nodes, "NUMA node"), many(other.numa_nodes, "NUMA node")),
        ("fast network card ", _fabrics(first), _fabrics(other)),
        ("CPU ", first.cpu_model, other.cpu_model),
        ("kernel ", first.kernel, other.kernel),
        ("governor ", " ".join(first.governors), " ".join(other.governors)),
    ):
        if before != now:
            yield f"{what}{now or 'none'} instead of {before or 'none'}"
    here, there = first.memory_total_bytes, other.memory_total_bytes
    if abs(here - there) > MEMORY_STEP * max(here, there):
        yield f"{there / 2**30:.3g} GiB of memory instead of {here / 2**30:.3g}"


def _fabrics(machine: Machine) -> str:
    return " ".join(device.name for device in machine.devices if device.fabric)
