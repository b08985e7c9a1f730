# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The models of a run: lines and pieces of each curve, LogGP, collectives against their bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.result.models.bounds import Bound, bounds
from mpigauge.result.models.breaks import Reason, reasons, shape
from mpigauge.result.models.loggp import LogGP, loggp
from mpigauge.result.run_view import RunView
from mpigauge.result.stats.fit import fit, points_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.row import Row
    from mpigauge.result.run_view import Curve
    from mpigauge.result.stats.fit import Fit
    from mpigauge.result.stats.pieces import Break
    from mpigauge.runs.store import Run


@dataclass(frozen=True)
class NamedBreak:
    at: Break
    shape: str
    """In words."""
    reasons: tuple[Reason, ...]
    """The likeliest first; none: nothing that is known fits."""


@dataclass(frozen=True)
class CurveModel:
    curve: Curve
    line: Fit | None
    """Over all sizes; None: fewer than three."""
    lines: tuple[Fit, ...]
    """In pieces; one where the data carry no break."""
    breaks: tuple[NamedBreak, ...]
    bounds: tuple[Bound, ...]
    """Of a collective, in the order of sizes."""


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
    """Of all benchmarks with messages, or of one. UserError: the run has it not."""
    view = RunView.of(run)
    bound_of = {id(bound.row): bound for bound in bounds(view.rows)}
    curves = [curve for curve in view.curves if not curve.first.cell.members]
    chosen = [c for c in curves if benchmark in (None, c.benchmark)] or _matching(curves, benchmark)
    return Model(
        tuple(_curve(view, curve, bound_of) for curve in chosen),
        tuple(_pairs(view.rows)) if benchmark is None else (),
    )


def _matching(curves: Sequence[Curve], benchmark: str | None) -> list[Curve]:
    if benchmark is None:
        raise UserError("the run has no rows to make a model of")
    found = [curve for curve in curves if curve.benchmark.lower() == benchmark.lower()]
    if not found:
        names = list(dict.fromkeys(curve.benchmark for curve in curves))
        hint = did_you_mean(benchmark, names) or f"; it has {', '.join(names) or 'no rows'}"
        raise UserError(f"the run has no '{benchmark}'{hint}")
    return found


def _curve(view: RunView, curve: Curve, bound_of: dict[int, Bound]) -> CurveModel:
    pieces = curve.pieces
    return CurveModel(
        curve=curve,
        line=fit(points_of(curve.fitted)),
        lines=pieces.lines if pieces else (),
        breaks=tuple(
            NamedBreak(at, shape(at), reasons(view, curve, at))
            for at in (pieces.breaks if pieces else ())
        ),
        bounds=tuple(bound_of[id(row)] for row in curve.rows if id(row) in bound_of),
    )


def _pairs(rows: Iterable[Row]) -> Iterable[PairModel]:
    """One for each placement and each settings that PingPong or Uniband was measured with."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.cell.benchmark in ("PingPong", "Uniband") and not row.cell.members:
            key = row.cell.placement, row.cell.arm, row.cell.cache
            found.setdefault(key, []).append(row)
    for (placement, arm, cache), of in found.items():
        words = (placement, arm, f"{cache} caches" if cache not in ("", "hot") else "")
        yield PairModel(", ".join(filter(None, words)), loggp(of))
