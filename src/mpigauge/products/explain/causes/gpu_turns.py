# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Small messages in device memory that take as long as a GPU's turn from process to process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.products.explain.floors import finding, turns
from mpigauge.products.explain.needs import REPEATED
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause(
    "gpu-turns",
    "small messages in device memory that take as long as a turn of processes on a GPU",
    of=MOVING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    """Reports runs that do not record which ranks share a GPU, such as tables of other programs."""
    if twins := turns(view):
        yield finding(
            view,
            twins,
            "two ranks, or another program, share a GPU without MPS, whose driver then serves one "
            "process at a time; on an H200 each change took about 150 µs (nothing in the run "
            "proves it)",
            (
                (
                    "a GPU for each rank: IMB-MPI1-GPU puts all ranks of a host on its first one "
                    "unless CUDA_VISIBLE_DEVICES differs between them"
                ),
                "MPS (nvidia-cuda-mps-control -d), which ends the turns",
                "`nvidia-smi`: which processes are on the GPU?",
            ),
            proved=False,
        )
