# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The pages of several hosts: those that are built alike have one, and the others say in what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from typing import TYPE_CHECKING

from mpigauge.model.hostlist import compress
from mpigauge.show.topology.machine import page
from mpigauge.site.topology import differences

if TYPE_CHECKING:
    from mpigauge.model.hosts import ProbedHost

MARKS = {"-": "instead of: ", "+": "it has:     "}


def pages(nodes: Sequence[ProbedHost], width: int = 96) -> list[str]:
    """A page for each way in which hosts are built, then a block of differences to the first."""
    groups = _alike(nodes, width)
    lines = []
    for names, page_of in groups:
        head = f"{len(names)} hosts alike: {compress(names)}" if len(names) > 1 else names[0]
        lines += [head, *page_of, ""]
    first, shown = groups[0]
    for names, other in groups[1:]:
        lines += [f"{compress(names)} built otherwise than {compress(first)}:"]
        lines += [*_changed(shown, other), ""]
    if sentences := differences(nodes):
        return [*lines, *sentences]
    return lines[:-1]


def _alike(nodes: Sequence[ProbedHost], width: int) -> list[tuple[list[str], list[str]]]:
    """Names and page of the hosts whose pages are the same, in the order in which they came."""
    by_page: dict[tuple[str, ...], list[str]] = {}
    for node in nodes:
        text = page(replace(node.machine, hostname=""), width)
        by_page.setdefault(tuple(text), []).append(node.name)
    return [(names, list(text)) for text, names in by_page.items()]


def _changed(before: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    for line in list(unified_diff(before, now, lineterm="", n=0))[2:]:
        if line[0] in MARKS and line[1:].strip():
            yield f"  {MARKS[line[0]]}{line[1:].strip()}"
