# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The doctor's findings, on a page and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mpigauge.model.hostlist import compress
from mpigauge.model.units import many
from mpigauge.model.width import wrap
from mpigauge.products.doctor.check_finding import STATES

if TYPE_CHECKING:
    from mpigauge.products.doctor.check_finding import CheckFinding, Host

WORDS = {"bad": "BAD", "note": "note", "unknown": "?", "good": "good"}
_STATE = max(map(len, WORDS.values()))
_PART = 6


def page(host: Host, findings: Sequence[CheckFinding], width: int) -> list[str]:
    """The lines of the page, the worst first; `width` is that of the screen."""
    machine = host.machine
    wide = max((len(finding.check) for finding in findings), default=0)
    lines = [" · ".join(filter(None, (machine.hostname, machine.cpu_model))), ""]
    for finding in findings:
        lines += _block(finding, wide, width)
    return [*lines, "", summary(findings)]


def pages(by_host: Mapping[str, Sequence[CheckFinding]], width: int) -> list[str]:
    """One page for several hosts, by their names: what is the same on some stands there once, with
    the names of those that it is about; the worst first."""
    hosts: dict[CheckFinding, list[str]] = {}
    for name, findings in by_host.items():
        for finding in findings:
            hosts.setdefault(finding, []).append(name)
    ordered = sorted(hosts, key=lambda finding: STATES.index(finding.state))
    wide = max((len(finding.check) for finding in ordered), default=0)
    lines = [f"{many(len(by_host), 'host')}: {compress(list(by_host))}", ""]
    for finding in ordered:
        where = "" if len(hosts[finding]) == len(by_host) else compress(hosts[finding])
        lines += _block(finding, wide, width, where)
    return [*lines, "", *_worst_hosts(by_host)]


def _worst_hosts(by_host: Mapping[str, Sequence[CheckFinding]]) -> Iterator[str]:
    """The number of findings of each state, with hosts of equal numbers in one line."""
    alike: dict[str, list[str]] = {}
    for name, findings in by_host.items():
        alike.setdefault(summary(findings), []).append(name)
    for words, names in alike.items():
        yield f"{compress(names)}: {words}"


def summary(findings: Sequence[CheckFinding]) -> str:
    """The number of findings of each state: 1 bad, 3 notes, 12 good."""
    counts = {state: sum(f.state == state for f in findings) for state in STATES}
    words = [
        f"{counts['bad']} bad",
        many(counts["note"], "note"),
        f"{counts['unknown']} unknown",
        f"{counts['good']} good",
    ]
    return ", ".join(word for word in words if not word.startswith("0 "))


def to_json(host: Host, findings: Sequence[CheckFinding]) -> dict[str, Any]:
    measured = host.measured
    return {
        "host": host.machine.hostname,
        "worst": findings[0].state if findings else "good",
        "findings": [asdict(finding) for finding in findings],
        "noise": [asdict(core) for core in measured.noise] if measured else None,
    }


def _block(finding: CheckFinding, wide: int, width: int, hosts: str = "") -> Iterator[str]:
    start = f"{WORDS[finding.state]:<{_STATE}}  {finding.check:<{wide}}  "
    indent = " " * len(start)
    yield from _broken(start, finding.found, width)
    for name, text in (("on", hosts), ("costs", finding.costs), ("fix", finding.mend)):
        if text:
            yield from _broken(f"{indent}{name:<{_PART}}", text, width)


def _broken(start: str, text: str, width: int) -> Iterator[str]:
    parts = wrap(text, max(24, width - len(start)), break_on_hyphens=False, break_long_words=False)
    for number, part in enumerate(parts):
        yield (start if number == 0 else " " * len(start)) + part
