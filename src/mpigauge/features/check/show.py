# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A check for people, for programs (JSON), and for what reads JUnit's XML."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mpigauge.model.row import NOTHING
from mpigauge.model.units import duration, megabytes_per_s, number, plus_minus, rate
from mpigauge.model.width import WIDTH, as_blocks, broken, right_aligned, widths
from mpigauge.show import records

if TYPE_CHECKING:
    from mpigauge.features.check.result import CheckLine, CheckResult

HEADS = ("", "what", "", "measured", "±", "allowed", "")
_GAP, _BELOW = "  ", " " * 11
FAILED, SKIPPED = "failure", "skipped"


def as_table(found: CheckResult) -> str:
    rows = [HEADS, *(_words(line) for line in found.lines)]
    wide = widths(rows)
    text: list[str] = []
    if sum(wide[:-1]) + len(_GAP) * (len(wide) - 2) <= WIDTH:
        for words in rows:
            text += _parts(words, wide)
    else:
        text = _sentences(found.lines)
    return as_blocks([text, [summary(found), *broken(found.notes)]])


def as_json(found: CheckResult) -> str:
    data = {
        "tool": "mpigauge",
        "outcome": found.outcome,
        "lines": [_record(line) for line in found.lines],
        "notes": list(found.notes),
    }
    return records.as_json(data)


def as_junit(found: CheckResult, name: str, undecided: str) -> str:
    """A test case for each line. `undecided` says what those are: fail or pass (then skipped)."""
    from xml.etree import ElementTree as ET

    tags = {"FAIL": FAILED, "UNDECIDED": FAILED if undecided == "fail" else SKIPPED}
    counts = Counter(tags.get(line.outcome, "") for line in found.lines)
    totals = {
        "tests": str(len(found.lines)),
        "failures": str(counts[FAILED]),
        "skipped": str(counts[SKIPPED]),
    }
    root = ET.Element("testsuites", totals)
    suite = ET.SubElement(root, "testsuite", {"name": name, "errors": "0", **totals})
    for line in found.lines:
        title = f"{line.name} {line.what}".strip()
        case = ET.SubElement(suite, "testcase", {"classname": "mpigauge.check", "name": title})
        if tag := tags.get(line.outcome):
            said = f"{line.outcome}: {sentence(line)}"
            ET.SubElement(case, tag, {"message": said, "type": line.outcome})
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text.decode("utf-8") + "\n"


def summary(found: CheckResult) -> str:
    """PASS: 12 of 12."""
    counts = Counter(line.outcome for line in found.lines)
    parts = []
    for word in ("FAIL", "UNDECIDED", "PASS"):
        if counts[word]:
            parts.append(f"{counts[word]} {word}")
    text = f"{found.outcome}: {', '.join(parts)}"
    again = sum(line.again for line in found.lines)
    if again:
        return f"{text}; {again} measured again"
    return text


def sentence(line: CheckLine) -> str:
    """1.52 µs ±1.0 %, at most 1.5 µs is allowed."""
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
    """Why stands in the place of numbers where there are none, and below them without room."""
    if not any(words[3:-1]):
        what = _GAP.join(f"{word:<{w}}" for word, w in zip(words[:3], wide[:3], strict=True))
        return broken([f"{what}{_GAP}{words[-1]}".rstrip()], _BELOW)
    line = _row(words, wide)
    if len(line) <= WIDTH:
        return [line]
    return [_row([*words[:-1], ""], wide), *broken([_BELOW + words[-1]], _BELOW)]


def _sentences(lines: Sequence[CheckLine]) -> list[str]:
    """Where names leave no room for columns: what was checked, and below it what came of it."""
    text: list[str] = []
    for line in lines:
        said = sentence(line)
        if line.what:
            said = f"{line.what}: {said}"
        if line.again:
            said += "; measured again"
        text += broken([f"{line.outcome:<9}  {line.name}"], _BELOW)
        text += broken([f"{_BELOW}{said}"], _BELOW)
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
