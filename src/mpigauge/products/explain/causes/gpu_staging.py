# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Large messages between GPUs that go through host memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.data_memory import DEVICE, HOST, PINNED
from mpigauge.model.units import first_few, megabytes_per_s
from mpigauge.products.explain.floors import turns
from mpigauge.products.explain.needs import REPEATED
from mpigauge.products.explain.on_gpu import LARGE, Twin, link_speed, ranks_with_gpus, twins
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING
from mpigauge.result.stats.curve_stats import variant_of
from mpigauge.result.stats.remarks import name_cells
from mpigauge.result.words import bandwidth, factor, size, time

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView

LEAST_RATIO = 1.25
LEAST_SHARE = 0.5
"""The share of a PCIe link's speed that direct copies between GPUs reach at least."""
_ONE_WAY = ("PingPong", "Uniband")
"""Benchmarks whose bandwidth is that of one direction."""
_ATTEMPTS = (
    "`mpigauge doctor`, `mpigauge mpi transports`: which transports of this MPI copy between GPUs?",
    "GPUs below one PCIe switch or joined by NVLink (`mpigauge topo`, --gpu)",
    "between hosts a network card that reads the GPU (GPUDirect RDMA), next to it",
)


@cause(
    "gpu-staging",
    "large messages between GPUs that go through host memory",
    of=MOVING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    """Ranks that share a GPU wait for each other, which says nothing about the way of messages."""
    waiting = {variant_of(floor[0].row.cell) for floor in turns(view)}
    beside = twins(view, lambda memory: (HOST, PINNED) if memory == DEVICE else ())
    slow = [
        twin
        for twin in beside
        if twin.row.message_bytes >= LARGE
        and not twin.row.cell.sharing
        and variant_of(twin.row.cell) not in waiting
        and twin.is_slower
        and twin.ratio >= LEAST_RATIO
    ]
    if slow:
        yield _finding(view, slow)
    elif not any(row.cell.memory in (HOST, PINNED) for row in view.rows):
        yield from _by_link(view)


def _by_link(view: RunView) -> Iterator[Finding]:
    """Judges by the speed of the PCIe link, where nothing was measured in host memory."""
    longest = {curve.label: curve.rows[-1] for curve in view.curves}
    slow = {label: row for label, row in longest.items() if _is_below_link(view, row)}
    if slow:
        row = min(slow.values(), key=lambda each: each.bandwidth.value if each.bandwidth else 0.0)
        yield Finding(
            what=f"{first_few(slow)}: {bandwidth(row)} at {size(row)}, less than half of what the "
            "PCIe link of the GPUs carries",
            likely="data may go from the GPU to host memory and from there to the other GPU "
            "(nothing in the run proves it)",
            proved=False,
            evidence=tuple(_links(view)),
            attempts=("--memory host,device, which shows how long host memory takes", *_ATTEMPTS),
            rows=tuple(slow.values()),
        )


def _is_below_link(view: RunView, row: Row) -> bool:
    """True for ranks of one host that have a GPU each."""
    cell, ranks = row.cell, view.ranks_of(row)
    if cell.memory != DEVICE or cell.sharing or row.benchmark not in _ONE_WAY:
        return False
    if row.message_bytes < LARGE or row.bandwidth is None or len({r.host for r in ranks}) != 1:
        return False
    speed = min(link_speed(rank.gpu.link) for rank in ranks)
    return row.bandwidth.value < LEAST_SHARE * speed


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
        attempts=_ATTEMPTS,
        rows=tuple(each for twin in slow for each in twin),
        cost=view.cost(1 - 1 / twin.ratio for twin in slow),
    )


def _links(view: RunView) -> Iterator[str]:
    speeds = [(link_speed(rank.gpu.link), rank.gpu.link) for rank in ranks_with_gpus(view)]
    speed, link = min(speeds, default=(0.0, ""))
    if speed:
        yield f"the PCIe link of a GPU ({link}) carries {megabytes_per_s(speed)} MB/s one way"
