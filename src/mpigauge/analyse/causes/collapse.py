# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Bandwidth that falls between two sizes and does not come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.analyse.falls import Fall, cache_past, falls, lost_behind
from mpigauge.analyse.finding import Finding
from mpigauge.analyse.models.breaks import reasons, settings_that_move
from mpigauge.analyse.needs import sizes
from mpigauge.analyse.registry import cause
from mpigauge.analyse.words import bandwidth, factor, settings, size
from mpigauge.model.units import megabytes_per_s, memory

if TYPE_CHECKING:
    from mpigauge.analyse.seen import Seen

LEAST, FOR_CACHES = 2.0, 4.0
"""By how much it falls; a cache that is too small explains a fall of less than the second."""
_NETWORK = (
    "long messages take another way than short ones: the rendezvous goes over a slower device or "
    "protocol (TCP beside a fast card, memory that is registered for each message)"
)
_NODE = (
    "long messages are not copied in one go: the kernel refuses one rank the memory of another "
    "(ptrace_scope, containers), or the shared memory between them is slow or short"
)


@cause("collapse", "bandwidth that falls between two sizes and does not come back", sizes)
def look(seen: Seen) -> Iterator[Finding]:
    for fall in falls(seen, LEAST):
        if fall.ratio >= FOR_CACHES or not cache_past(seen, fall):
            yield _finding(seen, fall)


def _finding(seen: Seen, fall: Fall) -> Finding:
    best = max((row.bandwidth.value for row in fall.behind if row.bandwidth), default=0.0)
    known = [reason for reason in reasons(seen, fall.curve, fall.as_break) if reason.knobs]
    knobs = [name for reason in known for name in reason.knobs]
    knobs += settings_that_move(seen, fall.curve, "single copy")
    return Finding(
        what=f"{fall.curve.label}: bandwidth falls from {bandwidth(fall.before)} at "
        f"{size(fall.before)} to {bandwidth(fall.after)} at "
        f"{size(fall.after)}, a {factor(fall.ratio)} loss",
        likely=_likely(seen, fall),
        evidence=(
            f"no larger message is faster than {megabytes_per_s(best)} MB/s",
            *(reason.words for reason in known if reason.known),
            *_limits(seen),
        ),
        attempts=(
            (
                "`mpigauge doctor` on these hosts: it says whether ranks may read each "
                "other's memory, and which cards there are"
            ),
            *([settings(knobs)] if knobs else []),
            (
                "measure the same over each transport (`mpigauge transports`, --transport), to see "
                "which of them collapses"
            ),
        ),
        cost=seen.cost(lost_behind(fall)),
    )


def _likely(seen: Seen, fall: Fall) -> str:
    where = seen.where(fall.before)
    if where == "network":
        return _NETWORK
    caches = fall.ratio < FOR_CACHES and not seen.topologies
    within = _NODE + ("; or messages outgrow a cache, of which the run tells nothing" * caches)
    return within if where == "node" else f"between hosts: {_NETWORK}; within one: {within}"


def _limits(seen: Seen) -> Iterator[str]:
    limit = (seen.run.passport.get("machine") or {}).get("memory_limit_bytes")
    if limit:
        yield f"the cgroup of the run allows {memory(limit)} of memory"
