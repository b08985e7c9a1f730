# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints what stands out in a run, for people and for programs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from mpigauge.model.units import many, percent
from mpigauge.model.width import broken, wrap

if TYPE_CHECKING:
    from mpigauge.result.finding import Explanation, Finding

QUIET = "No anomaly."
NO_ROWS = "It has no times of calls, so there is nothing to check."
_LABEL = 8
_INDENT = "   "
_MOST_LINES = 2
_ASIDE = re.compile(r" \([^()]*\)")
_MORE = "With --all: costs, evidence, more remedies, and the checks not possible."


def page(name: str, explanation: Explanation, width: int, whole: bool = False) -> Iterator[str]:
    """The page on the run `name`. The most costly finding comes first, in two lines each: what it
    is, the likely reason, and what to try; then what could not be read. `whole`: also costs,
    evidence, all attempts, and what could not be examined."""
    rows = many(explanation.rows, explanation.kind)
    counted = f"{rows} of {many(explanation.launches, 'launch')}"
    head = f"{name}: {counted}, {explanation.looked_for} causes checked"
    yield from broken([head], width=width)
    yield ""
    if not explanation.findings:
        yield QUIET if explanation.rows else NO_ROWS
        yield ""
    for number, finding in enumerate(explanation.findings, 1):
        if whole:
            parts = list(_whole_parts(finding, explanation.whole))
            yield from _finding(number, finding, parts, width, None)
        else:
            yield from _finding(number, finding, list(_briefly(finding)), width, _MOST_LINES)
        yield ""
    not_looked_at = [blind for blind in explanation.blind if whole or not blind.causes]
    if not_looked_at:
        yield "Not checked:"
        for blind in not_looked_at:
            text = blind.reason
            if blind.causes:
                text += f" ({', '.join(blind.causes)})"
            yield from wrap(text, width, initial_indent="- ", subsequent_indent="  ")
    if not whole and (explanation.findings or explanation.blind):
        yield from broken([_MORE], width=width)


def to_json(name: str, explanation: Explanation) -> dict[str, Any]:
    return {
        "run": name,
        "rows": explanation.rows,
        "launches": explanation.launches,
        "causes": explanation.looked_for,
        "findings": [_plain(finding) for finding in explanation.findings],
        "not_looked_at": [asdict(blind) for blind in explanation.blind],
    }


def _plain(finding: Finding) -> dict[str, Any]:
    record = {each.name: getattr(finding, each.name) for each in fields(finding)}
    del record["rows"]
    if not math.isfinite(finding.cost):
        record["cost"] = None
    return record


def _finding(
    number: int, finding: Finding, parts: Sequence[tuple[str, str]], width: int, most: int | None
) -> Iterator[str]:
    """`most`: lines of each part; None: as many as it has."""
    what = f"{finding.what}  [{finding.cause}]"
    yield from wrap(
        what, width, initial_indent=f"{number}. ", subsequent_indent=_INDENT,
        max_lines=most, placeholder=" …",
    )  # fmt: skip
    for label, text in parts:
        head = f"{_INDENT}{label:<{_LABEL}}  "
        yield from wrap(
            text, width, initial_indent=head, subsequent_indent=" " * len(head),
            break_on_hyphens=False, max_lines=most, placeholder=" …",
        )  # fmt: skip


def _briefly(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yields the likely cause and the first remedy, without the text in parentheses."""
    if finding.void:
        yield "void", "these numbers mean nothing"
    sure = finding.proved and not finding.tentative
    yield "likely" if sure else "perhaps", _ASIDE.sub("", finding.likely)
    for attempt in finding.attempts[:1]:
        yield "try", _ASIDE.sub("", attempt)


def _whole_parts(finding: Finding, whole: str) -> Iterator[tuple[str, str]]:
    yield "costs", _cost(finding, whole)
    yield "perhaps" if finding.tentative else "likely", finding.likely
    if finding.tentative:
        yield "only", finding.tentative
    yield from _labelled("evidence", finding.evidence)
    yield from _labelled("try", finding.attempts)


def _labelled(label: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The label stands at the first of them."""
    for text in texts:
        yield label, text
        label = ""


def _cost(finding: Finding, whole: str) -> str:
    if finding.void:
        return "these numbers mean nothing"
    if math.isnan(finding.cost):
        return "not known"
    return f"{percent(finding.cost)} of {whole}"
