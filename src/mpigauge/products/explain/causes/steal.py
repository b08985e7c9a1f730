# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A hypervisor that gives the CPUs to others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import percent
from mpigauge.products.explain.needs import FACT, machine
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY
from mpigauge.site.topology.remarks import HIGH_STEAL

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause("steal", "a hypervisor that gives CPU time to others", machine, of=ANY, sure_from=FACT)
def look(view: RunView) -> Iterator[Finding]:
    ratio = float(view.machine.get("steal_ratio") or 0.0)
    if ratio > HIGH_STEAL:
        yield Finding(
            what=f"the hypervisor has given {percent(ratio)} of the CPU time to others",
            likely="other virtual machines on the same host: ranks stand still for milliseconds",
            evidence=("counted by the kernel from its start until the run",),
            attempts=("a type of machine whose CPUs are not shared, or another hour",),
        )
