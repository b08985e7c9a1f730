# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of plots, each kind of which is defined in a file of plots/."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.errors import UserError
from mpigauge.model.registry import Registry
from mpigauge.result.compare.compare import compare, split
from mpigauge.result.compare.pivot import pivot
from mpigauge.result.document import document, rows_of_run
from mpigauge.result.node.node import node
from mpigauge.result.node.products import counter_hz
from mpigauge.result.run_view import RunView, members
from mpigauge.result.stats.verdicts import TOLERANCE
from mpigauge.show.limits import levels

if TYPE_CHECKING:
    from mpigauge.draw.axes import Axis
    from mpigauge.draw.plot import Level, Picture
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.compare.pivot import Pivot
    from mpigauge.result.compare.side import Side
    from mpigauge.result.document import Document
    from mpigauge.result.node.node import NodeResult
    from mpigauge.result.stats.curve_stats import Member
    from mpigauge.runs.store import Run


MANY_ROWS = 2_000
"""In the table below a plot, and in all tables of numbers together: beyond these a page is slow."""


@dataclass(frozen=True)
class Shown:
    """A run, as plots and reports take it."""

    name: str
    """What tells it from the others."""
    run: Run
    document: Document
    view: RunView
    of_large: tuple[Member, ...] = ()
    """All curves of a large run, of which `run` holds a part."""

    @classmethod
    def of(cls, name: str, run: Run, of_large: tuple[Member, ...] = ()) -> Shown:
        rows = rows_of_run(run)
        return cls(name, run, document(run, rows=rows), RunView.of(run, rows), of_large)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """All curves as numbers."""
        return self.of_large or members(self.view.curves)

    def levels(self, axis: Axis) -> tuple[Level, ...]:
        """The limits of its node, to see curves of messages against."""
        return levels(self.document.limits, axis)

    @cached_property
    def arms(self) -> Comparison | None:
        """Its settings, transports or placements against the default; None: nothing is varied."""
        column, sides = self._varied
        return compare(sides, TOLERANCE, column, curves=False) if sides else None

    @cached_property
    def across(self) -> Pivot | None:
        """The same side by side."""
        column, sides = self._varied
        return pivot(sides, TOLERANCE, column) if sides else None

    @cached_property
    def node(self) -> NodeResult | None:
        """What its rows of the suite NODE say of the machine; None: it has none but what messages
        are put beside, or is of several machines at once."""
        if len({rank.host for rank in self.run.ranks}) > 1:
            return None
        found = node(self.document.rows, counter_hz(self.run))
        return found if found and found.is_of_machine else None

    @cached_property
    def _varied(self) -> tuple[str, list[Side]]:
        """What it varies, and a side for each value; nothing of a part of a run: chosen by their
        times, they would prove too much. Memory of other NUMA nodes, which the suite NODE
        measures, has plots of its own."""
        if self.run.part:
            return "", []
        rows, figures = self.document.rows, self.document.figures
        starts = {launch.launch: launch.time for launch in self.run.launches}
        if self.node:
            rows = tuple(row for row in rows if row.cell.suite != NODE_SUITE)
        for column in ("arm", "placement"):
            if len({getattr(of, column) for of in (*[r.cell for r in rows], *figures)}) > 1:
                return column, split(rows, figures, column, starts)
        return "", []


@dataclass(frozen=True)
class Chosen:
    """What of a run is to be drawn; nothing: all, or what the kind shows first."""

    benchmark: str = ""
    message_bytes: int | None = None


ALL = Chosen()
Draw = Callable[[Sequence[Shown], Chosen], "Picture | None"]
"""None: the runs hold nothing of this kind."""


@dataclass(frozen=True)
class PlotKind:
    name: str
    about: str
    draw: Draw
    least_runs: int = 1
    """Of fewer there is nothing to draw."""


PLOTS = Registry[PlotKind]("plot", f"{__name__.rpartition('.')[0]}.plots")


def plot(name: str, about: str, least_runs: int = 1) -> Callable[[Draw], Draw]:
    """Makes a function the plot of this name."""

    def register(draw: Draw) -> Draw:
        PLOTS.add(name, PlotKind(name, about, draw, least_runs))
        return draw

    return register


def drawn(kind: PlotKind, shown: Sequence[Shown], chosen: Chosen = ALL) -> Picture:
    """UserError: the runs hold nothing of this kind; it names what they hold."""
    if len(shown) < kind.least_runs:
        raise UserError(f"{kind.name} is of {kind.least_runs} runs or more; name others, too")
    found = kind.draw(shown, chosen)
    if found is None:
        others = [k.name for k in PLOTS.values() if k != kind and k.draw(shown, ALL)]
        there = ", ".join(others) or "none at all"
        of = f" of {chosen.benchmark}" if chosen.benchmark else ""
        raise UserError(f"there is no plot '{kind.name}'{of} in this run; it has {there}")
    return found
