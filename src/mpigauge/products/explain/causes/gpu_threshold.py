# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A protocol of the MPI that begins at the wrong size for device memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.data_memory import HOST, PINNED, is_on_gpu
from mpigauge.products.explain.falls import Fall, falls, in_words, lost_behind, together
from mpigauge.products.explain.needs import REPEATED
from mpigauge.products.explain.on_gpu import knobs_at, twins
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import SENDING
from mpigauge.result.words import bandwidth, settings, size

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView

LEAST_FALL = 1.25


@cause(
    "gpu-threshold",
    "a bandwidth that falls in device memory where it does not in host memory",
    of=SENDING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    host = {id(row): other for row, other in twins(view, _beside)}
    lone = []
    for fall in falls(view, LEAST_FALL):
        before, after = host.get(id(fall.before)), host.get(id(fall.after))
        if before and after and not _falls(before, after):
            lone.append(fall)
    for group in together(lone):
        yield _finding(view, group, host)


def _finding(view: RunView, group: list[Fall], host: dict[int, Row]) -> Finding:
    fall = group[0]
    before, after = host[id(fall.before)], host[id(fall.after)]
    return Finding(
        what=in_words(group),
        likely="from this size on the MPI takes another protocol, and it chose the size for host "
        "memory, or with a wrong idea of how fast data leave this GPU",
        evidence=(
            (
                f"in {before.cell.memory} memory {bandwidth(before)} at {size(before)} and "
                f"{bandwidth(after)} at {size(after)}"
            ),
        ),
        attempts=tuple(filter(None, (settings(knobs_at(view, fall)), _SWEEP))),
        rows=tuple(row for each in group for row in each.behind),
        cost=view.cost(lost_behind(group)),
    )


_SWEEP = "a sweep of the size at which the protocol changes (`mpigauge sweep`)"


def _beside(memory: str) -> tuple[str, ...]:
    return (HOST, PINNED) if is_on_gpu(memory) else ()


def _falls(before: Row, after: Row) -> bool:
    """True if the bandwidth also falls between the same sizes in the other memory."""
    if before.bandwidth is None or after.bandwidth is None:
        return False
    return before.bandwidth.value > LEAST_FALL * after.bandwidth.value
