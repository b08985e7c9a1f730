# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Names of columns without what all of them have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mpigauge.model.names import CONTROL

_OWN = ("default", CONTROL)
"""Names that are nobody's setting."""
_PARTS = re.compile(r"[^-_ ,=/:.]*[-_ ,=/:.]*")
"""The parts of a name, which may be broken after any of these signs."""
_ENDS = "-_ ,=/:."


@dataclass(frozen=True)
class ShortNames:
    names: tuple[str, ...]
    """The names, shortened as far as they still differ."""
    common: str = ""
    """The common beginning that was left out of them: `MPI_BUFFER_MAX=`."""


def short_names(names: Sequence[str]) -> ShortNames:
    """The default stays as it is, whatever the names of settings begin with."""
    others = [name for name in names if name not in _OWN]
    begin, end = _in_common(others) if len(others) > 1 else ("", "")
    short = []
    for name in names:
        short.append(name if name in _OWN else _cut(name, begin, end))
    if len(set(short)) < len(names) or not all(short):
        return ShortNames(tuple(names))
    return ShortNames(tuple(short), " … ".join(filter(None, (begin, end))))


def _in_common(names: Sequence[str]) -> tuple[str, str]:
    """The common beginning and end of all names, in whole parts; something is left between them."""
    begin = _whole_parts(_common_start(names))
    if len(begin) >= min(map(len, names)):
        begin = ""
    return begin, _common_end([name[len(begin) :] for name in names])


def in_lines(name: str, width: int) -> list[str]:
    """The name in lines of this width; a part that is longer has a line of its own."""
    lines = [""]
    for part in _PARTS.findall(name):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.strip() for line in lines if line.strip()] or [""]


def _cut(name: str, begin: str, end: str) -> str:
    return name[len(begin) : len(name) - len(end)]


def _common_start(names: Sequence[str]) -> str:
    """The common beginning of all names, letter by letter: that of the first and last in sorted
    order."""
    first, last = min(names), max(names)
    for place, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return first[:place]
    return first


def _whole_parts(text: str) -> str:
    """The text up to the end of its last whole part."""
    kept = max((text.rfind(sign) for sign in _ENDS), default=-1)
    return text[: kept + 1]


def _common_end(names: Sequence[str]) -> str:
    """The common end of all names from the beginning of a part, if each name keeps something before
    it."""
    end = _common_start([name[::-1] for name in names])[::-1]
    starts = [place for place, sign in enumerate(end) if sign in _ENDS]
    kept = end[starts[0] :] if starts else ""
    if len(kept) >= min(map(len, names)):
        return ""
    return kept
