# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The models of a run: lines and pieces of each curve, LogGP, collectives against their bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.units import with_commas
from mpigauge.result.models.bounds import Bound, bounds
from mpigauge.result.models.breaks import LikelyBreak, likely_breaks
from mpigauge.result.models.loggp import LogGP, loggp
from mpigauge.result.run_view import RunView
from mpigauge.result.stats.fit import fit, points_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.model.row import Row
    from mpigauge.result.run_view import Curve
    from mpigauge.result.stats.fit import Fit, Residual
    from mpigauge.runs.store import Run


@dataclass(frozen=True)
class ModelRow:
    """One size of a curve with the results of its models."""

    row: Row
    on_line: Residual | None
    """Its residual on the line over all sizes; None: there is no line, or it has other sizes."""
    piece: float
    """The number of its piece, from 1; NaN: there are no pieces."""
    in_pieces_s: float
    """The time according to its piece; NaN: there are no pieces."""
    bound: Bound | None
    """The least time that a collective needs; None: not known."""

    @property
    def off_pieces(self) -> float:
        """The relative deviation of its piece from it; NaN: there are no pieces."""
        return self.in_pieces_s / self.row.latency.value - 1


@dataclass(frozen=True)
class CurveModel:
    curve: Curve
    line: Fit | None
    """The line over all sizes; None: there are fewer than three."""
    lines: tuple[Fit, ...]
    """The lines of all pieces; one if the data carry no break."""
    breaks: tuple[LikelyBreak, ...]
    rows: tuple[ModelRow, ...]

    @property
    def has_bounds(self) -> bool:
        return any(row.bound for row in self.rows)


@dataclass(frozen=True)
class PairModel:
    """LogGP between two ranks."""

    where: str
    """Placement and settings; empty: the only or usual ones."""
    loggp: LogGP


@dataclass(frozen=True)
class Model:
    curves: tuple[CurveModel, ...]
    pairs: tuple[PairModel, ...]


def model(run: Run, benchmark: str | None = None) -> Model:
    """The models of all benchmarks with messages, or of one. UserError: the run has it not."""
    view = RunView.of(run)
    bound_of = {id(bound.row): bound for bound in bounds(view.rows)}
    curves = [curve for curve in view.curves if not curve.first.cell.members]
    chosen = [curve for curve in curves if benchmark in (None, curve.benchmark)]
    if not chosen:
        chosen = _matching(curves, benchmark)
    models = [_curve(view, curve, bound_of) for curve in chosen]
    pairs = tuple(_pairs(view.rows)) if benchmark is None else ()
    return Model(tuple(models), pairs)


def _matching(curves: Sequence[Curve], benchmark: str | None) -> list[Curve]:
    if benchmark is None:
        raise UserError("the run has no rows to make a model of")
    matches = [curve for curve in curves if curve.benchmark.lower() == benchmark.lower()]
    if not matches:
        names = list(dict.fromkeys(curve.benchmark for curve in curves))
        hint = did_you_mean(benchmark, names) or f"; it has {', '.join(names) or 'no rows'}"
        raise UserError(f"the run has no '{benchmark}'{hint}")
    return matches


def _curve(view: RunView, curve: Curve, bound_of: Mapping[int, Bound]) -> CurveModel:
    line, pieces = fit(points_of(curve.fitted)), curve.pieces
    on_line: dict[int, Residual] = {}
    if line:
        on_line = {point.message_bytes: point for point in line.points}
    lines: tuple[Fit, ...] = ()
    fitted: Mapping[int, float] = {}
    if pieces:
        lines, fitted = pieces.lines, pieces.fitted
    rows = []
    for row in curve.rows:
        size = row.message_bytes
        in_pieces = fitted.get(size, math.nan)
        bound = bound_of.get(id(row))
        rows.append(ModelRow(row, on_line.get(size), _piece(lines, size), in_pieces, bound))
    return CurveModel(curve, line, lines, likely_breaks(view, curve), tuple(rows))


def _piece(lines: Sequence[Fit], size: int) -> float:
    for number, line in enumerate(lines, 1):
        if line.first_bytes <= size <= line.last_bytes:
            return number
    return math.nan


def _pairs(rows: Iterable[Row]) -> Iterable[PairModel]:
    """One for each placement and each settings that PingPong or Uniband was measured with."""
    rows_of: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.cell.benchmark in ("PingPong", "Uniband") and not row.cell.members:
            key = row.cell.placement, row.cell.arm, row.cell.cache
            rows_of.setdefault(key, []).append(row)
    for (placement, arm, cache), of in rows_of.items():
        caches = "" if cache in ("", "hot") else f"{cache} caches"
        yield PairModel(with_commas(placement, arm, caches), loggp(of))
