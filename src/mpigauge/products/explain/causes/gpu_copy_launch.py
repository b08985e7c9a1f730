# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Small messages in device memory that take as long as the launch of a copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.products.explain.floors import LONGEST_LAUNCH_S, finding, floors
from mpigauge.products.explain.needs import REPEATED
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView

LEAST_S = 3e-6
"""The least time that the launch of a copy takes on today's GPUs."""


@cause(
    "gpu-copy-launch",
    "small messages in device memory that take as long as the launch of a copy",
    of=MOVING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    if twins := floors(view, LEAST_S, LONGEST_LAUNCH_S):
        yield finding(
            view,
            twins,
            "each message launches a copy on the GPU and waits for it; the CPU does not write "
            "device memory directly",
            (
                (
                    "GDRCopy (the kernel module gdrdrv and its library), by which the CPU writes "
                    "device memory itself: does this MPI find it? (`mpigauge mpi transports`)"
                ),
                (
                    "in programs: one message instead of several small ones, or small data in host "
                    "memory"
                ),
            ),
            proved=True,
        )
