# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A comparison for programs: JSON, and CSV with a line for each ratio, each curve as a whole, and
all times together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mpigauge.show.tables import records
from mpigauge.show.tables.records import with_nulls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.result.compare.comparison import ComparedNumber, Comparison, Overall
    from mpigauge.result.compare.match.items import Item

AS_PRINTED = ("printed_mb_per_s", "printed_msg_per_s")


_OF_ONE_NUMBER = ("benchmark", "message_bytes")
"""Columns that the numbers of a curve do not share, or that it has in other words."""


def as_json(comparison: Comparison, programs: Sequence[str] = ()) -> str:
    data = {
        "tool": "mpigauge",
        "sides": list(comparison.names),
        "tolerance": comparison.tolerance,
        "response": comparison.response,
        "ratios": list(ratios(comparison)),
        "curves": list(curves(comparison)),
        "together": list(together(comparison)),
        "sentences": [*_sentences(comparison), *programs],
        "unlike": list(comparison.unlike),
        "left_out": [left.text for left in comparison.left_out],
    }
    return records.as_json(data)


def _sentences(comparison: Comparison) -> Iterator[str]:
    for table in comparison.tables:
        yield from table.sentences
        yield from table.curve_sentences
    yield from comparison.sentences


def as_csv(comparison: Comparison) -> str:
    return records.as_csv([*ratios(comparison), *curves(comparison), *together(comparison)])


def ratios(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """A flat record of each ratio."""
    base = comparison.names[0]
    for table in comparison.tables:
        for first, *others in table.lines:
            for name, entry in zip(comparison.names[1:], others, strict=True):
                if first.item and entry.item:
                    yield _ratio(base, first.item, name, entry, entry.item)


def curves(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """A flat record of each curve that is judged as a whole."""
    for table in comparison.tables:
        shared = {name: value for name, value in table.first.columns if name not in _OF_ONE_NUMBER}
        for name, overall in zip(comparison.names, table.overall, strict=True):
            if overall:
                whose = {"benchmark": table.first.benchmark, "over": "curve"}
                record = shared | whose | _overall(comparison.names[0], name, overall)
                yield with_nulls(record)


def together(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """A flat record of all times of each side, where there are several tables of them."""
    for name, overall in zip(comparison.names, comparison.overall, strict=False):
        if overall:
            yield with_nulls({"over": "all", **_overall(comparison.names[0], name, overall)})


def _overall(first: str, second: str, overall: Overall) -> dict[str, Any]:
    return {"first": first, "second": second, "numbers": overall.numbers, **_judged(overall)}


def _judged(entry: ComparedNumber | Overall) -> dict[str, Any]:
    """The ratio and what is said of it."""
    estimate = entry.ratio.estimate if entry.ratio else None
    return {
        "ratio": estimate and estimate.value,
        "ratio_low": estimate and estimate.low,
        "ratio_high": estimate and estimate.high,
        "p_holm": entry.judged and entry.judged.p,
        "paired": bool(entry.ratio and entry.ratio.paired),
        "launches": entry.ratio and entry.ratio.launches,
        "left_out": entry.ratio and entry.ratio.left_out,
        "verdict": entry.verdict,
        "undecided": entry.undecided,
        "launches_needed": entry.judged and entry.judged.needed,
    }


def _ratio(
    first: str, base: Item, second: str, entry: ComparedNumber, item: Item
) -> dict[str, Any]:
    """A flat record; the columns of what was measured come last. NaN is null."""
    numbers = {
        "benchmark": item.benchmark,
        "message_bytes": item.message_bytes,
        "what": item.what,
        "unit": item.unit,
        "first": first,
        **ends("first", base),
        **_printed("first", base),
        "second": second,
        **ends("second", item),
        **_printed("second", item),
        **_judged(entry),
        "unlike": list(entry.unlike),
    }
    return with_nulls({**dict(base.columns), **numbers})


def ends(side: str, item: Item) -> dict[str, float]:
    """A number and the ends of its interval, as columns."""
    value, low, high = item.value
    return {f"{side}_value": value, f"{side}_low": low, f"{side}_high": high}


def _printed(side: str, item: Item) -> dict[str, float]:
    """The bandwidth and message rate that another program printed with the time, if it did."""
    values: dict[str, float] = {}
    if item.row is None:
        return values
    for name in AS_PRINTED:
        value = getattr(item.row.cell, name)
        if not math.isnan(value):
            values[f"{side}_{name}"] = value
    return values
