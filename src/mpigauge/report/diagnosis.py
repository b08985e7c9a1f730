# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the doctor found, on a page and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from mpigauge.doctor.finding import STATES
from mpigauge.topology.remarks import many

if TYPE_CHECKING:
    from mpigauge.doctor import Finding, Host

WORDS = {"bad": "BAD", "note": "note", "unknown": "?", "good": "good"}
_STATE = max(map(len, WORDS.values()))
_PART = 6


def page(host: Host, findings: Sequence[Finding], width: int) -> list[str]:
    """The lines of the page, the worst first; `width` is that of the screen."""
    machine = host.machine
    wide = max((len(finding.check) for finding in findings), default=0)
    lines = [" · ".join(filter(None, (machine.hostname, machine.cpu_model))), ""]
    for finding in findings:
        lines += _block(finding, wide, width)
    return [*lines, "", summary(findings)]


def summary(findings: Sequence[Finding]) -> str:
    """How many of each state: 1 bad, 3 notes, 12 good."""
    counts = {state: sum(f.state == state for f in findings) for state in STATES}
    words = [
        f"{counts['bad']} bad",
        many(counts["note"], "note"),
        f"{counts['unknown']} unknown",
        f"{counts['good']} good",
    ]
    return ", ".join(word for word in words if not word.startswith("0 "))


def to_json(host: Host, findings: Sequence[Finding]) -> dict[str, Any]:
    measured = host.measured
    return {
        "host": host.machine.hostname,
        "worst": findings[0].state if findings else "good",
        "findings": [asdict(finding) for finding in findings],
        "noise": [asdict(core) for core in measured.noise] if measured else None,
    }


def _block(finding: Finding, wide: int, width: int) -> Iterator[str]:
    start = f"{WORDS[finding.state]:<{_STATE}}  {finding.check:<{wide}}  "
    indent = " " * len(start)
    yield from _broken(start, finding.found, width)
    for name, text in (("costs", finding.costs), ("mend", finding.mend)):
        if text:
            yield from _broken(f"{indent}{name:<{_PART}}", text, width)


def _broken(start: str, text: str, width: int) -> Iterator[str]:
    parts = wrap(text, max(24, width - len(start)), break_on_hyphens=False, break_long_words=False)
    for number, part in enumerate(parts):
        yield (start if number == 0 else " " * len(start)) + part
