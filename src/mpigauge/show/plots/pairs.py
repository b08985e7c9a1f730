# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A square for every two hosts: the bandwidth beside all others as a share of that alone, or of the
median of all pairs if none was measured alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from mpigauge.draw.document import side_by_side
from mpigauge.draw.plot import Picture
from mpigauge.draw.scale import ColourScale
from mpigauge.draw.squares import ink_on, square
from mpigauge.draw.styles import GRID, fitted, text, words
from mpigauge.draw.terminal.heat import MARGIN, legend, squares
from mpigauge.model.units import many, megabytes_per_s, percent, plus_minus
from mpigauge.model.width import broken, cut_apart
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import MANY_ROWS, Chosen, plot

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate
    from mpigauge.model.screen import Screen
    from mpigauge.result.fabric.fabric import Fabric

    Pair = tuple[int, int]

_ALONE, _MEDIAN = "alone", "the median"
_ABOUT = {_ALONE: "its bandwidth alone", _MEDIAN: "the median of all pairs"}
_LEFT, _TOP, _FOOT, _GAP = 84, 64, 62, 24
_SIDE = 480
"""The side of a matrix, if squares are no larger than _MOST_SIDE."""
_MOST_SIDE, _WORDY_SIDE = 56.0, 38.0
"""The largest square, and that from which a percentage has room."""
_LINE = 14.0
"""The height of a name."""
_FOLDED = 64
"""Hosts from which groups take their place, if they are known."""
_MOST_HOSTS = 256
"""The most hosts that have lines of their own; more are folded into blocks of neighbours."""
_HALF = 2.0
"""The slowness that is dark at least, so that noise alone is not."""
_STRIP, _STRIP_WIDE = 24, 6


@dataclass(frozen=True)
class _Matrix:
    """The shares of pairs of hosts, or of groups."""

    title: str
    of: str
    """The bandwidth that a share is of: alone, or the median."""
    names: tuple[str, ...]
    shares: dict[Pair, float]
    """The share of each pair, with the smaller place first; of one group: within it."""

    @cached_property
    def scale(self) -> ColourScale:
        """A scale of slowness, on which noise about 1 has light colours."""
        return ColourScale(1.0, max([_HALF, *map(_slowness, self.shares.values())]))

    @property
    def side(self) -> float:
        return min(_MOST_SIDE, _SIDE / len(self.names))

    @property
    def size(self) -> tuple[int, int]:
        whole = round(self.side * len(self.names))
        return max(_LEFT + whole + _GAP, 340), _TOP + whole + _FOOT


def _slowness(share: float) -> float:
    """Returns the time of a message relative to that alone, at least 1."""
    return max(1 / share, 1.0)


@plot("pairs", "the bandwidth of each two hosts beside all others, of that alone", choices=())
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    """Draws a matrix of each network. Large ones are folded by group."""
    matrices: list[_Matrix] = []
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    for each in shown:
        if each.network and _shares(each.network):
            name = each.name if len(shown) > 1 else ""
            matrices.append(_matrix(name, each.network))
            rows += _rows(name, each.network)
            notes += _notes(name, each.network)
    if not matrices:
        return None
    of = _ALONE if any(matrix.of == _ALONE for matrix in matrices) else _MEDIAN
    return Picture(
        title="Pairs of hosts, all at once",
        about=(
            "Each square is a pair of hosts: its bandwidth while all communicate, as a share of "
            f"{_ABOUT[of]}. Darker squares have less."
        ),
        svg=_beside(matrices),
        heads=("", "host", "with", f"share of {of}", "±", f"{of}, MB/s"),
        rows=tuple(rows),
        notes=tuple(notes),
        fixed=True,
        leading=tuple(_beside([matrix]) for matrix in matrices),
        lines=partial(_lines, matrices),
    )


def _shares(fabric: Fabric) -> dict[Pair, Estimate]:
    """The shares of alone, or of the median if no pair was measured alone."""
    return fabric.pair_shares or fabric.pair_ratios


def _of(fabric: Fabric) -> str:
    return _ALONE if fabric.pair_shares else _MEDIAN


def _matrix(name: str, fabric: Fabric) -> _Matrix:
    shares = {pair: of.value for pair, of in _shares(fabric).items() if of.value > 0}
    folds = _folds(fabric)
    if not folds:
        return _Matrix(name, _of(fabric), fabric.hosts, shares)
    from statistics import median

    names = tuple(dict.fromkeys(folds))
    numbers = {fold: number for number, fold in enumerate(names)}
    places = [numbers[fold] for fold in folds]
    of_folds: dict[Pair, list[float]] = {}
    for (one, two), share in shares.items():
        first, second = sorted((places[one], places[two]))
        of_folds.setdefault((first, second), []).append(share)
    folded = {pair: median(of) for pair, of in of_folds.items()}
    return _Matrix(name, _of(fabric), names, folded)


def _folds(fabric: Fabric) -> tuple[str, ...]:
    """The name of the group, or block of neighbours, of each host; empty: each has its own line."""
    hosts = fabric.hosts
    if len(hosts) > _FOLDED and len(set(fabric.groups)) > 1:
        return fabric.groups
    if len(hosts) <= _MOST_HOSTS:
        return ()
    size = math.ceil(len(hosts) / _FOLDED)
    starts = range(0, len(hosts), size)
    blocks = [hosts[start : start + size] for start in starts]
    return tuple(f"{block[0]} to {block[-1]}" for block in blocks for _ in block)


