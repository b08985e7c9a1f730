# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Bandwidth that falls between two sizes and does not come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.units import megabytes_per_s, memory
from mpigauge.products.explain.falls import (
    COLLAPSE,
    Fall,
    cache_past,
    falls,
    in_words,
    lost_behind,
    together,
)
from mpigauge.products.explain.needs import REPEATED, sizes
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.models.breaks import reasons, settings_that_move
from mpigauge.result.nature import MOVING
from mpigauge.result.words import factor, settings

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView

FOR_CACHES = 4.0
"""A cache that is too small explains a fall of less than this."""
_NETWORK = (
    "long messages take another way than short ones: the rendezvous goes over a slower device or "
    "protocol (TCP beside a fast card, memory that is registered for each message)"
)
_NODE = (
    "long messages are not copied in one go: the kernel refuses one rank the memory of another "
    "(ptrace_scope, containers), or the shared memory between them is slow or short"
)


@cause(
    "collapse",
    "bandwidth that falls between two sizes and does not come back",
    sizes,
    of=MOVING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    lasting = []
    for fall in falls(view, COLLAPSE):
        if fall.ratio >= FOR_CACHES or not cache_past(view, fall):
            lasting.append(fall)
    for group in together(lasting):
        yield _finding(view, group)


def _finding(view: RunView, group: Sequence[Fall]) -> Finding:
    fall = group[0]
    best = max((row.bandwidth.value for row in fall.behind if row.bandwidth), default=0.0)
    evidence = [f"no larger message is faster than {megabytes_per_s(best)} MB/s"]
    knobs: list[str] = []
    for reason in reasons(view, fall.curve, fall.as_break):
        knobs += reason.knobs
        if reason.knobs and reason.is_likely:
            evidence.append(reason.words)
    knobs += settings_that_move(view, fall.curve, "single copy")
    attempts = (
        "`mpigauge doctor` there: may ranks read each other's memory, which cards are there?",
        settings(knobs),
        (
            "measure the same over each transport (`mpigauge mpi transports`, --transport), to see "
            "which of them collapses"
        ),
    )
    return Finding(
        what=f"{in_words(group)}, a {factor(fall.ratio)} loss",
        likely=_likely(view, fall),
        evidence=(*evidence, *_limits(view)),
        attempts=tuple(filter(None, attempts)),
        rows=(fall.before, fall.after),
        cost=view.cost(lost_behind(group)),
    )


def _likely(view: RunView, fall: Fall) -> str:
    where = view.where(fall.before)
    if where == "network":
        return _NETWORK
    within = _NODE
    if fall.ratio < FOR_CACHES and not view.topologies:
        within += "; or messages outgrow a cache, which the run does not record"
    if where == "node":
        return within
    return f"between hosts: {_NETWORK}; within one: {within}"


def _limits(view: RunView) -> Iterator[str]:
    limit = view.machine.get("memory_limit_bytes")
    if limit:
        yield f"the cgroup of the run allows {memory(limit)} of memory"
