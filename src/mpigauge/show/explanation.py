# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What stands out in a run, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, fields
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from mpigauge.model.units import many, percent
from mpigauge.model.width import broken

if TYPE_CHECKING:
    from mpigauge.result.finding import Explanation, Finding

QUIET = "Nothing unusual stands out."
NO_ROWS = "It has no times of calls, so there is nothing to look at."
_LABEL = 8
_INDENT = "   "


def page(name: str, said: Explanation, width: int) -> Iterator[str]:
    """`name`: of the run. The dearest first, then what could not be looked at."""
    counted = f"{many(said.rows, said.kind)} of {many(said.launches, 'launch')}"
    head = f"{name}: {counted}, {said.looked_for} causes looked for"
    yield from broken([head], width=width)
    yield ""
    if not said.findings:
        yield QUIET if said.rows else NO_ROWS
        yield ""
    for number, finding in enumerate(said.findings, 1):
        yield from _finding(number, finding, width, said.whole)
        yield ""
    if said.blind:
        yield "Not looked at:"
        for blind in said.blind:
            names = f" ({', '.join(blind.causes)})" if blind.causes else ""
            yield from wrap(
                f"{blind.reason}{names}", width, initial_indent="- ", subsequent_indent="  "
            )


def to_json(name: str, said: Explanation) -> dict[str, Any]:
    return {
        "run": name,
        "rows": said.rows,
        "launches": said.launches,
        "causes": said.looked_for,
        "findings": [_plain(finding) for finding in said.findings],
        "not_looked_at": [asdict(blind) for blind in said.blind],
    }


def _plain(finding: Finding) -> dict[str, Any]:
    known = finding.cost if math.isfinite(finding.cost) else None
    said = {each.name: getattr(finding, each.name) for each in fields(finding)}
    del said["rows"]
    return said | {"cost": known}


def _finding(number: int, finding: Finding, width: int, whole: str) -> Iterator[str]:
    start = f"{number}. "
    yield from wrap(
        f"{finding.what}  [{finding.cause}]", width, initial_indent=start, subsequent_indent=_INDENT
    )
    told = [("costs", _cost(finding, whole))]
    told += [("perhaps" if finding.tentative else "likely", finding.likely)]
    told += [("only", finding.tentative)] if finding.tentative else []
    told += _labelled("evidence", finding.evidence) + _labelled("try", finding.attempts)
    for label, text in told:
        head = f"{_INDENT}{label:<{_LABEL}}  "
        yield from wrap(
            text, width, initial_indent=head, subsequent_indent=" " * len(head),
            break_on_hyphens=False,
        )  # fmt: skip


def _labelled(label: str, texts: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(label if place == 0 else "", text) for place, text in enumerate(texts)]


def _cost(finding: Finding, whole: str) -> str:
    if finding.void:
        return "these numbers mean nothing"
    if math.isnan(finding.cost):
        return "not known"
    return f"{percent(finding.cost)} of {whole}"
