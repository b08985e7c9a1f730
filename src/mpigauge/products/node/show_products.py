# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Products of matrices on the page of a node: a line each, libraries beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.units import many, number, percent
from mpigauge.products.node.show_estimates import GIGA, error, scaled
from mpigauge.result.node.products import SAME_CLOCK

if TYPE_CHECKING:
    from mpigauge.result.node.products import Product, Throttle


def lines(products: Sequence[Product], throttles: Sequence[Throttle]) -> Iterator[str]:
    if not products:
        return
    yield "Products of matrices, GFLOP/s"
    yield (
        f"{'':6}{'n':>7}{'k':>7}  {'':22}{'GFLOP/s':>9} {'error':>12}{'of peak':>9}{'nominal':>9}"
        f"{'busy':>6}  library"
    )
    first: dict[tuple[object, ...], Product] = {}
    for product in products:
        against = first.setdefault(_shape(product), product)
        yield _line(product, against)
        for reason in product.reasons:
            yield f"{'':22}{reason}"
    yield "  of peak: of the fastest registers on as many cores, measured in this run; nominal: of"
    yield "  their rate at the clock that the machine reports; busy: cores, CPU time by"
    yield "  time. Numbers are small integers, and each of a product was compared."
    yield from map(_throttle, throttles)


def _shape(product: Product) -> tuple[object, ...]:
    row = product.row
    return row.cell.benchmark, row.message_bytes, row.ranks, row.cell.threads


def _line(product: Product, against: Product) -> str:
    row, speed = product.row, product.speed
    ratio = speed.value / against.speed.value
    beside = f"  {ratio:.2f} × {against.library}" if product is not against else ""
    return (
        f"{product.name:6}{product.order:>7}{product.depth:>7}  {_where(product):22}"
        f"{scaled(speed):>9} {error(speed, row.is_range):>12}{percent(product.of_peak):>9}"
        f"{percent(product.of_nominal):>9}{number(row.cell.busy_cores):>6}  "
        f"{row.cell.variant or product.library}{beside}"
    )


def _where(product: Product) -> str:
    ranks, threads = product.row.ranks, product.row.cell.threads
    return f"{many(ranks, 'rank')} × {many(threads, 'thread')}"


def _throttle(throttle: Throttle) -> str:
    name = throttle.peak.cell.benchmark.removeprefix("Peak_")
    text = (
        f"  {name} from registers, {many(throttle.peak.ranks, 'rank')}: "
        f"{number(throttle.before * GIGA)} GFLOP/s before the products, "
        f"{number(throttle.beside * GIGA)} beside them: "
    )
    if abs(throttle.ratio - 1) <= SAME_CLOCK:
        return f"{text}no throttling"
    if throttle.disturbed:
        return f"{text}undecided, others were at work here"
    if throttle.ratio > 1:
        return f"{text}no throttling, though the two differ"
    return f"{text}throttled to {percent(throttle.ratio)}"
