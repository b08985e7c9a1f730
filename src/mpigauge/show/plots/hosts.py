# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Each host of a network beside its peers, with those to blame apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from mpigauge.draw.axes import Axis, share
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.units import percent, plus_minus
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.result.fabric.fabric import Fabric
    from mpigauge.result.fabric.hosts import HostShare

_OF_PEERS = Axis("bandwidth, of the median of peers", share)
_MOST = 16
"""The most hosts whose names have room; of more, the slowest."""
_LETTERS = 8
"""The longest name that has room."""
_BLAMED, _OTHERS = "named as slow", "others"


@plot("hosts", "the bandwidth of each host relative to its peers, slow ones marked", choices=())
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    """Draws a panel for each run."""
    panels, rows, notes = [], [], []
    for each in shown:
        if each.network and each.network.host_shares:
            name = each.name if len(shown) > 1 else ""
            panels.append(_panel(name, each.network))
            rows += list(_rows(name, each.network))
            notes += list(_notes(each.network))
    if not panels:
        return None
    about = (
        "A point is the bandwidth of a host while all communicate, over the median of others of "
        "the same rounds, with its 95 % interval."
    )
    drawn = picture(Plot("Hosts beside their peers", about, tuple(panels), tuple(notes)))
    return replace(drawn, heads=("", "host", "of its peers", "±", "rounds", ""), rows=tuple(rows))


def _blamed(fabric: Fabric) -> set[str]:
    """The hosts that are slow by themselves, or behind an unfair switch."""
    kinds = ("host", "tail", "switch")
    return {
        host for each in fabric.account.accusations if each.kind in kinds for host in each.hosts
    }


def _drawn(fabric: Fabric) -> list[HostShare]:
    """The hosts that have room, in their order."""
    slowest = sorted(fabric.host_shares, key=lambda each: each.share.value)[:_MOST]
    return [each for each in fabric.host_shares if each in slowest]


def _panel(name: str, fabric: Fabric) -> Panel:
    blamed, drawn = _blamed(fabric), _drawn(fabric)
    points: dict[str, list[Point]] = {_OTHERS: [], _BLAMED: []}
    for place, each in enumerate(drawn):
        points[_BLAMED if each.host in blamed else _OTHERS].append(Point.of(place, each.share))
    series = [Series(which, tuple(of)) for which, of in points.items() if of]
    axis = _axis([each.host for each in drawn])
    return Panel(name, axis, _OF_PEERS, tuple(series), level=1.0, style="dots")


def _axis(hosts: Sequence[str]) -> Axis:
    """The names of hosts. Long ones are without their common beginning, which the title has."""
    if max(map(len, hosts)) <= _LETTERS:
        return Axis.of_names("host", hosts)
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*hosts, strict=False))
    shared = "".join(letters[0] for letters in same).rstrip("0123456789")
    short = [host[len(shared) :][-_LETTERS:] for host in hosts]
    return Axis.of_names(f"host {shared}*" if shared else "host", short)


def _rows(name: str, fabric: Fabric) -> Iterator[tuple[str, ...]]:
    blamed = _blamed(fabric)
    for each in fabric.host_shares:
        error = plus_minus(each.share.relative_error)
        word = _BLAMED if each.host in blamed else ""
        yield name, each.host, percent(each.share.value), error, str(len(each.by_round)), word


def _notes(fabric: Fabric) -> Iterator[str]:
    from mpigauge.result.fabric.blame_words import sentences

    left = len(fabric.host_shares) - _MOST
    if left > 0:
        yield f"The {_MOST} slowest hosts are drawn; the table has {left} more."
    for sentence in sentences(fabric):
        yield f"{sentence}."
