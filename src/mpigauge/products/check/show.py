# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints a check as a table, as JSON, or as JUnit XML."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mpigauge.model.row import NOTHING
from mpigauge.model.units import duration, megabytes_per_s, number, plus_minus, rate
from mpigauge.model.width import WIDTH, as_blocks, broken, right_aligned, widths
from mpigauge.show.tables import records

if TYPE_CHECKING:
    from mpigauge.products.check.result import CheckLine, CheckResult

HEADS = ("", "what", "", "measured", "±", "allowed", "")
_GAP, _BELOW = "  ", " " * 11
FAILED, SKIPPED = "failure", "skipped"


def as_table(result: CheckResult) -> str:
    rows = [HEADS, *(_words(line) for line in result.lines)]
    wide = widths(rows)
    text: list[str] = []
    if sum(wide[:-1]) + len(_GAP) * (len(wide) - 2) <= WIDTH:
        for words in rows:
            text += _parts(words, wide)
    else:
        text = _sentences(result.lines)
    return as_blocks([text, [summary(result), *broken(result.notes)]])


def as_json(result: CheckResult) -> str:
    data = {
        "tool": "mpigauge",
        "outcome": result.outcome,
        "lines": [_record(line) for line in result.lines],
        "notes": list(result.notes),
    }
    return records.as_json(data)


def as_junit(result: CheckResult, name: str, undecided: str) -> str:
    """Returns XML with a test case per line. `undecided`: fail, or pass (shown as skipped)."""
    from xml.etree import ElementTree as ET

    tags = {"FAIL": FAILED, "UNDECIDED": FAILED if undecided == "fail" else SKIPPED}
    counts = Counter(tags.get(line.outcome, "") for line in result.lines)
    totals = {
        "tests": str(len(result.lines)),
        "failures": str(counts[FAILED]),
        "skipped": str(counts[SKIPPED]),
    }
    root = ET.Element("testsuites", totals)
    suite = ET.SubElement(root, "testsuite", {"name": name, "errors": "0", **totals})
    for line in result.lines:
        title = f"{line.name} {line.what}".strip()
        case = ET.SubElement(suite, "testcase", {"classname": "mpigauge.check", "name": title})
        if tag := tags.get(line.outcome):
            message = f"{line.outcome}: {sentence(line)}"
            ET.SubElement(case, tag, {"message": message, "type": line.outcome})
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text.decode("utf-8") + "\n"


def summary(result: CheckResult) -> str:
    """Returns the outcome and the number of lines with each: "FAIL: 1 FAIL, 11 PASS"."""
    counts = Counter(line.outcome for line in result.lines)
    parts = []
    for word in ("FAIL", "UNDECIDED", "PASS"):
        if counts[word]:
            parts.append(f"{counts[word]} {word}")
    text = f"{result.outcome}: {', '.join(parts)}"
    again = sum(line.again for line in result.lines)
    if again:
        return f"{text}; {again} measured again"
    return text


def sentence(line: CheckLine) -> str:
    """Returns a line in words, such as "1.52 µs ±1.0 %, at most 1.5 µs is allowed"."""
    measured, error, allowed = _numbers(line)
    parts = []
    if measured:
        parts.append(f"{measured} {error}".strip())
    if allowed:
        parts.append(f"{allowed} is allowed")
    if line.why:
        parts.append(line.why)
    return ", ".join(parts)


def _words(line: CheckLine) -> tuple[str, ...]:
    why = line.why
    if line.again:
        why = f"{why}; measured again" if why else "measured again"
    return line.outcome, line.name, line.what, *_numbers(line), why


def _parts(words: Sequence[str], wide: Sequence[int]) -> list[str]:
    """Lays out one line: the reason replaces missing numbers, or goes below if it does not fit."""
    if not any(words[3:-1]):
        what = _GAP.join(f"{word:<{w}}" for word, w in zip(words[:3], wide[:3], strict=True))
        return broken([f"{what}{_GAP}{words[-1]}".rstrip()], _BELOW)
    line = _row(words, wide)
    if len(line) <= WIDTH:
        return [line]
    return [_row([*words[:-1], ""], wide), *broken([_BELOW + words[-1]], _BELOW)]


def _sentences(lines: Sequence[CheckLine]) -> list[str]:
    """Lays out lines without columns, for long names: each name, and its outcome below it."""
    text: list[str] = []
    for line in lines:
        words = sentence(line)
        if line.what:
            words = f"{line.what}: {words}"
        if line.again:
            words += "; measured again"
        text += broken([f"{line.outcome:<9}  {line.name}"], _BELOW)
        text += broken([f"{_BELOW}{words}"], _BELOW)
    return text


def _row(words: Sequence[str], wide: Sequence[int]) -> str:
    what = [f"{word:<{w}}" for word, w in zip(words[:3], wide[:3], strict=True)]
    numbers = right_aligned(words[3:-1], wide[3:-1], _GAP)
    return _GAP.join([*what, numbers, words[-1]]).rstrip()


def _numbers(line: CheckLine) -> tuple[str, str, str]:
    if line.value is None:
        return "", "", ""
    bound = ""
    if math.isfinite(line.allowed):
        bound = f"{line.bound} {_in_unit(line.allowed, line.unit)}"
    if line.item and line.item.row:
        error = line.item.row.error_text(line.value)
    else:
        error = plus_minus(line.value.relative_error)
    return _in_unit(line.value.value, line.unit), error, bound


def _in_unit(value: float, unit: str) -> str:
    if unit == "s":
        return duration(value)
    if unit == "B/s":
        return f"{megabytes_per_s(value)} MB/s"
    if unit == "/s":
        return rate(value)
    return f"{number(value)} {unit}".rstrip()


def _record(line: CheckLine) -> dict[str, Any]:
    value, low, high = line.value or NOTHING
    record = {
        "outcome": line.outcome,
        "name": line.name,
        "what": line.what,
        "unit": line.unit,
        "value": value,
        "low": low,
        "high": high,
        "allowed": line.allowed,
        "at_most": line.at_most,
        "again": line.again,
        "why": line.why,
    }
    return records.with_nulls(record)
