# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Small messages in device memory that take as long as the launch of a copy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.features.explain.needs import REPEATED
from mpigauge.features.explain.on_gpu import SMALL, Twin, twins
from mpigauge.features.explain.registry import cause
from mpigauge.model.data_memory import DEVICE, HOST, PINNED, sides
from mpigauge.model.grouping import grouped
from mpigauge.model.units import duration, first_few
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING
from mpigauge.result.stats.curve_stats import variant_of
from mpigauge.result.words import size, time

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView

FLOOR_S = 3e-6
"""The least time that the launch of a copy, or a wait for one, takes on today's GPUs."""
_FLAT = 1.5
"""The largest ratio of the times of small messages for which they are a floor."""
_LEAST_SIZES = 2


@cause(
    "gpu-copy-launch",
    "small messages in device memory that take as long as the launch of a copy",
    of=MOVING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    """Ranks that share a GPU wait for their time slice, which is longer than any launch."""
    small = [
        twin
        for twin in twins(view, _beside)
        if 0 < twin.row.message_bytes <= SMALL and not twin.row.cell.sharing
    ]
    floors = []
    for of in grouped(small, lambda twin: variant_of(twin.row.cell)).values():
        if len(of) >= _LEAST_SIZES and _is_floor(of):
            floors.append(of)
    if floors:
        yield _finding(view, floors)


def _finding(view: RunView, floors: Sequence[Sequence[Twin]]) -> Finding:
    every = [twin for of in floors for twin in of]
    row, other = min(every, key=lambda twin: (twin.row.message_bytes, -_more(twin)))
    label = first_few(f"{of[0].row.benchmark} in {of[0].row.cell.memory} memory" for of in floors)
    return Finding(
        what=f"{label}: small messages take {duration(min(map(_more, every)))} or more longer than "
        f"in {other.cell.memory} memory, whatever their size",
        likely="each message launches a copy on the GPU and waits for it; the CPU does not write "
        "device memory directly",
        evidence=(
            f"{size(row)} take {time(row)}, in {other.cell.memory} memory {time(other)}",
            f"up to {size(max(every, key=_bytes).row)} the time hardly grows",
        ),
        attempts=(
            (
                "GDRCopy (the kernel module gdrdrv and its library), by which the CPU writes "
                "device memory itself: does this MPI find it? (`mpigauge transports`)"
            ),
            "in programs: one message instead of several small ones, or small data in host memory",
        ),
        rows=tuple(each for twin in every for each in twin),
        cost=view.cost(1 - 1 / twin.ratio for twin in every),
    )


def _beside(memory: str) -> Sequence[str]:
    return (HOST, PINNED) if DEVICE in sides(memory) else ()


def _is_floor(of: Sequence[Twin]) -> bool:
    times = [twin.row.latency.value for twin in of]
    is_flat = max(times) <= _FLAT * min(times)
    return is_flat and all(twin.is_slower and _more(twin) >= FLOOR_S for twin in of)


def _more(twin: Twin) -> float:
    """The seconds that the row takes longer."""
    return twin.row.latency.value - twin.other.latency.value


def _bytes(twin: Twin) -> int:
    return twin.row.message_bytes
