# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The structure of a machine as one plain picture: nested boxes, grey for excluded PUs and
memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from mpigauge.draw import styles
from mpigauge.model.units import memory
from mpigauge.show.topology.gpus import gpu_lines, nearest_card
from mpigauge.show.topology.machine import (
    cache_size,
    card,
    distance_lines,
    page,
    place_of,
    short_list,
)

if TYPE_CHECKING:
    from mpigauge.model.topology import Cache, Device, Numa, Topology

Group = frozenset[int]
NOBODY: Mapping[int, str] = MappingProxyType({})
GREY, WHITE, EDGE = "#cccccc", "#ffffff", "#555555"
FILLS = {
    "socket": "#dfe3ee",
    "numa": "#d5ecd9",
    "cache": "#fbeccb",
    "core": "#e9e9e9",
    "pu": WHITE,
    "rank": "#ffd166",
    "network": "#cbe1fa",
    "gpu": "#e5d3f5",
}
_LINE, _GAP, _LETTER = 16.0, 5.0, 6.3
"""Height of a line, room between boxes, width of a letter."""
_PAGE = 1068.0
"""The width of the machine, which is that of a page."""


@dataclass(frozen=True)
class Strip:
    """A line in a box: a level of the machine, a card."""

    words: str
    kind: str
    usable: bool = True


@dataclass(frozen=True)
class Box:
    """All that is the same set of PUs, and what is inside."""

    strips: tuple[Strip, ...]
    usable: bool
    inside: tuple[Box, ...]

    @cached_property
    def least(self) -> float:
        """The least width that has room for all words."""
        letters = max((len(strip.words) for strip in self.strips), default=0)
        inside = max((box.least for box in self.inside), default=0.0)
        return max(letters * _LETTER + 8, inside) + 2 * _GAP

    def height(self, width: float) -> float:
        return self._shape(width)[0]

    def columns(self, width: float) -> int:
        """The number of boxes side by side with which a box of this width is lowest."""
        return self._shape(width)[1]

    def cell(self, width: float) -> tuple[float, float]:
        """Width and height for each of the boxes inside."""
        wide = self._column(width, self.columns(width))
        return wide, max((box.height(wide) for box in self.inside), default=0.0)

    def _shape(self, width: float) -> tuple[float, int]:
        """The least height of a box of this width, and its number of columns."""
        if width not in self._shapes:
            needed = max((box.least for box in self.inside), default=0.0)
            counts = range(1, max(len(self.inside), 1) + 1)
            fitting = [count for count in counts if self._column(width, count) >= needed] or [1]
            self._shapes[width] = min((self._height(width, count), count) for count in fitting)
        return self._shapes[width]

    @cached_property
    def _shapes(self) -> dict[float, tuple[float, int]]:
        return {}

    def _height(self, width: float, columns: int) -> float:
        wide = self._column(width, columns)
        high = max((box.height(wide) for box in self.inside), default=0.0)
        rows = ceil(len(self.inside) / columns)
        return _GAP + len(self.strips) * (_LINE + 2) + rows * (high + _GAP)

    def _column(self, width: float, columns: int) -> float:
        return (width - _GAP) / columns - _GAP


def picture(topology: Topology, beside: Mapping[int, str] = NOBODY) -> str:
    """An SVG as wide as a page. `beside`: what to write beside PUs, by their numbers; these stand
    out."""
    machine, crossing = boxes(topology, beside)
    lines = [*_heading(topology), *crossing]
    top = _LINE * (len(lines) + 1.5)
    tables = [table for table in (distance_lines(topology), gpu_lines(topology)) if table]
    text = max(len(line) for line in [*lines, *chain(*tables)]) * _LETTER
    room = max(_PAGE, machine.least, text)
    below = top + machine.height(room) + _LINE
    width = room + 2 * _GAP
    height = below + _LINE * sum(len(table) + 0.5 for table in tables)
    parts = []
    for number, line in enumerate(lines, 1):
        parts.append(_text(_GAP, _LINE * number, line))
    parts += _draw(machine, _GAP, top, room, machine.height(room))
    for table in tables:
        for number, line in enumerate(table):
            parts.append(_text(_GAP, below + _LINE / 2, line, fixed=number > 0))
            below += _LINE
        below += _LINE / 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1f} {height:.1f}" '
        f'width="{width:.1f}" height="{height:.1f}" font-family="sans-serif" font-size="11" '
        'role="img" aria-label="How the machine is built">\n'
        f'<rect class="paper" width="{width:.1f}" height="{height:.1f}" fill="{WHITE}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def boxes(topology: Topology, beside: Mapping[int, str] = NOBODY) -> tuple[Box, list[str]]:
    """The machine; and a line for each group that crosses others, so that no box can hold it."""
    strips = _strips(topology, beside)
    everything = frozenset(pu.number for pu in topology.pus)
    inside: dict[Group, list[Group]] = {everything: []}
    crossing = []
    for group in sorted(strips, key=lambda group: (-len(group), sorted(group))):
        if group == everything or not group:
            continue
        around = [other for other in inside if group & other]
        if not all(group <= other for other in around):
            words = ", ".join(strip.words for strip in strips[group])
            crossing.append(f"{words}: PU {short_list(group)}, across the boxes")
            continue
        inside[min(around, key=len)].append(group)
        inside[group] = []

    def box(group: Group) -> Box:
        held = [box(each) for each in sorted(inside[group], key=min)]
        return Box(tuple(strips.get(group, ())), bool(group & topology.allowed), tuple(held))

    whole = box(everything)
    far = [Box((strip,), strip.usable, ()) for strip in _without_cores(topology)]
    return Box(whole.strips, whole.usable, (*whole.inside, *far)), crossing


