# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The first sentences on the page of a machine: its memory, its cores, its least latency."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.draw.axes import bytes_per_s, flops, seconds
from mpigauge.model.units import byte_count, many, percent
from mpigauge.show.titles import resting_on
from mpigauge.show.web.quoted import QuotedNumber, quoted

if TYPE_CHECKING:
    from mpigauge.result.node.node import NodeResult
    from mpigauge.result.node.products import Product


def node_sentences(node: NodeResult) -> Iterator[str]:
    """Sentences on the ranks that saturate the memory, a library's share of the peak, and the cost
    of a message over the mailbox floor."""
    yield from _memory(node)
    yield from _remote(node)
    yield from _cores(node)
    yield from _messages(node)


def node_numbers(node: NodeResult) -> Iterator[QuotedNumber]:
    if stream := node.best_triad:
        size, row = byte_count(stream.message_bytes), stream.row
        where = f"Triad · {many(stream.ranks, 'rank')} · arrays of {size} · {resting_on(row)}"
        yield quoted("Memory bandwidth", bytes_per_s, row, stream.bandwidth, where)
    if (peak := node.best_peak) and peak.rate:
        instructions = peak.cell.benchmark.removeprefix("Peak_")
        where = f"{instructions} from registers · {many(peak.ranks, 'rank')} · {resting_on(peak)}"
        yield quoted("Floating-point peak", flops, peak, peak.rate, where)
    if product := node.best_product:
        row = product.row
        where = f"{_shape(product)} · {many(product.cores, 'core')} · {resting_on(row)}"
        yield quoted(product.name, flops, row, product.speed, where)
    if floor := node.mailbox:
        where = f"a cache line for each way · {resting_on(floor.row)}"
        yield quoted("Least latency of two cores", seconds, floor.row, floor.row.latency, where)


def _memory(node: NodeResult) -> Iterator[str]:
    stream = node.best_triad
    if stream is None:
        return
    has = f"{bytes_per_s(stream.bandwidth.value)} with {many(stream.ranks, 'rank')}"
    enough = node.enough(stream.row.cell.benchmark)
    if enough is None:
        yield f"The memory gives {has}."
        return
    between = f" ({enough.least} to {enough.most} within the errors)"
    unsure = between if enough.least < enough.most else ""
    need = many(enough.many, "rank")
    yield f"The memory gives {has}; for 95 % of the best, {need} are needed{unsure}."


def _remote(node: NodeResult) -> Iterator[str]:
    shares = node.remote_shares
    if shares:
        least, most = percent(shares[0]), percent(shares[-1])
        between = least if least == most else f"{least} to {most}"
        yield f"Memory of another NUMA node gives {between} of what that of the own node does."


def _cores(node: NodeResult) -> Iterator[str]:
    product = node.best_product
    if product and math.isfinite(product.of_peak):
        at_work = many(product.cores, "core")
        yield (
            f"{product.name} has {percent(product.of_peak)} of the peak of {at_work} "
            f"({flops(product.speed.value)}, {_shape(product)})."
        )


def _messages(node: NodeResult) -> Iterator[str]:
    floor = node.mailbox
    if floor and floor.message:
        size = byte_count(floor.message.message_bytes)
        yield (
            f"A message of {size} takes {floor.ratio:.2g} × as long as two cores need for it "
            f"({seconds(floor.row.latency.value)})."
        )


def _shape(product: Product) -> str:
    return " ".join(filter(None, (product.library, f"n = {product.order}")))
