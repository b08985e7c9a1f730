# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A collective of the MPI that is slower than NCCL's from some size on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from mpigauge.model.cards import FIRST_SUITE, NCCL_SUITE
from mpigauge.model.data_memory import DEVICE
from mpigauge.model.grouping import grouped
from mpigauge.model.units import megabytes_per_s
from mpigauge.products.explain.needs import REPEATED
from mpigauge.products.explain.on_gpu import Twin
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.models.breaks import algorithms
from mpigauge.result.nature import COLLECTIVE
from mpigauge.result.words import factor, settings, size, time

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView

LEAST_RATIO = 1.1
EACH = "each"
_OF_MPI = {"broadcast": "bcast"}
_of = attrgetter("ranks", "groups", "group", "message_bytes", "datatype", "op", "sharing")


@cause(
    "nccl-faster",
    "a collective of the MPI that is slower than NCCL's from some size on",
    of=COLLECTIVE | {"nccl"},
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    nccl = {_key(row): row for row in view.rows if _is_nccl(row)}
    ours = [row for row in view.rows if _is_mpi(row) and _key(row) in nccl]
    for of in grouped(ours, _curve).values():
        ordered = sorted(of, key=lambda row: row.message_bytes)
        slower = _from_some_size_on([Twin(row, nccl[_key(row)]) for row in ordered])
        if slower:
            yield _finding(view, slower)


def _finding(view: RunView, slower: Sequence[Twin]) -> Finding:
    worst = max(slower, key=lambda twin: twin.ratio)
    first, name = slower[0].row, worst.row.benchmark
    return Finding(
        what=f"{name}: from {size(first)} on up to {factor(worst.ratio)} the time of NCCL's "
        f"{worst.other.cell.benchmark} on the same GPUs",
        likely="NCCL sends through all links between the GPUs at the same time and reduces on "
        "them; the MPI takes an algorithm for host memory, or copies data to the host",
        evidence=tuple(_evidence(worst)),
        attempts=tuple(
            filter(
                None,
                (
                    "NCCL for these sizes in programs that can call it",
                    "an MPI whose collectives use NCCL, such as Open MPI with UCC",
                    settings(algorithms(view, worst.row)),
                ),
            )
        ),
        rows=tuple(each for twin in slower for each in twin),
        cost=view.cost(1 - 1 / twin.ratio for twin in slower),
    )


def _evidence(worst: Twin) -> Iterator[str]:
    row, other = worst
    yield f"{size(row)} take {time(row)} by the MPI, {time(other)} by NCCL"
    if row.bus_bandwidth and other.bus_bandwidth:
        speeds = [megabytes_per_s(each.bus_bandwidth.value) for each in worst if each.bus_bandwidth]
        yield f"bus bandwidth {speeds[0]} MB/s by the MPI, {speeds[1]} MB/s by NCCL"


def _from_some_size_on(twins: Sequence[Twin]) -> list[Twin]:
    """The sizes from which on the MPI is slower at every size; empty: there are none."""
    slower: list[Twin] = []
    for twin in reversed(twins):
        if not (twin.is_slower and twin.ratio >= LEAST_RATIO):
            break
        slower.insert(0, twin)
    return slower


def _is_nccl(row: Row) -> bool:
    """True for calls that are completed one by one, as MPI's are."""
    return row.cell.suite == NCCL_SUITE and row.cell.completion == EACH


def _is_mpi(row: Row) -> bool:
    return row.cell.suite == FIRST_SUITE and row.cell.memory == DEVICE and row.message_bytes > 0


def _key(row: Row) -> tuple[object, ...]:
    name = row.cell.benchmark.lower().replace("_", "")
    return _OF_MPI.get(name, name), *_of(row.cell)


def _curve(row: Row) -> tuple[object, ...]:
    cell = row.cell
    return cell.benchmark, cell.ranks, cell.groups, cell.datatype, cell.op, cell.arm, cell.placement
