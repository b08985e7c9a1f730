# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Names of columns without what all of them have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mpigauge.model.names import CONTROL, DEFAULT
from mpigauge.model.units import listed

_SETTING = re.compile(r" (?=\S+=)")
"""The blank between two settings of a name."""
_OWN = (DEFAULT, CONTROL)
"""Names that are nobody's setting."""
_PARTS = re.compile(r"[^-_ ,=/:.]*[-_ ,=/:.]*")
"""The parts of a name, which may be broken after any of these signs."""
_ENDS = "-_ ,=/:."


@dataclass(frozen=True)
class ShortNames:
    by_name: Mapping[str, str]
    """The names, shortened as far as they still differ, by the whole ones."""
    common: str = ""
    """The predicate of a sentence on what was left out of them; empty: nothing."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.by_name.values())


def short_names(names: Sequence[str]) -> ShortNames:
    """The default stays as it is, whatever the names of settings begin with. Those that vary
    several settings are named by the values."""
    others = [name for name in names if name not in _OWN]
    short, common = _values_of(others) or _cut_names(others)
    by_name = {name: name for name in names} | dict(zip(others, short, strict=True))
    if len(set(by_name.values())) < len(by_name) or not all(short):
        return ShortNames({name: name for name in names})
    return ShortNames(by_name, common)


def _values_of(names: Sequence[str]) -> tuple[list[str], str] | None:
    """The values alone of names that all set the same several settings, without those that have one
    value everywhere: 8192, ring. None: the names are others."""
    settings = [tuple(part.partition("=") for part in _SETTING.split(name)) for name in names]
    named = {tuple(part[0] for part in of if part[1]) for of in settings}
    if len(names) < 2 or len(named) > 1 or len(settings[0]) < 2:
        return None
    if any(len(of) != len(settings[0]) or not all(part[1] for part in of) for of in settings):
        return None
    varied = []
    for place, (name, _, _) in enumerate(settings[0]):
        if len({of[place][2] for of in settings}) > 1:
            varied.append((place, name))
    if len(varied) < 2:
        return None
    short = [", ".join(of[place][2] for place, _ in varied) for of in settings]
    return short, f"are named by the values of {listed([name for _, name in varied])}."


def _cut_names(names: Sequence[str]) -> tuple[list[str], str]:
    """The names without what all of them begin and end with."""
    begin, end = _in_common(names) if len(names) > 1 else ("", "")
    common = " … ".join(filter(None, (begin, end)))
    sentence = f"are named without “{common}”." if common else ""
    return [_cut(name, begin, end) for name in names], sentence


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