def _rows(name: str, fabric: Fabric) -> Iterator[tuple[str, ...]]:
    """A line for each pair; where these are too many, for those with the least share."""
    from mpigauge.result.fabric.fabric import alone_of

    alone, shares = alone_of(fabric.pairings), _shares(fabric)
    usual = fabric.usual_pair
    pairs = list(shares)
    if len(pairs) > MANY_ROWS:
        pairs = sorted(pairs, key=lambda pair: shares[pair].value)[:MANY_ROWS]
    for pair in pairs:
        first, second = (fabric.hosts[place] for place in pair)
        of: Estimate = shares[pair]
        error = plus_minus(of.relative_error)
        whole = alone.get(pair, usual)
        yield name, first, second, percent(of.value), error, megabytes_per_s(whole)


def _notes(name: str, fabric: Fabric) -> Iterator[str]:
    hosts = len(fabric.hosts)
    of = f"{name}: " if name else ""
    missing = hosts * (hosts - 1) // 2 - len(_shares(fabric))
    if missing:
        yield f"{of}{many(missing, 'pair')} never met in a round, and have no square."
    if folds := _folds(fabric):
        kind = "groups" if folds == fabric.groups else "blocks of neighbours"
        yield f"{of}a square is the median of all pairs of its hosts, in {kind}."
    if len(_shares(fabric)) > MANY_ROWS:
        yield f"{of}the table holds the {MANY_ROWS} pairs with the least share."


def _beside(matrices: Sequence[_Matrix]) -> str:
    label = f"Pairs of hosts, all at once: bandwidth as a share of {_ABOUT[matrices[0].of]}"
    return side_by_side([(_drawn(matrix), matrix.size) for matrix in matrices], label)


def _drawn(matrix: _Matrix) -> Iterator[str]:
    wide, high = matrix.size
    side, scale = matrix.side, matrix.scale
    title = f"Share of {_ABOUT[matrix.of]}"
    if matrix.title:
        title = f"{matrix.title}: share of {matrix.of}"
    yield fitted(16, 22, title, wide - 32, "start", 14)
    yield from _names(matrix)
    whole = side * len(matrix.names)
    yield (
        f'<rect class="unknown" x="{_LEFT}" y="{_TOP}" width="{whole:.1f}" height="{whole:.1f}" '
        f'fill="{GRID}"/>'
    )
    for (first, second), share in matrix.shares.items():
        label = f"{matrix.names[first]} with {matrix.names[second]}: {percent(share)}"
        for down, across in dict.fromkeys(((first, second), (second, first))):
            x, y = _LEFT + across * side, _TOP + down * side
            yield square(x, y, side, side, _slowness(share), scale, label)
            if side >= _WORDY_SIDE:
                ink = ink_on(_slowness(share), scale)
                yield (
                    f'<text x="{x + side / 2:.1f}" y="{y + side / 2 + 4:.1f}" text-anchor="middle" '
                    f'font-size="11" fill="{ink}">{words(percent(share))}</text>'
                )
    yield from _legend(scale, high - 34)


def _names(matrix: _Matrix) -> Iterator[str]:
    """The names of rows, as many as have room, and of columns if all have."""
    side = matrix.side
    down, across = cut_apart(matrix.names, 11), cut_apart(matrix.names, int(max(side, 30) / 6.4))
    has_room = max(map(len, across)) * 6.4 <= side
    for place in range(0, len(matrix.names), math.ceil(_LINE / side)):
        middle = (place + 0.5) * side
        yield text(_LEFT - 8, _TOP + middle + 4, down[place], "ink", "end", 11)
        if has_room:
            yield text(_LEFT + middle, _TOP - 8, across[place], "ink", "middle", 11)


def _legend(scale: ColourScale, y: float) -> Iterator[str]:
    """A strip from 100 % or more to the least share."""
    for number in range(_STRIP):
        value = scale.low * (scale.high / scale.low) ** (number / (_STRIP - 1))
        yield square(_LEFT + number * _STRIP_WIDE, y, _STRIP_WIDE, 12, value, scale)
    yield text(_LEFT - 8, y + 10, percent(1 / scale.low), "dim", "end", 11)
    yield text(_LEFT + _STRIP * _STRIP_WIDE + 8, y + 10, percent(1 / scale.high), "dim", size=11)


def _lines(matrices: Sequence[_Matrix], screen: Screen) -> Iterator[str]:
    """Lines for a terminal: squares, their scale, and the names of the rows."""
    for number, matrix in enumerate(matrices):
        if number > 0:
            yield ""
        if matrix.title:
            yield matrix.title
        slow = {pair: _slowness(share) for pair, share in matrix.shares.items()}
        yield from squares(len(matrix.names), slow, matrix.scale, screen)
        yield legend(matrix.scale, lambda value: percent(1 / value), screen)
        named = ", ".join(f"{place} {name}" for place, name in enumerate(matrix.names))
        yield from broken([f"{'':{MARGIN}}{named}"], " " * MARGIN, screen.width)
