# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A table that is refined while it is measured, and disappears before the result is printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from rich.console import Group
from rich.live import Live
from rich.text import Text

from mpigauge.measuring.live.console import console_of
from mpigauge.measuring.live.matrix import NAME_WIDE, matrix, plain_table, style
from mpigauge.measuring.live.phrases import clock, launches, time_left, widest
from mpigauge.model.screen import without_orders
from mpigauge.model.units import byte_count, megabytes_per_s, microseconds, rate
from mpigauge.model.width import cut_apart

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from mpigauge.measuring.campaign.state import CampaignState, LaunchOutcome
    from mpigauge.model.row import Row
    from mpigauge.model.screen import Screen

FRAME_LINES = 8
"""Lines for head, status and remarks, and a spare one."""
MOST_REMARKS = 3
LEAST_LINES = 8
"""The least lines of a terminal with remarks; with fewer, numbers take their place."""


class LiveView:
    def __init__(self, screen: Screen, console: Console | None = None) -> None:
        self._screen, self._console = screen, console or console_of(screen, unfiltered())
        self._live = Live(console=self._console, transient=True, auto_refresh=False)
        self._live.start()

    def show(self, state: CampaignState) -> None:
        """Shows the state in the current size of the terminal."""
        width, height = self._console.size
        here = replace(self._screen, width=width, height=height)
        self._live.update(picture(state, here), refresh=True)

    def launch_ended(self, state: CampaignState, outcome: LaunchOutcome) -> None:
        del outcome
        self.show(state)

    def close(self) -> None:
        self._live.stop()


def unfiltered() -> TextIO | None:
    """Standard output without the filter for cursor movements; None: the usual stream."""
    return getattr(sys.stdout, "unfiltered", None)


def picture(state: CampaignState, screen: Screen) -> RenderableType:
    """Head, table and remarks, within the lines of the terminal."""
    rows = state.results.rows()
    width, remarks = screen.room, min(MOST_REMARKS, max(0, screen.height - LEAST_LINES))
    room = max(1, screen.height - FRAME_LINES + MOST_REMARKS - remarks)
    precision = state.plan.precision
    if len(rows) < room:
        table = long_table(rows, precision)
    else:
        now = state.plan.part(state.launch).benchmarks
        table = matrix(rows, precision, width, room, now, screen.unicode)
    return Group(head(state, width), table if rows else Text(""), foot(state, width, remarks))


def head(state: CampaignState, width: int) -> Text:
    words = [
        launches(state, state.launch),
        state.activity,
        clock(state.elapsed_s),
        time_left(state),
    ]
    text = Text(without_orders(" · ".join(filter(None, words))), style="bold")
    text.truncate(width, overflow="ellipsis")
    return text


def foot(state: CampaignState, width: int, remarks: int = MOST_REMARKS) -> Text:
    lines = [widest(state), *(state.remarks[-remarks:] if remarks else [])]
    lines.append(
        "Ctrl-C ends the watching; the run goes on"
        if state.watched
        else "Ctrl-C ends the run in good order and keeps what was measured"
    )
    parts = [Text(without_orders(line), style="dim") for line in filter(None, lines)]
    for part in parts:
        part.truncate(width, overflow="ellipsis")
    return Text("\n").join(parts)


def long_table(rows: Sequence[Row], precision: float) -> Table:
    """A line for each cell, if there are few."""
    table = plain_table()
    table.add_column("benchmark", no_wrap=True)
    for name in ("ranks", "bytes", "µs", "±", "MB/s", "samples"):
        table.add_column(name, justify="right", no_wrap=True)
    last = ""
    names = [without_orders(f"{row.benchmark} {row.cell.placement}".rstrip()) for row in rows]
    for row, name in zip(rows, cut_apart(names, NAME_WIDE), strict=True):
        shown = "" if name == last else name
        table.add_row(shown, *_cells(row), style=style(row, precision))
        last = name
    return table


def _cells(row: Row) -> tuple[str, ...]:
    return (
        str(row.ranks),
        byte_count(row.message_bytes) or "–",
        microseconds(row.latency.value, row.latency.error),
        row.error_words,
        _traffic(row),
        str(row.samples),
    )


def _traffic(row: Row) -> str:
    if row.cell.inflight > 1 and row.rate is not None:
        return rate(row.rate.value)
    if row.bandwidth is not None:
        return megabytes_per_s(row.bandwidth.value)
    return ""
