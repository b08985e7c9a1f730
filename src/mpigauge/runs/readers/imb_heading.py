# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A heading of IMB as printed: the benchmark, the ranks and the columns that its lines name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.runs.readers.imb_columns import TIMES
from mpigauge.runs.readers.imb_lines import parse_line

if TYPE_CHECKING:
    from mpigauge.model.cards import Card
    from mpigauge.runs.readers.imb_columns import Shape

Heads = tuple[str, ...]


TIMED = frozenset((*TIMES, "Msg/sec"))
"""Heads of which every table has at least one."""


class HeadingSection(NamedTuple):
    """The facts that the lines of a heading state."""

    benchmark: str
    ranks: int = 0
    groups: int = 1
    threads: int = 1
    completion: str = ""
    window: int = 0
    dimensions: int = 1
    idle: int = 0

    @property
    def world_ranks(self) -> int:
        return self.ranks * self.groups + self.idle


class Heading(NamedTuple):
    section: HeadingSection
    heads: Heads
    """The heads of the columns below it."""
    lines: int


class HeadingKind(NamedTuple):
    """The common properties of tables under the same heading, in the same run."""

    card: Card
    shape: Shape
    fixed: Mapping[str, Any]


Change = Callable[..., dict[str, Any]]


CHANGES: Mapping[str, Change] = {
    "ranks": lambda ranks, threads: {"ranks": int(ranks), "threads": int(threads or 1)},
    "groups": lambda groups, ranks: {"ranks": int(ranks), "groups": int(groups)},
    "idle": lambda ranks: {"idle": int(ranks)},
    "mode": lambda mode: {"completion": "end" if mode == "AGGREGATE" else "each"},
    "window": lambda size: {"window": int(size)},
    "benchmark": lambda name: {"benchmark": name},
}
"""Functions that turn the words of a line into changes of a section, by the kind of line."""


_NOTHING_TOLD = ("comment", "other")


def changed(
    section: HeadingSection | None, what: str, words: tuple[str, ...]
) -> HeadingSection | None:
    """The section after such a line; None: the heading has no benchmark."""
    if what == "benchmark":
        return HeadingSection(words[0])
    if section:
        return section._replace(**CHANGES[what](*words))
    return None


def heading_in(block: bytes) -> Heading | None:
    """The heading in these lines, the last of which is the head of a table.

    None: some of the lines hold anything else.
    """
    section: HeadingSection | None = None
    *lines, last = block.splitlines()
    for line in lines:
        what, words = (
            parse_line(line) if b"#" in line else ("plain" if line.strip() else "comment", ())
        )
        if what in CHANGES:
            section = changed(section, what, words)
        elif what not in _NOTHING_TOLD:
            return None
    what, heads = parse_line(last)
    if section is None or not section.ranks or what != "heads" or not TIMED & set(heads):
        return None
    return Heading(section, heads, len(lines) + 1)
