# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Threads of a rank and memory of other NUMA nodes, on the page of the machine itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import UNKNOWN, many
from mpigauge.products.node.show_estimates import GIGA, error, scaled
from mpigauge.result.node.threads import TRIAD

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate
    from mpigauge.result.node.node import NodeResult
    from mpigauge.result.node.threads import Enough, Placed, ThreadCurve


def thread_lines(node: NodeResult) -> Iterator[str]:
    """A table for each order of cores, and how many threads are enough."""
    for sweep in node.sweeps:
        yield from _sweep(sweep)


def _sweep(sweep: ThreadCurve) -> Iterator[str]:
    yield f"Triad on threads of one rank, {sweep.order}, GB/s"
    yield f"{'threads':>10}{'plain':>9} {'error':>9}{'tuned':>9} {'error':>9}"
    for count, speeds in sweep.speeds.items():
        plain, tuned = _speed(speeds.get("Triad")), _speed(speeds.get(TRIAD))
        yield f"{count:>10}{plain}{tuned}".rstrip()
    yield from enough_words(sweep.enough, "thread")


def enough_words(enough: Enough | None, what: str) -> Iterator[str]:
    """The knee; nothing where it is not known."""
    if enough is None:
        return
    text = f"  95 % of the best with {many(enough.many, what)}"
    if enough.least < enough.most:
        text += f" ({enough.least} to {enough.most} within the errors)"
    yield text


def _speed(estimate: Estimate | None) -> str:
    if estimate is None:
        return f"{UNKNOWN:>9} {'':9}"
    return f"{scaled(estimate):>9} {error(estimate):>9}"


def place_lines(node: NodeResult) -> Iterator[str]:
    """Compute nodes in rows, memory in columns."""
    if not node.places:
        return
    yield from _matrix(node, "Triad, tuned, GB/s", _bandwidth)
    if any(each.load for each in node.places):
        yield from _matrix(node, "time of one load in huge pages, ns", _load)
    yield f"  {_words(node)}"


def _matrix(node: NodeResult, what: str, shown: Callable[[Placed], str]) -> Iterator[str]:
    memories = tuple(dict.fromkeys(each.memory for each in node.places))
    cells = {(each.compute, each.memory): shown(each) for each in node.places}
    yield f"Cores of a NUMA node (rows), memory on others: {what}"
    yield f"{'':>8}" + "".join(f"{_node(memory):>13}" for memory in memories)
    for compute in dict.fromkeys(each.compute for each in node.places):
        line = f"{_node(compute) or 'here':>8}"
        for memory in memories:
            line += f"{cells.get((compute, memory), UNKNOWN):>13}"
        yield line


def _node(name: str) -> str:
    if name[:1].isdecimal():
        return f"node {name}"
    return name


def _bandwidth(each: Placed) -> str:
    return _short(each.bandwidth, GIGA)


def _load(each: Placed) -> str:
    return _short(each.load, 1e9)


def _short(estimate: Estimate | None, scale: float) -> str:
    if estimate is None:
        return UNKNOWN
    value = scaled(estimate, scale)
    if not math.isfinite(estimate.error):
        return value
    return f"{value} {error(estimate)}"


def _words(node: NodeResult) -> str:
    shares = node.remote_shares
    if not shares:
        return "every page was found on the nodes that are named"
    least, most = f"{shares[0]:.2f}", f"{shares[-1]:.2f}"
    shares_text = least if least == most else f"{least} to {most}"
    return (
        f"remote memory: {shares_text} of local; every page was found on the nodes that are named"
    )
