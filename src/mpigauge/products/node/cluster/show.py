# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All hosts of a run in one table: each at once with the others, and alone."""

from __future__ import annotations

import math
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.model.units import UNKNOWN, byte_count, many, number, percent
from mpigauge.model.width import broken
from mpigauge.result.stats.peers import LEAST_PEERS
from mpigauge.show.ending import last_lines
from mpigauge.show.heading import heading, note_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpigauge.model.row import Row
    from mpigauge.products.node.cluster.result import Cluster, HostsTogether, Kernel
    from mpigauge.result.document import Document

_COLUMN = 20
_BEST = 3
"""Columns side by side."""


def page(document: Document, cluster: Cluster, colour: bool = False) -> Iterator[str]:
    """The table, in pieces as wide as a terminal; who is slower than the others, and who suffers
    from them."""
    yield from heading(document.facts)
    yield ""
    yield f"{len(cluster.hosts)} hosts, {many(cluster.ranks, 'rank')} on each: at once / alone"
    for start in range(0, len(cluster.kernels), _BEST):
        yield ""
        yield from _table(cluster, cluster.kernels[start : start + _BEST])
    yield ""
    yield from broken(sentences(cluster))
    for lines in (note_lines(document, colour), last_lines(document, colour=colour)):
        if lines:
            yield ""
            yield from lines


def sentences(cluster: Cluster) -> Iterator[str]:
    """Verdicts, each with its numbers."""
    if not cluster.can_judge:
        yield (
            f"UNDECIDED whether a host is slow: {len(cluster.hosts)} do not show the usual value, "
            f"{LEAST_PEERS} would"
        )
    for kernel in cluster.kernels:
        yield from _verdicts(kernel)
    if cluster.can_judge and not any(kernel.odd for kernel in cluster.kernels):
        yield f"all {len(cluster.hosts)} hosts are like their peers"


def _verdicts(kernel: Kernel) -> Iterator[str]:
    for host in kernel.odd:
        sentence = f"{host} is slow: {_name(kernel)} {_how(kernel, host)}"
        again = host in kernel.at_once.again or host in kernel.alone.again
        yield f"{sentence}, measured again" if again else sentence
    for host in kernel.cleared:
        yield f"{host} stood out once in {_name(kernel)}, but not the other time"
    suffering = kernel.suffering
    if suffering:
        host = max(suffering, key=lambda each: suffering[each])
        some = f"{len(suffering)} of {len(kernel.at_once.last)}"
        yield (
            f"{_name(kernel)} takes longer on {some} hosts when all are at work, on {host} "
            f"{suffering[host]:.3g} × as long"
        )


def _how(kernel: Kernel, host: str) -> str:
    """The slowdown of a host, and whether it is at once with the others, alone, or both."""
    at_once, alone = kernel.at_once.ratio(host), kernel.alone.ratio(host)
    if host in {each.name for each in kernel.at_once.odd}:
        ratio, when, other, otherwise = at_once, "", alone, "alone"
    else:
        ratio, when, other = alone, " while these rest", at_once
        otherwise = "at once with the others"
    sentence = f"takes {ratio:.3g} × as long as the median of its peers{when}"
    if not math.isfinite(other):
        return sentence
    return f"{sentence}, {otherwise} {other:.3g} ×"


def _table(cluster: Cluster, kernels: Sequence[Kernel]) -> Iterator[str]:
    wide = max(len("deviation"), *map(len, cluster.hosts))

    def line(head: str, cell: Callable[[Kernel], str]) -> str:
        return f"{head:{wide}}" + "".join(f"{cell(kernel):>{_COLUMN}}" for kernel in kernels)

    yield line("", _name)
    yield line("", _unit)
    for host in cluster.hosts:
        yield line(host, partial(_both, host))
    yield line("median", _medians)
    yield line("deviation", _deviation)


def _both(host: str, kernel: Kernel) -> str:
    """The values of a host at once with the others, and alone."""
    return f"{_text(kernel.at_once.last.get(host))} / {_text(kernel.alone.last.get(host))}"


def _medians(kernel: Kernel) -> str:
    return f"{_middle(kernel.at_once)} / {_middle(kernel.alone)}"


def _deviation(kernel: Kernel) -> str:
    usual = kernel.at_once.usual
    return percent(usual.deviation_s / usual.median_s)


def _name(kernel: Kernel) -> str:
    size = kernel.library or byte_count(kernel.message_bytes)
    return f"{kernel.benchmark} {size}".rstrip()


def _unit(kernel: Kernel) -> str:
    row = next(iter(kernel.at_once.first.values()))
    return _value(row)[1]


def _text(row: Row | None) -> str:
    if row:
        return number(_value(row)[0])
    return UNKNOWN


def _middle(way: HostsTogether) -> str:
    values = [_value(row)[0] for row in way.last.values()]
    if values:
        return number(median(values))
    return UNKNOWN


def _value(row: Row) -> tuple[float, str]:
    """The value that people ask for, with its unit."""
    if row.bandwidth:
        return row.bandwidth.value * 1e-9, "GB/s"
    if row.rate:
        return row.rate.value * 1e-9, "G/s"
    if row.latency.value < 1e-6:
        return row.latency.value * 1e9, "ns"
    return row.latency.value * 1e6, "µs"
