# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The shape of a table's numbers over message size, to be seen before they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.spark import sparkline

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.model.screen import Screen

_LEAST = 4
"""Sizes that make a shape."""
_SHORT, _LONG = 8, 24
"""Characters of one."""
_GAP = "   "


def shape(rows: Sequence[Row], used: int, screen: Screen) -> str:
    """Time and bandwidth as sparklines, as far as there is room behind `used` columns."""
    curves = list(_curves(rows))
    while curves:
        names = sum(len(_GAP) + len(name) + 1 for name, _ in curves)
        each = (screen.room - used - names) // len(curves)
        if each >= _SHORT:
            lines = (
                f"{_GAP}{n} {sparkline(v, screen.unicode, min(each, _LONG))}" for n, v in curves
            )
            return "".join(lines)
        curves.pop()
    return ""


def _curves(rows: Sequence[Row]) -> Iterator[tuple[str, list[float]]]:
    """The times and bandwidths of one curve with messages of several sizes."""
    sizes = [row.message_bytes for row in rows]
    if len(sizes) < _LEAST or len(set(sizes)) < len(sizes):
        return
    ordered = sorted(rows, key=lambda row: row.message_bytes)
    yield "µs", [row.latency.value for row in ordered]
    bandwidths = [row.bandwidth.value for row in ordered if row.bandwidth]
    if len(bandwidths) >= _LEAST:
        yield "MB/s", bandwidths
