# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The share of what pairs reach alone, over rounds with other pairs each, with the worst marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.draw.axes import Axis, share
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Mark, Panel, Picture, Plot, Point, Series
from mpigauge.model.units import percent
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.result.fabric.fabric import Fabric
    from mpigauge.result.fabric.matchings import Pairing

_TOGETHER = Axis("bandwidth at once, of that alone", share, 10)
_BELOW = Axis("rounds with less", share)
_OF_MEDIAN = Axis("bandwidth of a pair, of the median", share, 10)
_PAIRS_BELOW = Axis("pairs with less", share)
_LEAST = 2


@plot(
    "spread",
    "shares of what pairs reach alone over rounds of other pairs, worst marked",
    choices=(),
)
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    """Draws a panel for each way to pair hosts."""
    from mpigauge.result.fabric.fabric import WAYS

    networks = [
        (each.name if len(shown) > 1 else "", fabric)
        for each in shown
        if (fabric := each.view.fabric)
    ]
    panels = []
    for way, words in WAYS.items():
        series: list[Series] = []
        marks: list[Mark] = []
        for name, fabric in networks:
            pairing = fabric.pairing(way)
            if pairing and len(pairing.compared) >= _LEAST:
                series.append(_curve(name or words, pairing))
                marks += _worst(name, words, fabric, pairing)
        if series:
            panels.append(Panel(words, _TOGETHER, _BELOW, tuple(series), tuple(marks)))
    about = (
        "Each point is a round, in which all hosts communicate at once with other partners; the "
        "y axis is the share of rounds that reach less."
    )
    if matrices := list(_matrices(shown)):
        panels.append(Panel("pairs of a matrix", _OF_MEDIAN, _PAIRS_BELOW, tuple(matrices)))
        of_pairs = (
            "Of a printed matrix each point is a pair beside all others; the y axis is the share "
            "of pairs that reach less."
        )
        about = f"{about} {of_pairs}" if len(panels) > 1 else of_pairs
    if not panels:
        return None
    return picture(Plot("All at once, round by round", about, tuple(panels)))


def _matrices(shown: RunResults) -> Iterator[Series]:
    """A curve for each network of which no pair was measured alone."""
    for each in shown:
        if each.view.fabric is None and each.network is not None:
            ratios = sorted(of.value for of in each.network.pair_ratios.values())
            points = [Point(x, (at + 0.5) / len(ratios)) for at, x in enumerate(ratios)]
            names = " and ".join(pairing.name for pairing in each.network.pairings)
            yield Series(each.name if len(shown) > 1 else names, tuple(points))


def _curve(name: str, pairing: Pairing) -> Series:
    shares = sorted(each.share for each in pairing.compared)
    points = [Point(x, (place + 0.5) / len(shares)) for place, x in enumerate(shares)]
    return Series(name, tuple(points))


def _worst(name: str, words: str, fabric: Fabric, pairing: Pairing) -> Iterator[Mark]:
    """The round with the least share, with the pair that lost most."""
    worst = pairing.worst
    if worst is None:
        return
    pair = min(worst.both, key=lambda each: worst.together[each] / worst.alone[each])
    first, second = (fabric.hosts[place] for place in pair)
    own = percent(worst.together[pair] / worst.alone[pair])
    of = f"{name}, {words}" if name else words
    note = (
        f"Worst round ({of}): {percent(worst.share)}; the least has {first} with {second}, {own}."
    )
    yield Mark(worst.share, f"worst {name}".rstrip(), (note,))
