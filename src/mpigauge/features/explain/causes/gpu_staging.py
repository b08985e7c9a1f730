# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Large messages between GPUs that go through host memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.features.explain.needs import REPEATED
from mpigauge.features.explain.on_gpu import LARGE, Twin, link_speed, ranks_with_gpus, twins
from mpigauge.features.explain.registry import cause
from mpigauge.model.data_memory import DEVICE, HOST, PINNED
from mpigauge.model.units import megabytes_per_s
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING
from mpigauge.result.stats.remarks import name_cells
from mpigauge.result.words import factor, size, time

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView

LEAST_RATIO = 1.25


@cause(
    "gpu-staging",
    "large messages between GPUs that go through host memory",
    of=MOVING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    """Ranks that share a GPU wait for each other, which says nothing about the way of messages."""
    beside = twins(view, lambda memory: (HOST, PINNED) if memory == DEVICE else ())
    slow = [
        twin
        for twin in beside
        if twin.row.message_bytes >= LARGE
        and not twin.row.cell.sharing
        and twin.is_slower
        and twin.ratio >= LEAST_RATIO
    ]
    if slow:
        yield _finding(view, slow)


def _finding(view: RunView, slow: Sequence[Twin]) -> Finding:
    worst = max(slow, key=lambda twin: twin.ratio)
    row, other = worst
    kind = other.cell.memory
    return Finding(
        what=f"{name_cells([twin.row for twin in slow])}: up to {factor(worst.ratio)} the time "
        f"of the same in {kind} memory",
        likely="data go from the GPU to host memory, from there to the other rank, and up to its "
        "GPU, so that each byte is copied once or twice more than in host memory",
        evidence=(
            f"{size(row)} take {time(row)} in device memory, {time(other)} in {kind} memory",
            *_links(view),
        ),
        attempts=(
            (
                "`mpigauge doctor` and `mpigauge transports`: can these GPUs reach each other, and "
                "which transport of this MPI copies between them?"
            ),
            "GPUs below one PCIe switch or joined by NVLink (`mpigauge topo`, --gpu)",
            "between hosts a network card that reads the GPU (GPUDirect RDMA), next to it",
        ),
        rows=tuple(each for twin in slow for each in twin),
        cost=view.cost(1 - 1 / twin.ratio for twin in slow),
    )


def _links(view: RunView) -> Iterator[str]:
    speeds = [(link_speed(rank.gpu.link), rank.gpu.link) for rank in ranks_with_gpus(view)]
    speed, link = min(speeds, default=(0.0, ""))
    if speed:
        yield f"the PCIe link of a GPU ({link}) carries {megabytes_per_s(speed)} MB/s one way"
