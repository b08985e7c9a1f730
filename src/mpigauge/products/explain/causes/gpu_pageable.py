# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pinned host memory that is no faster than ordinary memory beside a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.data_memory import DEVICE, HOST, PINNED, of_sides, sides
from mpigauge.products.explain.needs import REPEATED
from mpigauge.products.explain.on_gpu import LARGE, Twin, twins
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING
from mpigauge.result.stats.remarks import name_cells
from mpigauge.result.words import size, time

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView

LEAST_GAIN = 1.1
"""Copies between a GPU and pinned memory are several times as fast as those of pageable memory."""


@cause(
    "gpu-pageable",
    "pinned host memory that is no faster than ordinary memory beside a GPU",
    of=MOVING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    """Yields the cost of pageable memory. Between two ranks in host memory no GPU copies, and
    pinned memory need not be faster."""
    alike = [twin for twin in twins(view, _pageable) if _is_alike(twin)]
    if alike:
        row, other = max(alike, key=lambda twin: twin.row.message_bytes)
        yield Finding(
            what=f"{name_cells([twin.row for twin in alike])}: no faster than with pageable "
            "memory on the host's side",
            likely="the MPI copies through buffers of its own instead of letting the GPU read the "
            "pinned memory, or it pins the buffer in both cases",
            evidence=(f"{size(row)} take {time(row)} with pinned memory, {time(other)} without",),
            attempts=(
                "`mpigauge mpi transports`: which of them copy between host and GPU?",
                "pinned>pinned beside it, which shows what the host's side alone takes",
            ),
            rows=tuple(each for twin in alike for each in twin),
        )


def _pageable(memory: str) -> tuple[str, ...]:
    """The same kind with ordinary instead of pinned memory, where the other side is on a GPU."""
    both = sides(memory)
    if set(both) != {PINNED, DEVICE}:
        return ()
    return (of_sides(*(HOST if side == PINNED else side for side in both)),)


def _is_alike(twin: Twin) -> bool:
    is_large = twin.row.message_bytes >= LARGE and not twin.row.cell.sharing
    return is_large and twin.ratio > 1 / LEAST_GAIN
