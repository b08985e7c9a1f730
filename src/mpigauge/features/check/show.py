# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A check for people, for programs (JSON), and for what reads JUnit's XML."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mpigauge.features.check.result import outcome_of
from mpigauge.model.fields import plain
from mpigauge.model.units import duration, megabytes_per_s, number, plus_minus, rate
from mpigauge.model.width import WIDTH, broken

if TYPE_CHECKING:
    from mpigauge.features.check.result import CheckLine

HEADS = ("", "what", "", "measured", "±", "allowed", "")
_GAP, _BELOW = "  ", " " * 11
FAILED, SKIPPED = "failure", "skipped"


def as_table(lines: Sequence[CheckLine], notes: Sequence[str] = ()) -> str:
    rows = [HEADS, *map(_words, lines)]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    fits = sum(wide[:-1]) + len(_GAP) * (len(wide) - 2) <= WIDTH
    text = [part for words in rows for part in _parts(words, wide)] if fits else _sentences(lines)
    return "\n".join([*text, "", summary(lines), *broken(notes)]) + "\n"


def as_json(lines: Sequence[CheckLine], notes: Sequence[str] = ()) -> str:
    data = {
        "tool": "mpigauge",
        "outcome": outcome_of(lines),
        "lines": [_record(line) for line in lines],
        "notes": list(notes),
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_junit(lines: Sequence[CheckLine], name: str, undecided: str) -> str:
    """A test case for each line. `undecided` says what those are: fail or pass (then skipped)."""
    from xml.etree import ElementTree as ET

    tags = {"FAIL": FAILED, "UNDECIDED": FAILED if undecided == "fail" else SKIPPED}
    counts = Counter(tags.get(line.outcome, "") for line in lines)
    totals = {"tests": len(lines), "failures": counts[FAILED], "skipped": counts[SKIPPED]}
    words = {key: str(value) for key, value in totals.items()}
    root = ET.Element("testsuites", words)
    suite = ET.SubElement(root, "testsuite", {"name": name, "errors": "0", **words})
    for line in lines:
        title = " ".join(filter(None, (line.name, line.what)))
        case = ET.SubElement(suite, "testcase", {"classname": "mpigauge.check", "name": title})
        if tag := tags.get(line.outcome):
            said = f"{line.outcome}: {sentence(line)}"
            ET.SubElement(case, tag, {"message": said, "type": line.outcome})
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text.decode("utf-8") + "\n"


def summary(lines: Sequence[CheckLine]) -> str:
    """PASS: 12 of 12."""
    counts = Counter(line.outcome for line in lines)
    parts = [f"{counts[word]} {word}" for word in ("FAIL", "UNDECIDED", "PASS") if counts[word]]
    again = sum(line.again for line in lines)
    more = f"; {again} measured again" if again else ""
    return f"{outcome_of(lines)}: {', '.join(parts)}{more}"


def sentence(line: CheckLine) -> str:
    """1.52 µs ±1.0 %, at most 1.5 µs is allowed."""
    measured, error, allowed = _numbers(line)
    told = [f"{measured} {error}".strip()] if measured else []
    told += [f"{allowed} is allowed"] if allowed else []
    return ", ".join([*told, *filter(None, (line.why,))])


def _words(line: CheckLine) -> tuple[str, ...]:
    why = "; ".join(filter(None, (line.why, "measured again" if line.again else "")))
    return line.outcome, line.name, line.what, *_numbers(line), why


def _parts(words: Sequence[str], wide: Sequence[int]) -> list[str]:
    """Why stands in the place of numbers where there are none, and below them without room."""
    if not any(words[3:-1]):
        left = [f"{word:<{w}}" for word, w in zip(words[:3], wide[:3], strict=True)]
        return broken([_GAP.join([*left, words[-1]]).rstrip()], _BELOW)
    line = _row(words, wide)
    if len(line) <= WIDTH:
        return [line]
    return [_row([*words[:-1], ""], wide), *broken([_BELOW + words[-1]], _BELOW)]


def _sentences(lines: Sequence[CheckLine]) -> list[str]:
    """Where names leave no room for columns: what was checked, and below it what came of it."""
    text: list[str] = []
    for line in lines:
        what = f"{line.what}: " if line.what else ""
        again = "; measured again" if line.again else ""
        text += broken([f"{line.outcome:<9}  {line.name}"], _BELOW)
        text += broken([f"{_BELOW}{what}{sentence(line)}{again}"], _BELOW)
    return text


def _row(words: Sequence[str], wide: Sequence[int]) -> str:
    left = [f"{word:<{w}}" for word, w in zip(words[:3], wide[:3], strict=True)]
    right = [f"{word:>{w}}" for word, w in zip(words[3:-1], wide[3:-1], strict=True)]
    return _GAP.join([*left, *right, words[-1]]).rstrip()


def _numbers(line: CheckLine) -> tuple[str, str, str]:
    if line.value is None:
        return "", "", ""
    bound = ""
    if math.isfinite(line.allowed):
        bound = f"{'at most' if line.at_most else 'at least'} {_in_unit(line.allowed, line.unit)}"
    row = line.item.row if line.item else None
    error = row.error_text(line.value) if row else plus_minus(line.value.relative_error)
    return _in_unit(line.value.value, line.unit), error, bound


def _in_unit(value: float, unit: str) -> str:
    if unit == "s":
        return duration(value)
    if unit == "B/s":
        return f"{megabytes_per_s(value)} MB/s"
    return rate(value) if unit == "/s" else f"{number(value)} {unit}".rstrip()


def _record(line: CheckLine) -> dict[str, Any]:
    value = line.value or (math.nan, math.nan, math.nan)
    record = {
        "outcome": line.outcome,
        "name": line.name,
        "what": line.what,
        "unit": line.unit,
        **dict(zip(("value", "low", "high"), value, strict=True)),
        "allowed": line.allowed,
        "at_most": line.at_most,
        "again": line.again,
        "why": line.why,
    }
    return {name: plain(each) for name, each in record.items()}
