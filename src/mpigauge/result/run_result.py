# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All results of a stored run, and of several runs together, for plots, pages and tables."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.model.cards import NODE_SUITE
from mpigauge.result.compare.best import best_of
from mpigauge.result.compare.compare import compare, split
from mpigauge.result.compare.match.distances import distances_of
from mpigauge.result.compare.match.items import items
from mpigauge.result.compare.match.of_runs import settings_of_sweep, side_of, starts_of
from mpigauge.result.compare.pivot import pivot
from mpigauge.result.document import document, rows_of_run
from mpigauge.result.models.breaks import likely_breaks
from mpigauge.result.node.node import node
from mpigauge.result.node.products import counter_hz
from mpigauge.result.replayed import replay_sentences
from mpigauge.result.run_view import RunView, members
from mpigauge.result.stats.curve_stats import many_curves
from mpigauge.result.stats.verdicts import TOLERANCE

if TYPE_CHECKING:
    from mpigauge.result.compare.best import BestSettings
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.compare.match.side import Side
    from mpigauge.result.compare.pivot import Pivot
    from mpigauge.result.document import Document
    from mpigauge.result.fabric.fabric import Fabric
    from mpigauge.result.models.breaks import LikelyBreak
    from mpigauge.result.node.node import NodeResult
    from mpigauge.result.run_view import Curve
    from mpigauge.result.stats.curve_stats import ManyCurves, Member
    from mpigauge.runs.store import Run

_VARIED = ("arm", "placement")
"""Columns in which what a run varies may differ, the first of them that does."""


@dataclass(frozen=True)
class RunResult:
    """A run with all results from its records, each computed on first use."""

    name: str
    """The name that distinguishes it from the others."""
    run: Run
    document: Document
    view: RunView
    of_large: tuple[Member, ...] = ()
    """All curves of a large run, of which `run` holds a part."""

    @classmethod
    def of(cls, name: str, run: Run, of_large: tuple[Member, ...] = ()) -> RunResult:
        rows = rows_of_run(run)
        return cls(name, run, document(run, rows=rows), RunView.of(run, rows), of_large)

    @classmethod
    def of_map(cls, name: str, run: Run, document: Document) -> RunResult:
        """The result of a large map, whose document is known and of which `run` holds a part."""
        view = RunView.of(run, document.rows, document.pairs)
        return cls(name, run, document, view)

    @property
    def command(self) -> str:
        """The command that measured it, as a shell takes it; empty: it is not known."""
        command = self.run.header.get("command") or ""
        if isinstance(command, str):
            return command
        return shlex.join(map(str, command))

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """All curves as numbers."""
        return self.of_large or members(self.view.curves)

    @cached_property
    def many_curves(self) -> ManyCurves:
        """All curves of messages in groups, with what is usual among them."""
        return many_curves(self.members)

    @cached_property
    def figure_items(self) -> tuple[Item, ...]:
        """Its numbers that are not times of calls, over launches."""
        return items((), self.document.figures)

    @cached_property
    def arms(self) -> Comparison | None:
        """Its settings, transports or placements against the default; None: nothing is varied."""
        column, sides = self._varied
        if not sides:
            return None
        return compare(sides, TOLERANCE, column, curves=False)

    @cached_property
    def best(self) -> BestSettings | None:
        """The best of them for each size; None: nothing is varied."""
        if self.arms is None:
            return None
        return best_of(self.arms)

    @cached_property
    def across(self) -> Pivot | None:
        """The run side by side over what it varies; None: there is nothing to set side by side."""
        column, sides = self._varied
        if not sides:
            return None
        return pivot(sides, TOLERANCE, column)

    @cached_property
    def node(self) -> NodeResult | None:
        """The results of the suite NODE; None: it has none but the limits that messages are
        compared with, or is of several machines at once."""
        hosts = {rank.host for rank in self.run.ranks}
        if len(hosts) > 1:
            return None
        result = node(self.document.rows, counter_hz(self.run))
        if result is None or not result.is_of_machine:
            return None
        return result

    @cached_property
    def network(self) -> Fabric | None:
        """The network of all hosts at once, or that of a matrix of mpiGraph or HP2P; None: the run
        has neither."""
        from mpigauge.result.fabric.matrices import matrices_of

        return self.view.fabric or matrices_of(self.run, self.document.rows)

    def breaks_of(self, curve: Curve) -> tuple[LikelyBreak, ...]:
        """The breaks of one of its curves, with what they are likely to be."""
        return likely_breaks(self.view, curve)

    @cached_property
    def replayed(self) -> list[str]:
        """Sentences that compare the replay of a program with its profile; none of other runs."""
        return replay_sentences(self.document.rows, self.run.plan.get("replay"))

    @cached_property
    def _varied(self) -> tuple[str, list[Side]]:
        """The varied column, and a side for each value; empty for a part of a run, whose rows were
        chosen by their times and would be biased. Memory of other NUMA nodes, which the suite
        NODE measures, has plots of its own."""
        if self.run.part:
            return "", []
        rows, figures = self.document.rows, self.document.figures
        if self.node:
            rows = tuple(row for row in rows if row.cell.suite != NODE_SUITE)
        for column in _VARIED:
            values = {getattr(row.cell, column) for row in rows}
            values |= {getattr(figure, column) for figure in figures}
            if len(values) > 1:
                swept = settings_of_sweep(self.run)
                return column, split(rows, figures, column, starts_of(self.run), swept)
        return "", []


class RunResults(tuple[RunResult, ...]):
    """Runs that are shown together; the others are compared with the first."""

    @cached_property
    def comparison(self) -> Comparison | None:
        """The others against the first; None: there are no others, or a run is too large to be
        looked at as a whole: a part that was chosen by its times would prove too much."""
        if not self._sides:
            return None
        return compare(self._sides)

    @cached_property
    def across(self) -> Pivot | None:
        """The runs side by side; None as for the comparison."""
        if not self._sides:
            return None
        return pivot(self._sides)

    @cached_property
    def _sides(self) -> list[Side]:
        if len(self) < 2 or any(each.run.part for each in self):
            return []
        from mpigauge.result.fabric.items import comparable, network_items

        sides = []
        for each in self:
            distance = distances_of(each.run)
            held = items(each.document.rows, each.document.figures, distance=distance)
            held = (*held, *network_items(each.run, each.document.rows))
            sides.append(side_of(each.name, each.run, comparable(held)))
        return sides
