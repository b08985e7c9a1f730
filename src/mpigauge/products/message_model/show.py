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
from mpigauge.show.ending import line_words

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate
    from mpigauge.products.message_model.result import CurveModel, Model, ModelRow, PairModel
    from mpigauge.result.models.bounds import Bound
    from mpigauge.result.models.breaks import LikelyBreak, Reason
    from mpigauge.result.stats.fit import Fit, Residual

COLUMNS = (
    "benchmark", "ranks", "placement", "arm", "cache", "message_bytes", "observed_s",
    "observed_low_s", "observed_high_s", "fitted_s", "fitted_low_s", "fitted_high_s", "piece",
    "in_pieces_s", "bound_s", "bound_ratio", "bound_ratio_low", "bound_ratio_high",
)  # fmt: skip


# --- for people -----------------------------------------------------------------------------
def page(model: Model) -> str:
    """A block for each curve, then one for each pair of ranks."""
    blocks = [[*_curve_lines(curve)] for curve in model.curves]
    blocks += [broken(_pair_lines(pair), indent=" " * 13) for pair in model.pairs]
    return as_blocks(blocks)


def _curve_lines(model: CurveModel) -> Iterator[str]:
    yield model.curve.label
    if model.line is None:
        yield f"  fewer than three sizes: no line ({len(model.curve.rows)} of them)"
    else:
        yield f"  t = α + β·n  {line_words(model.line)}"
    if model.breaks:
        wide = max(len(_range(line)) for line in model.lines)
        for place, line in enumerate(model.lines):
            yield from broken([f"  {_range(line):<{wide}}  {line_words(line)}"], indent=" " * 8)
            if place < len(model.breaks):
                yield from broken(_break_lines(model.breaks[place]), indent=" " * 8)
    elif model.line is not None:
        yield "  no break that the errors carry"
    yield from _table(model)


def _break_lines(likely: LikelyBreak) -> Iterator[str]:
    yield f"    break {likely.where}: {likely.shape}"
    for place, reason in enumerate(likely.reasons):
        sure = "likely" if reason.is_likely else "may be"
        if place > 0:
            sure = f"or {sure}"
        others = [name for name in reason.knobs if name not in reason.words]
        knobs = f"; moved by {', '.join(others)}" if others else ""
        yield f"      {sure}: {reason.words}{knobs}"
    if not likely.reasons:
        yield "      nothing that is known here lies there"


def _range(line: Fit) -> str:
    return f"{byte_count(line.first_bytes)} … {byte_count(line.last_bytes)}"


def _table(model: CurveModel) -> Iterator[str]:
    heads = ["bytes", "observed µs", "±"]
    if model.line:
        heads += ["fitted µs", "±", "off by"]
    if model.breaks:
        heads += ["in pieces µs", "off by"]
    if model.has_bounds:
        heads += ["bound µs", "of", "× bound", "±"]
    lines = [heads, *(_words(model, row) for row in model.rows)]
    wide = widths(lines)
    gap = "  " if sum(wide) + 2 * len(wide) <= WIDTH else " "
    for words in lines:
        yield f"  {right_aligned(words, wide, gap)}".rstrip()


def _words(model: CurveModel, of: ModelRow) -> list[str]:
    row = of.row
    words = [
        byte_count(row.message_bytes),
        microseconds(row.latency.value, row.latency.error),
        row.error_words,
    ]
    if model.line:
        words += _line_words(of.on_line)
    if model.breaks:
        words += [microseconds(of.in_pieces_s), _off(of.off_pieces)]
    if model.has_bounds:
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


def _pair_lines(pair: PairModel) -> Iterator[str]:
    loggp = pair.loggp
    title = "LogGP between two ranks"
    yield f"{title}, {pair.where}" if pair.where else title
    if loggp.latency_and_overheads:
        yield f"  L + 2o     {_time(loggp.latency_and_overheads)}"
    if loggp.gap:
        yield f"  max(g, o)  {_time(loggp.gap)}"
    if loggp.overhead and loggp.latency:
        yield f"  o          between 0 and {duration(loggp.overhead[1])}"
        yield f"  L          between {duration(loggp.latency[0])} and {duration(loggp.latency[1])}"
    if loggp.gap_per_byte:
        gap = loggp.gap_per_byte
        yield f"  G          {gap.value * 1e9:.4g} ns a byte {plus_minus(gap.relative_error)}"
    for words in loggp.missing:
        yield f"  missing    {words}"


def _time(estimate: Estimate) -> str:
    return f"{duration(estimate.value)} {plus_minus(estimate.relative_error)}"


# --- for programs ---------------------------------------------------------------------------
def to_csv(model: Model) -> str:
    rows = [values(_row(row)) for curve in model.curves for row in curve.rows]
    return csv_text([COLUMNS, *rows])


def values(row: dict[str, Any]) -> list[Any]:
    """The values of a row, empty for unknown ones."""
    return ["" if row[name] is None else row[name] for name in COLUMNS]


def to_json(name: str, model: Model) -> dict[str, Any]:
    return {
        "run": name,
        "curves": [_curve_json(curve) for curve in model.curves],
        "loggp": [_pair_json(pair) for pair in model.pairs],
    }


def _curve_json(model: CurveModel) -> dict[str, Any]:
    return {
        "label": model.curve.label,
        "line": _line_json(model.line) if model.line else None,
        "pieces": [_line_json(line) for line in model.lines],
        "breaks": [_break_json(each) for each in model.breaks],
        "rows": [_row(row) for row in model.rows],
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


def _break_json(likely: LikelyBreak) -> dict[str, Any]:
    return {
        "before_bytes": likely.at.before_bytes,
        "after_bytes": likely.at.after_bytes,
        "step": _plain(likely.at.step),
        "slope": _plain(likely.at.slope),
        "shape": likely.shape,
        "reasons": [_reason_json(reason) for reason in likely.reasons],
    }


def _reason_json(reason: Reason) -> dict[str, Any]:
    return {
        "kind": reason.kind,
        "words": reason.words,
        "settings": list(reason.knobs),
        "known": reason.is_likely,
    }


def _pair_json(pair: PairModel) -> dict[str, Any]:
    loggp = pair.loggp
    return {
        "where": pair.where,
        "latency_and_overheads_s": _ends(loggp.latency_and_overheads),
        "gap_s": _ends(loggp.gap),
        "gap_per_byte_s": _ends(loggp.gap_per_byte),
        "overhead_between_s": loggp.overhead,
        "latency_between_s": loggp.latency,
        "missing": list(loggp.missing),
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
    plain_numbers = [_plain(number) for number in numbers]
    return dict(zip(COLUMNS, (*facts, *plain_numbers), strict=True))


def _ends(estimate: Estimate | None) -> list[float | None] | None:
    """Value, and the ends of its interval."""
    if estimate is None:
        return None
    return [_plain(estimate.value), _plain(estimate.low), _plain(estimate.high)]


def _plain(value: float) -> float | None:
    if math.isfinite(value):
        return value
    return None
