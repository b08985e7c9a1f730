# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What products of matrices have of the peak of the cores, over the order of the matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.draw.axes import CORES, Axis, plain, share
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.units import many
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from mpigauge.result.node.products import Product

_ORDER = Axis("order of the matrices", plain, 2)
_SHARE = Axis("share of the peak", share)


@plot("products", "share of the peak that products of matrices (DGEMM) have, over their order")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    """Over the cores at work, where all are of one order."""
    found: dict[str, dict[str, list[tuple[Product, Point]]]] = {}
    for each in shown:
        of = each.name if len(shown) > 1 else ""
        products = each.node.products if each.node else ()
        orders = {product.order for product in products}
        for product in products:
            if chosen.benchmark.lower() not in ("", product.name.lower()):
                continue
            if math.isfinite(product.of_peak):
                over_cores = len(orders) == 1
                x = product.cores if over_cores else product.order
                name = " · ".join(filter(None, (of, _name(product, over_cores))))
                known = (product, _point(x, product))
                found.setdefault(product.name, {}).setdefault(name, []).append(known)
    panels = tuple(_panel(name, curves) for name, curves in found.items())
    about = "Of the operations per second that as many cores do from registers, measured here."
    return picture(Plot("Products of matrices", about, panels)) if panels else None


def _panel(name: str, curves: dict[str, list[tuple[Product, Point]]]) -> Panel:
    known = [product for of in curves.values() for product, _ in of]
    over_cores = len({product.order for product in known}) == 1
    order = f", n = {known[0].order}" if over_cores else ""
    series = tuple(
        Series(of, tuple(sorted((point for _, point in pairs), key=lambda point: point.x)))
        for of, pairs in curves.items()
    )
    return Panel(f"{name}{order}", CORES if over_cores else _ORDER, _SHARE, series)


def _name(product: Product, over_cores: bool) -> str:
    """What is no product of full depth is told apart from those that are."""
    deep = "" if product.depth == product.order else f"k = {product.depth}"
    cores = "" if over_cores else many(product.cores, "core")
    return " · ".join(filter(None, (product.library, deep, cores))) or "BLAS"


def _point(x: float, product: Product) -> Point:
    """With the interval of its speed; that of the peak is far smaller."""
    of = product.speed.times(product.of_peak / product.speed.value)
    return Point.of(x, of)