def _strips(topology: Topology, written: Mapping[int, str]) -> dict[Group, list[Strip]]:
    """The strips to write for each set of PUs, from the outside in, then the cards next to them."""
    everything = frozenset(pu.number for pu in topology.pus)
    strips: dict[Group, list[Strip]] = {}

    def add(pus: Group, words: str, kind: str, usable: bool = True) -> None:
        strip = Strip(words, kind, usable and bool(pus & topology.allowed))
        strips.setdefault(pus, []).append(strip)

    for number, pus in _grouped(topology, "package").items():
        add(pus, f"socket {number}", "socket")
    for node in topology.numa:
        if node.pus & everything:
            usable = node.number in topology.allowed_numa
            add(node.pus & everything, _numa(node), "numa", usable)
    for cache in sorted(topology.caches, key=lambda cache: -cache.level):
        if cache.kind != "instruction" and cache.pus & everything:
            add(cache.pus & everything, _cache(cache), "cache")
    for number, pus in _grouped(topology, "core").items():
        add(pus, f"core {number}", "core")
    for pu in topology.pus:
        more = written.get(pu.number)
        if more:
            add(frozenset({pu.number}), f"PU {pu.number} · {more}", "rank")
        else:
            add(frozenset({pu.number}), f"PU {pu.number}", "pu")
    _add_cards(strips, topology, everything)
    return strips


def _add_cards(strips: dict[Group, list[Strip]], topology: Topology, everything: Group) -> None:
    """Puts cards beside what is in their place, else on the machine as a whole."""
    groups = frozenset(strips)
    for device in topology.devices:
        beside = _beside(topology, device) & everything
        words = f"{card(device)}{nearest_card(topology, device)}"
        if beside not in groups:
            beside, words = everything, f"{words}  {place_of(device)}"
        strips.setdefault(beside, []).append(Strip(words, device.kind))


def _grouped(topology: Topology, level: Literal["package", "core"]) -> dict[int, Group]:
    """The PUs of each package or core, by its number, upwards."""
    groups: dict[int, set[int]] = {}
    for pu in topology.pus:
        groups.setdefault(getattr(pu, level), set()).add(pu.number)
    return {number: frozenset(groups[number]) for number in sorted(groups)}


def _without_cores(topology: Topology) -> list[Strip]:
    strips = []
    for node in topology.numa:
        if not node.pus:
            usable = node.number in topology.allowed_numa
            strips.append(Strip(_numa(node), "numa", usable))
    return strips


def _beside(topology: Topology, device: Device) -> Group:
    for node in topology.numa:
        if node.number == device.numa and node.pus:
            return node.pus
    return device.pus


def _numa(node: Numa) -> str:
    name = f"NUMA {node.number}"
    if node.bytes:
        return f"{name}  {memory(node.bytes)}"
    return name


def _cache(cache: Cache) -> str:
    of_data = "d" if cache.kind == "data" else ""
    return f"L{cache.level}{of_data} {cache_size(cache.bytes)}"


def _heading(topology: Topology) -> list[str]:
    text = page(topology)
    lines = text[: text.index("")]
    if topology.left_out:
        lines.append(f"Left out, as their place is unknown: PU {short_list(topology.left_out)}")
    return [*lines, "Grey: may not be used"]


# --- drawing --------------------------------------------------------------------------------
def _draw(box: Box, x: float, y: float, width: float, height: float) -> Iterator[str]:
    yield _rect(x, y, width, height, WHITE if box.usable else GREY)
    down = y + _GAP
    for strip in box.strips:
        fill = FILLS[strip.kind] if strip.usable else GREY
        yield _rect(x + _GAP, down, width - 2 * _GAP, _LINE, fill, strip.kind)
        yield _text(x + _GAP + 4, down + 12, strip.words)
        down += _LINE + 2
    wide, high = box.cell(width)
    for place, each in enumerate(box.inside):
        row, column = divmod(place, box.columns(width))
        left, top = x + _GAP + column * (wide + _GAP), down + row * (high + _GAP)
        yield from _draw(each, left, top, wide, high)


def _rect(x: float, y: float, width: float, height: float, fill: str, kind: str = "box") -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{fill}" stroke="{EDGE}" stroke-width="0.5"/>'
    )


def _text(x: float, y: float, words: str, fixed: bool = False) -> str:
    """`fixed`: all letters are equally wide, and blanks count."""
    font = ' font-family="monospace" xml:space="preserve"' if fixed else ""
    return f'<text class="ink" x="{x:.1f}" y="{y:.1f}"{font}>{styles.words(words)}</text>'
