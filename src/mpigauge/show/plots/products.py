# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The share of the cores' peak that matrix products reach, over the order of the matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.draw.axes import CORES, Axis, plain, share
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.units import dotted, many
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.node.products import Product

_ORDER = Axis("order of the matrices", plain, 2)
_SHARE = Axis("share of the peak", share)


class _Named(NamedTuple):
    """A product, where it stands, and the name of the curve that it is a point of."""

    curve: str
    x: float
    product: Product


@plot("products", "share of the peak that products of matrices (DGEMM) have, over their order")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    """Draws the products over the cores at work if all are of one order."""
    products_of: dict[str, list[_Named]] = {}
    for each in shown:
        products = each.node.products if each.node else ()
        over_cores = _are_of_one_order(products)
        of = each.name if len(shown) > 1 else ""
        for product in products:
            is_chosen = chosen.benchmark.lower() in ("", product.name.lower())
            if is_chosen and math.isfinite(product.of_peak):
                name = dotted(of, _name(product, over_cores))
                x = product.cores if over_cores else product.order
                products_of.setdefault(product.name, []).append(_Named(name, x, product))
    if not products_of:
        return None
    panels = [_panel(name, of) for name, of in products_of.items()]
    about = "Speeds are shares of what as many cores compute from registers, measured here."
    return picture(Plot("Products of matrices", about, tuple(panels)))


def _are_of_one_order(products: Sequence[Product]) -> bool:
    return len({product.order for product in products}) == 1


def _panel(name: str, named: Sequence[_Named]) -> Panel:
    curves: dict[str, list[Point]] = {}
    for each in named:
        curves.setdefault(each.curve, []).append(_point(each.x, each.product))
    series = []
    for curve, points in curves.items():
        points.sort(key=lambda point: point.x)
        series.append(Series(curve, tuple(points)))
    products = [each.product for each in named]
    if _are_of_one_order(products):
        return Panel(f"{name}, n = {products[0].order}", CORES, _SHARE, tuple(series))
    return Panel(name, _ORDER, _SHARE, tuple(series))


def _name(product: Product, over_cores: bool) -> str:
    """The name of a product's curve: the library, the depth if it is not full, and the cores."""
    words = [product.library]
    if product.depth != product.order:
        words.append(f"k = {product.depth}")
    if not over_cores:
        words.append(many(product.cores, "core"))
    return dotted(*words) or "BLAS"


def _point(x: float, product: Product) -> Point:
    """The share of the peak with the interval of the speed; the peak's own interval is far
    smaller."""
    of = product.speed.times(product.of_peak / product.speed.value)
    return Point.of(x, of)
