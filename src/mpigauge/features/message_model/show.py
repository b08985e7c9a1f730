# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Models of a run: as text, and as rows and objects for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mpigauge.model.row import NOTHING
from mpigauge.model.spreadsheet import csv_text
from mpigauge.model.units import byte_count, duration, microseconds, plus_minus
from mpigauge.model.width import WIDTH, as_blocks, broken, right_aligned, widths
from mpigauge.show.formats.table import line_words

if TYPE_CHECKING:
    from mpigauge.features.message_model.result import CurveModel, Model, ModelRow, PairModel
    from mpigauge.model.row import Estimate
    from mpigauge.result.models.bounds import Bound
    from mpigauge.result.models.breaks import LikelyBreak, Reason
    from mpigauge.result.stats.fit import Fit, Residual

COLUMNS = (
    "benchmark", "ranks", "placement", "arm", "cache", "message_bytes", "observed_s",
    "observed_low_s", "observed_high_s", "fitted_s", "fitted_low_s", "fitted_high_s", "piece",
    "in_pieces_s", "bound_s", "bound_ratio", "bound_ratio_low", "bound_ratio_high",
)  # fmt: skip


# --- for people -----------------------------------------------------------------------------
def page(found: Model) -> str:
    """A block for each curve, then one for each pair of ranks."""
    blocks = [[*_curve_lines(curve)] for curve in found.curves]
    blocks += [broken(_pair_lines(pair), indent=" " * 13) for pair in found.pairs]
    return as_blocks(blocks)


def _curve_lines(found: CurveModel) -> Iterator[str]:
    yield found.curve.label
    if found.line is None:
        yield f"  fewer than three sizes: no line ({len(found.curve.rows)} of them)"
    else:
        yield f"  t = α + β·n  {line_words(found.line)}"
    if found.breaks:
        wide = max(len(_range(line)) for line in found.lines)
        for place, line in enumerate(found.lines):
            yield from broken([f"  {_range(line):<{wide}}  {line_words(line)}"], indent=" " * 8)
            if place < len(found.breaks):
                yield from broken(_break_lines(found.breaks[place]), indent=" " * 8)
    elif found.line is not None:
        yield "  no break that the errors carry"
    yield from _table(found)


def _break_lines(found: LikelyBreak) -> Iterator[str]:
    yield f"    break {found.where}: {found.shape}"
    for place, reason in enumerate(found.reasons):
        sure = "likely" if reason.known else "may be"
        if place > 0:
            sure = f"or {sure}"
        others = [name for name in reason.knobs if name not in reason.words]
        knobs = f"; moved by {', '.join(others)}" if others else ""
        yield f"      {sure}: {reason.words}{knobs}"
    if not found.reasons:
        yield "      nothing that is known here lies there"


def _range(line: Fit) -> str:
    return f"{byte_count(line.first_bytes)} … {byte_count(line.last_bytes)}"


def _table(found: CurveModel) -> Iterator[str]:
    heads = ["bytes", "observed µs", "±"]
    if found.line:
        heads += ["fitted µs", "±", "off by"]
    if found.breaks:
        heads += ["in pieces µs", "off by"]
    if found.has_bounds:
        heads += ["bound µs", "of", "× bound", "±"]
    lines = [heads, *(_words(found, row) for row in found.rows)]
    wide = widths(lines)
    gap = "  " if sum(wide) + 2 * len(wide) <= WIDTH else " "
    for words in lines:
        yield f"  {right_aligned(words, wide, gap)}".rstrip()


def _words(found: CurveModel, of: ModelRow) -> list[str]:
    row = of.row
    words = [
        byte_count(row.message_bytes),
        microseconds(row.latency.value, row.latency.error),
        row.error_words,
    ]
    if found.line:
        words += _line_words(of.on_line)
    if found.breaks:
        words += [microseconds(of.in_pieces_s), _off(of.off_pieces)]
    if found.has_bounds:
        words += _bound_words(of.bound)
    return words


def _line_words(point: Residual | None) -> list[str]:
    if point is None:
        return ["", "", ""]
    error = plus_minus(point.error_s / abs(point.fitted_s))
    return [microseconds(point.fitted_s), error, _off(point.relative)]


def _bound_words(bound: Bound | None) -> list[str]:
    if bound is None:
        return ["", "", "", ""]
    ratio = bound.ratio
    return [
        microseconds(bound.bound_s.value),
        bound.limit,
        f"{ratio.value:.3g}",
        plus_minus(ratio.relative_error),
    ]


