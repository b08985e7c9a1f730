# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Everything that the table says, and more, for programs; it says itself what its columns are."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mpigauge.model.columns import SCHEMA_VERSION
from mpigauge.model.fields import fields, plain, values
from mpigauge.model.screen import PLAIN
from mpigauge.show.comparisons.compared import ratios
from mpigauge.show.limits import limit_fields, numbers
from mpigauge.show.tables import records

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate
    from mpigauge.model.screen import Screen
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.document import Document
    from mpigauge.result.stats.fit import Fit
    from mpigauge.result.stats.headline import Headline

ABOUT = "all of it with names and units, for programs"


def render(document: Document, screen: Screen = PLAIN) -> str:  # noqa: ARG001
    columns = (*fields(), *limit_fields(document.limits))
    data = {
        "schema": SCHEMA_VERSION,
        "tool": "mpigauge",
        "facts": asdict(document.facts),
        "columns": [{"name": f.name, "unit": f.unit, "about": f.about} for f in columns],
        "rows": [values(row, columns) for row in document.rows],
        "figures": [asdict(figure) for figure in document.figures],
        "skipped": [{**skip.key, "reason": skip.reason} for skip in document.skips],
        "fresh_against_static": _ratios(document.fresh),
        "memories": [ratio for each in document.memories for ratio in _ratios(each)],
        "compilers": _ratios(document.compilers),
        "headline": _headline(document.headline),
        "limits": _plain(numbers(document.limits)),
        "remarks": list(document.sentences),
    }
    return records.as_json(data)


def _ratios(comparison: Comparison | None) -> list[dict[str, Any]]:
    if comparison:
        return list(ratios(comparison))
    return []


def _headline(head: Headline | None) -> dict[str, Any] | None:
    if head is None:
        return None
    ranges = [_fit(line) for line in head.ranges]
    return {
        "latency_s": _estimate(head.latency_s),
        "bandwidth_bytes_per_s": _estimate(head.peak_bandwidth),
        "bandwidth_at_message_bytes": head.peak.message_bytes if head.peak else None,
        "message_rate_per_s": _estimate(head.message_rate),
        "fit": _fit(head.line),
        "fit_small_and_large": ranges or None,
    }


def _plain(data: Any) -> Any:
    """The data with null for every number that is not known, at any depth."""
    if isinstance(data, dict):
        return {name: _plain(value) for name, value in data.items()}
    if isinstance(data, list):
        return [_plain(value) for value in data]
    return plain(data)


def _fit(line: Fit | None) -> dict[str, Any] | None:
    if line is None:
        return None
    return {
        "alpha_s": _estimate(line.alpha_s),
        "beta_s_per_byte": _estimate(line.beta_s_per_byte),
        "half_bandwidth_bytes": _estimate(line.half_bandwidth_bytes),
        "residuals": "relative" if line.relative else "absolute",
        "points": [asdict(point) for point in line.points],
    }


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return records.with_nulls(estimate._asdict())
