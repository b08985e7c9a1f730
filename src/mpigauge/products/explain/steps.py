# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds steps of a curve's time from one size to the next, and their likely reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.grouping import grouped
from mpigauge.model.units import between_sizes, byte_count, first_few
from mpigauge.products.explain.falls import COLLAPSE, falls
from mpigauge.result.finding import Finding
from mpigauge.result.models.breaks import Reason, reasons
from mpigauge.result.stats.pieces import drawn_on
from mpigauge.result.words import factor, time

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import Curve, RunView
    from mpigauge.result.stats.fit import Fit
    from mpigauge.result.stats.pieces import Break

LEAST_STEP = 1.25


class Step(NamedTuple):
    curve: Curve
    at: Break
    reason: Reason
    """The likeliest."""


def steps(view: RunView, *kinds: str) -> list[list[Step]]:
    """Steps whose likeliest reason is of one of these kinds; curves that step between the same two
    sizes are together, the worst first. Where bandwidth collapses, that is said instead."""
    if "steps" not in view.memo:
        view.memo["steps"] = list(_untold(view))
    of_kinds = [step for step in view.memo["steps"] if step.reason.kind in kinds]
    groups = grouped(of_kinds, lambda step: (step.at.before_bytes, step.at.after_bytes))
    return [groups[sizes] for sizes in sorted(groups)]


def _untold(view: RunView) -> Iterator[Step]:
    collapses = {(id(fall.curve), fall.before.message_bytes) for fall in falls(view, COLLAPSE)}
    for step in sorted(_steps(view), key=lambda step: -step.at.step):
        if (id(step.curve), step.at.before_bytes) not in collapses:
            yield step


def finding(
    view: RunView, group: Sequence[Step], likely: str, proofless: str, attempts: Iterable[str]
) -> Finding:
    """The finding on a group of steps, with the size of the worst; `proofless` is added if no known
    threshold lies there. Empty attempts are left out."""
    curve, at, _ = group[0]
    before, after = curve.row(at.before_bytes), curve.row(at.after_bytes)
    proofs: dict[str, None] = {}
    labels = []
    rows: list[Row] = []
    lost: list[float] = []
    for step in group:
        labels.append(step.curve.label)
        rows += step.curve.rows
        lost += _lost(step)
        if step.reason.is_likely:
            proofs[step.reason.words] = None
    if not proofs:
        likely = f"{likely} ({proofless})"
    shown = (
        f"{curve.label}: {byte_count(at.before_bytes)} takes {time(before)}, "
        f"{byte_count(at.after_bytes)} {time(after)}"
    )
    return Finding(
        what=f"{first_few(labels)}: {between_sizes(at.before_bytes, at.after_bytes)} the time "
        f"jumps to {factor(at.step)} what smaller sizes suggest",
        likely=likely,
        proved=bool(proofs),
        evidence=(shown, *proofs),
        attempts=tuple(filter(None, attempts)),
        rows=tuple(rows),
        cost=view.cost(lost),
    )


def _steps(view: RunView) -> Iterator[Step]:
    for curve in view.curves:
        if curve.pieces is None:
            continue
        for at in curve.pieces.breaks:
            likely = reasons(view, curve, at)
            if at.step >= LEAST_STEP and likely:
                yield Step(curve, at, likely[0])


def _lost(step: Step) -> Iterator[float]:
    """Yields the time lost behind the step: the part above the line of the smaller sizes, until
    there is none."""
    line = _line_before(step)
    for row in step.curve.behind(step.at.before_bytes):
        share = 1 - drawn_on(line, row.message_bytes) / row.latency.value
        if share <= 0:
            return
        yield share


def _line_before(step: Step) -> Fit:
    lines = step.curve.pieces.lines if step.curve.pieces else ()
    return next(line for line in lines if line.last_bytes == step.at.before_bytes)