def _off(ratio: float) -> str:
    if not math.isfinite(ratio):
        return ""
    return f"{round(100 * ratio):+d} %"


def _pair_lines(found: PairModel) -> Iterator[str]:
    known = found.loggp
    title = "LogGP between two ranks"
    yield f"{title}, {found.where}" if found.where else title
    if known.latency_and_overheads:
        yield f"  L + 2o     {_time(known.latency_and_overheads)}"
    if known.gap:
        yield f"  max(g, o)  {_time(known.gap)}"
    if known.overhead and known.latency:
        yield f"  o          between 0 and {duration(known.overhead[1])}"
        yield f"  L          between {duration(known.latency[0])} and {duration(known.latency[1])}"
    if known.gap_per_byte:
        gap = known.gap_per_byte
        yield f"  G          {gap.value * 1e9:.4g} ns a byte {plus_minus(gap.relative_error)}"
    for words in known.missing:
        yield f"  missing    {words}"


def _time(estimate: Estimate) -> str:
    return f"{duration(estimate.value)} {plus_minus(estimate.relative_error)}"


# --- for programs ---------------------------------------------------------------------------
def to_csv(found: Model) -> str:
    rows = [values(_row(row)) for curve in found.curves for row in curve.rows]
    return csv_text([COLUMNS, *rows])


def values(row: dict[str, Any]) -> list[Any]:
    """What is not known is empty."""
    return ["" if row[name] is None else row[name] for name in COLUMNS]


def to_json(name: str, found: Model) -> dict[str, Any]:
    return {
        "run": name,
        "curves": [_curve_json(curve) for curve in found.curves],
        "loggp": [_pair_json(pair) for pair in found.pairs],
    }


def _curve_json(found: CurveModel) -> dict[str, Any]:
    return {
        "label": found.curve.label,
        "line": _line_json(found.line) if found.line else None,
        "pieces": [_line_json(line) for line in found.lines],
        "breaks": [_break_json(each) for each in found.breaks],
        "rows": [_row(row) for row in found.rows],
    }


def _line_json(line: Fit) -> dict[str, Any]:
    return {
        "first_bytes": line.first_bytes,
        "last_bytes": line.last_bytes,
        "alpha_s": _ends(line.alpha_s),
        "beta_s_per_byte": _ends(line.beta_s_per_byte),
        "bandwidth_bytes_per_s": _ends(line.bandwidth),
        "half_bandwidth_bytes": _ends(line.half_bandwidth_bytes),
    }


def _break_json(found: LikelyBreak) -> dict[str, Any]:
    return {
        "before_bytes": found.at.before_bytes,
        "after_bytes": found.at.after_bytes,
        "step": _plain(found.at.step),
        "slope": _plain(found.at.slope),
        "shape": found.shape,
        "reasons": [_reason_json(reason) for reason in found.reasons],
    }


def _reason_json(reason: Reason) -> dict[str, Any]:
    return {
        "kind": reason.kind,
        "words": reason.words,
        "settings": list(reason.knobs),
        "known": reason.known,
    }


def _pair_json(found: PairModel) -> dict[str, Any]:
    known = found.loggp
    return {
        "where": found.where,
        "latency_and_overheads_s": _ends(known.latency_and_overheads),
        "gap_s": _ends(known.gap),
        "gap_per_byte_s": _ends(known.gap_per_byte),
        "overhead_between_s": known.overhead,
        "latency_between_s": known.latency,
        "missing": list(known.missing),
    }


def _row(of: ModelRow) -> dict[str, Any]:
    """A flat record with the columns of COLUMNS."""
    row, cell = of.row, of.row.cell
    facts = row.benchmark, cell.ranks, cell.placement, cell.arm, cell.cache, row.message_bytes
    fitted, error, bound, ratio = math.nan, math.nan, math.nan, NOTHING
    if of.on_line:
        fitted, error = of.on_line.fitted_s, of.on_line.error_s
    if of.bound:
        bound, ratio = of.bound.bound_s.value, of.bound.ratio
    numbers = (
        *(*row.latency, fitted, fitted - error, fitted + error),
        *(of.piece, of.in_pieces_s, bound, *ratio),
    )
    known = [_plain(number) for number in numbers]
    return dict(zip(COLUMNS, (*facts, *known), strict=True))


def _ends(estimate: Estimate | None) -> list[float | None] | None:
    """Value, and the ends of its interval."""
    if estimate is None:
        return None
    return [_plain(estimate.value), _plain(estimate.low), _plain(estimate.high)]


def _plain(value: float) -> float | None:
    if math.isfinite(value):
        return value
    return None
