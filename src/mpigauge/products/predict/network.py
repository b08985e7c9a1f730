# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Networks between nodes: how much more than a network card the links inside carry.

Every link is as fast as a network card. Nodes are numbered as they hang on switches, and the ranks
of a job fill them in this order. The time that a switch takes is part of the measured times.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError, no_such
from mpigauge.model.limits import MOST_HOSTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_NUMBERS = re.compile(r"([1-9][0-9]{0,6}(?:x[1-9][0-9]{0,6})*)((?:/[1-9][0-9]{0,6})*)")


@dataclass(frozen=True)
class Network(ABC):
    word: str
    nodes: int
    """It has places for so many."""

    @abstractmethod
    def busiest(self, source: Array, target: Array, nbytes: Array) -> float:
        """The bytes on the busiest link of messages between these nodes."""


@dataclass(frozen=True)
class FatTree(Network):
    below: tuple[int, ...]
    """Nodes below a switch of each level but the last, from the lowest."""
    links: tuple[int, ...]
    """Links upwards of such a switch; messages are spread over them evenly."""

    def busiest(self, source: Array, target: Array, nbytes: Array) -> float:
        most = 0.0
        for below, links in zip(self.below, self.links, strict=True):
            start, end = source // below, target // below
            leaving = start != end
            for side in (start, end):
                most = max(most, _most(side[leaving], nbytes[leaving]) / links)
        return most


@dataclass(frozen=True)
class Dragonfly(Network):
    groups: int
    of_group: int
    of_router: int
    links: int
    """The links between each two groups; each two routers of a group have one."""

    def busiest(self, source: Array, target: Array, nbytes: Array) -> float:
        start, end = source // self.of_group, target // self.of_group
        far = start != end
        between = _most(start[far] * self.groups + end[far], nbytes[far]) / self.links
        one, other = source // self.of_router, target // self.of_router
        near = ~far & (one != other)
        within = _most(one[near] * (self.nodes // self.of_router) + other[near], nbytes[near])
        return max(between, within)


@dataclass(frozen=True)
class Torus(Network):
    sides: tuple[int, ...]

    def busiest(self, source: Array, target: Array, nbytes: Array) -> float:
        """Messages go the shorter way, one dimension after the other."""
        import numpy as np

        most, here, there = 0.0, _coordinates(source, self.sides), _coordinates(target, self.sides)
        for place, side in enumerate(self.sides):
            line = np.zeros_like(source)
            for other, length in enumerate(self.sides):
                if other != place:
                    line = line * length + (there if other < place else here)[other]
            forth = (there[place] - here[place]) % side
            is_forth = 2 * forth <= side
            starts = np.where(is_forth, here[place], there[place])
            hops = np.where(is_forth, forth, side - forth)
            for way in (is_forth, ~is_forth):
                moved = way & (hops > 0)
                load = _on_lines(line[moved], starts[moved], hops[moved], nbytes[moved], side)
                most = max(most, load)
        return most


def _coordinates(nodes: Array, sides: Sequence[int]) -> list[Array]:
    result = []
    for side in sides:
        result.append(nodes % side)
        nodes = nodes // side
    return result


def _on_lines(line: Array, start: Array, hops: Array, nbytes: Array, side: int) -> float:
    """The bytes on the busiest of the links that messages take along rings of this length."""
    import numpy as np

    if not line.size:
        return 0.0
    lines, width = int(line.max()) + 1, 2 * side + 1
    begin = np.bincount(line * width + start, nbytes, lines * width)
    end = np.bincount(line * width + start + hops, nbytes, lines * width)
    load = np.cumsum((begin - end).reshape(lines, width), axis=1)[:, : 2 * side]
    return float(load.reshape(lines, 2, side).sum(axis=1).max())


def _most(places: Array, nbytes: Array) -> float:
    """The most bytes at one place."""
    import numpy as np

    if not places.size:
        return 0.0
    _, where = np.unique(places, return_inverse=True)
    return float(np.bincount(where, nbytes).max())


# --- words ----------------------------------------------------------------------------------
def _fat_tree(word: str, counts: list[int], links: list[int]) -> Network:
    below = tuple(accumulate(counts, lambda nodes, count: nodes * count))
    levels = below[:-1]
    if len(links) not in (0, len(levels)):
        raise UserError(f"{word}: links upwards are one number for each of {len(levels)} levels")
    return FatTree(word, below[-1], levels, tuple(links) or levels)


def _dragonfly(word: str, counts: list[int], links: list[int]) -> Network:
    if len(counts) != 3 or len(links) > 1:
        raise UserError(
            f"{word}: write dragonfly:GROUPSxROUTERSxNODES/LINKS, such as dragonfly:9x4x8/2"
        )
    groups, routers, nodes = counts
    return Dragonfly(word, math.prod(counts), groups, routers * nodes, nodes, (links or [1])[0])


def _torus(word: str, counts: list[int], links: list[int]) -> Network:
    if links:
        raise UserError(f"{word}: a torus has one link each way; write torus:8x8x5")
    return Torus(word, math.prod(counts), tuple(counts))


KINDS: Mapping[str, Callable[[str, list[int], list[int]], Network]] = {
    "fattree": _fat_tree,
    "dragonfly": _dragonfly,
    "torus": _torus,
}
FORMS = "fattree:32x10/16, dragonfly:9x4x8/2 or torus:8x8x5"


def parse_network(word: str, nodes: int) -> Network:
    """The network of this word. UserError: it is none, or has too few places for the nodes."""
    kind, _, numbers = word.partition(":")
    if kind not in KINDS:
        raise no_such("network", kind, KINDS, where="--network")
    match = _NUMBERS.fullmatch(numbers)
    if not match:
        raise UserError(f"--network: '{word}' is not understood; write {FORMS}")
    counts = [int(each) for each in match[1].split("x")]
    if math.prod(counts) > MOST_HOSTS:
        raise UserError(f"--network: {word} has more than {MOST_HOSTS} nodes")
    network = KINDS[kind](
        f"--network {word}", counts, [int(each) for each in match[2].split("/")[1:]]
    )
    if network.nodes < nodes:
        raise UserError(
            f"{network.word} has places for {network.nodes} nodes, and there are {nodes}"
        )
    return network
