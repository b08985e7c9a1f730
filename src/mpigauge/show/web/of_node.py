# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the page of a machine says first: its memory, its cores, its least latency."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.draw.axes import bytes_per_s, flops, seconds
from mpigauge.model.units import byte_count, many, percent
from mpigauge.result.node.products import is_single
from mpigauge.result.node.threads import remote_shares
from mpigauge.show.titles import resting_on
from mpigauge.show.web.quoted import QuotedNumber, quoted

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.node.node import Floor, NodeResult, Stream
    from mpigauge.result.node.products import Product


def node_sentences(found: NodeResult) -> Iterator[str]:
    """How much of the memory few ranks can use, what a library has of the cores, and what a
    message adds to what two cores need for it."""
    yield from _memory(found)
    yield from _remote(found)
    yield from _cores(found)
    yield from _messages(found)


def node_numbers(found: NodeResult) -> Iterator[QuotedNumber]:
    if stream := _triad(found):
        size, row = byte_count(stream.message_bytes), stream.row
        where = f"Triad · {many(stream.ranks, 'rank')} · arrays of {size} · {resting_on(row)}"
        yield quoted("Memory bandwidth", bytes_per_s, row, stream.bandwidth, where)
    if (peak := _peak(found)) and peak.rate:
        instructions = peak.cell.benchmark.removeprefix("Peak_")
        where = f"{instructions} from registers · {many(peak.ranks, 'rank')} · {resting_on(peak)}"
        yield quoted("Floating-point peak", flops, peak, peak.rate, where)
    if product := _product(found):
        row = product.row
        where = f"{_shape(product)} · {many(_cores_of(product), 'core')} · {resting_on(row)}"
        yield quoted(product.name, flops, row, product.speed, where)
    if floor := _floor(found):
        where = f"a cache line for each way · {resting_on(floor.row)}"
        yield quoted("Least latency of two cores", seconds, floor.row, floor.row.latency, where)


def _memory(found: NodeResult) -> Iterator[str]:
    stream = _triad(found)
    if stream is None:
        return
    has = f"{bytes_per_s(stream.bandwidth.value)} with {many(stream.ranks, 'rank')}"
    enough = found.enough(stream.row.cell.benchmark)
    if enough is None:
        yield f"The memory gives {has}."
        return
    between = f" ({enough.least} to {enough.most} within the errors)"
    unsure = between if enough.least < enough.most else ""
    need = many(enough.many, "rank")
    yield f"The memory gives {has}; for 95 % of the best, {need} are needed{unsure}."


def _remote(found: NodeResult) -> Iterator[str]:
    if shares := remote_shares(found.places):
        least, most = percent(shares[0]), percent(shares[-1])
        between = least if least == most else f"{least} to {most}"
        yield f"Memory of another NUMA node gives {between} of what that of the own node does."


def _cores(found: NodeResult) -> Iterator[str]:
    product = _product(found)
    if product and math.isfinite(product.of_peak):
        at_work = many(_cores_of(product), "core")
        yield (
            f"{product.name} has {percent(product.of_peak)} of the peak of {at_work} "
            f"({flops(product.speed.value)}, {_shape(product)})."
        )


def _messages(found: NodeResult) -> Iterator[str]:
    floor = _floor(found)
    if floor and floor.message:
        size = byte_count(floor.message.message_bytes)
        yield (
            f"A message of {size} takes {floor.ratio:.2g} × as long as two cores need for it "
            f"({seconds(floor.row.latency.value)})."
        )


def _triad(found: NodeResult) -> Stream | None:
    """The fastest, on whatever number of ranks."""
    triads = [stream for stream in found.streams if stream.name == "Triad"]
    return max(triads, key=lambda stream: stream.bandwidth.value, default=None)


def _peak(found: NodeResult) -> Row | None:
    rows = [row for row in found.peaks if row.rate and not is_single(row)]
    return max(rows, key=lambda row: row.rate.value if row.rate else 0.0, default=None)


def _product(found: NodeResult) -> Product | None:
    """The fastest in double precision."""
    products = [each for each in found.products if each.name == "DGEMM"]
    return max(products, key=lambda each: each.speed.value, default=None)


def _floor(found: NodeResult) -> Floor | None:
    return next((each for each in found.floors if each.row.cell.benchmark == "Mailbox"), None)


def _cores_of(product: Product) -> int:
    return product.row.ranks * product.row.cell.threads


def _shape(product: Product) -> str:
    return " ".join(filter(None, (product.library, f"n = {product.order}")))
