# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pages and JSON that hold the output of programs, divided into these outputs.

A page of Markdown or reStructuredText is divided by its headings, a JSON text by its keys.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Headings = tuple[str, ...]
"""Headings, the outermost first."""

_LARGEST_PAGE = 1 << 22
"""The most bytes of a handwritten page; logs may be larger."""
_FENCES = (b"```", b"~~~")
_FENCE = re.compile(rb"^[ \t]*(```+|~~~+)", re.MULTILINE)
_TITLES = (b"# Benchmarking ", b"# OSU ")
_INDENTS = (b"  ", b"\t")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(\S.*)$")
_UNDERLINE = re.compile(r"^ {0,3}(?:(=)=+|(-)-+|(~)~+)\s*$")
_MINOR_HEADING = re.compile(
    r"^\s*(?:\*\*(?P<bold>[^*]+)\*\*:?|={3}[!?+]*\s+\"(?P<tab>[^\"]+)\"|<summary>(?P<fold>.+?)</summary>)\s*$"
)
_LOG_HEADING = re.compile(r"(={2,}>?|-{2,}|\*{2,}|#{2,6})\s")
_LOG_HEADING_LINE = re.compile(rb"^[ \t]*(?:={2,}>?|-{2,}|\*{2,}|#{2,6})[ \t]+\S", re.MULTILINE)
_MINOR_LEVEL = 7
"""The level of a line in bold type, of a tab and of a fold: below all headings."""
_CODE_INDENT = ("  ", "\t")
"""Possible indentation of code; in reStructuredText its width is free."""
_ESCAPED_END = b"\\n"
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*"')
_LABELS = ("name", "label", "title", "transport")
"""Keys next to a text of several lines whose values are its heading."""


def pieces_of(raw: bytes) -> dict[Headings, bytes]:
    """The outputs in a page or a JSON text, by the headings above them; empty: it is neither."""
    return _pieces_of_json(raw) or _pieces_of_page(raw)


def sections_of(raw: bytes) -> dict[Headings, bytes]:
    """The lines of a log below each heading that a script printed, `## tcp` or `==> tcp.txt <==`,
    each line in its place; empty: there is no heading."""
    if len(raw) > _LARGEST_PAGE or not _LOG_HEADING_LINE.search(raw):
        return {}
    lines = raw.split(b"\n")
    sections: dict[Headings, list[int]] = {}
    headings: dict[int, str] = {}
    for number, line in enumerate(lines):
        if heading := _heading_of_log(line.decode("utf-8", "replace").strip()):
            headings = _below(headings, *heading)
        else:
            sections.setdefault(_path(headings), []).append(number)
    return {path: _only(lines, numbers) for path, numbers in sections.items()}


def _heading_of_log(line: str) -> tuple[int, str] | None:
    """The level and the title of a heading: between marks, or behind two and more #."""
    match = _LOG_HEADING.match(line)
    title = line.strip("=-*#<> \t")
    if not match or not any(map(str.isalpha, title)):
        return None
    marks = match[1]
    if marks.startswith("#"):
        return len(marks), title
    return (_MINOR_LEVEL, title) if line.endswith(marks[0] * 2) else None


def _below(headings: Mapping[int, str], level: int, title: str) -> dict[int, str]:
    """The headings that remain in effect below one more."""
    return {of: text for of, text in headings.items() if of < level} | {level: title}


def _path(headings: Mapping[int, str]) -> Headings:
    return tuple(headings[level] for level in sorted(headings))


# --- Markdown ------------------------------------------------------------------------------------
def _pieces_of_page(raw: bytes) -> dict[Headings, bytes]:
    """The code blocks of a page by the headings above them, each line in its place; empty: the text
    is not a page."""
    if len(raw) > _LARGEST_PAGE:
        return {}
    is_fenced = any(fence in raw for fence in _FENCES) and bool(_FENCE.search(raw))
    if not is_fenced and not _has_indented_code(raw):
        return {}
    lines = raw.split(b"\n")
    pieces: dict[Headings, list[int]] = {}
    for number, headings in _code_lines(lines, is_fenced):
        pieces.setdefault(headings, []).append(number)
    return {headings: _only(lines, numbers) for headings, numbers in pieces.items()}


def _has_indented_code(raw: bytes) -> bool:
    """True if every title of a program's output is indented as code."""
    if not any(indent + title in raw for indent in _INDENTS for title in _TITLES):
        return False
    return not any(raw.startswith(title) or b"\n" + title in raw for title in _TITLES)


def _code_lines(lines: Sequence[bytes], is_fenced: bool) -> Iterator[tuple[int, Headings]]:
    """The number of each line of code, with the headings above it."""
    headings: dict[int, str] = {}
    fence = b""
    before: tuple[str, str] = ("", "")
    for number, raw in enumerate(lines):
        match = _FENCE.match(raw) if is_fenced else None
        if fence:
            if match and match[1].startswith(fence):
                fence = b""
            else:
                yield number, _path(headings)
            continue
        if match:
            fence = match[1]
            continue
        line = raw.decode("utf-8", "replace")
        if not is_fenced and line.startswith(_CODE_INDENT):
            yield number, _path(headings)
        elif heading := _heading_in(line, before):
            headings = _below(headings, *heading)
        before = (before[1], line.strip())


def _heading_in(line: str, before: tuple[str, str]) -> tuple[int, str] | None:
    """The level and the title of a heading; `before` are the two lines above it."""
    above, title = before
    if match := _HEADING.match(line):
        return len(match[1]), match[2].rstrip().rstrip("#").rstrip()
    if title and (match := _UNDERLINE.match(line)):
        mark = match[1] or match[2] or match[3]
        is_framed = above.startswith(mark * 2)
        return (0 if is_framed else 1 + "=-~".index(mark)), title
    if match := _MINOR_HEADING.match(line):
        return _MINOR_LEVEL, (match["bold"] or match["tab"] or match["fold"]).strip()
    return None


def _only(lines: Sequence[bytes], numbers: Sequence[int]) -> bytes:
    """The text in which all other lines are empty."""
    kept = [b""] * (numbers[-1] + 1)
    for number in numbers:
        kept[number] = lines[number]
    return b"\n".join(kept)


# --- JSON ----------------------------------------------------------------------------------------
def _pieces_of_json(raw: bytes) -> dict[Headings, bytes]:
    """The strings of a JSON text, or of lines with JSON in them, by the keys above them; empty: no
    string holds a text of several lines."""
    first = raw.lstrip()[:1]
    pieces: dict[Headings, list[str]] = {}
    if first in (b"{", b"[") or (len(raw) <= _LARGEST_PAGE and _has_escaped_title(raw)):
        for value in _json_values(raw, first == b"{"):
            for headings, string in _strings(value, ()):
                pieces.setdefault(headings, []).append(string.removesuffix("\n"))
    texts = {headings: "\n".join(strings) for headings, strings in pieces.items()}
    return {
        headings: text.encode("utf-8", "replace")
        for headings, text in texts.items()
        if "\n" in text and " " in text
    }


def _has_escaped_title(raw: bytes) -> bool:
    """True if a line holds a program's title and a line end as JSON escapes it."""
    if _ESCAPED_END not in raw:
        return False
    lines = (line for line in raw.splitlines() if _ESCAPED_END in line)
    return any(title in line for line in lines for title in _TITLES)


def _json_values(raw: bytes, may_be_lines: bool) -> Iterator[Any]:
    """The value of a JSON text, or those of its lines; for a line that is not JSON its strings, or
    the line itself without any."""
    try:
        yield json.loads(raw)
        return
    except (ValueError, RecursionError):
        if not may_be_lines and not _has_escaped_title(raw):
            return
    for line in raw.splitlines():
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            yield from _damaged_strings(line) or [line.decode("utf-8", "replace")]


def _damaged_strings(line: bytes) -> list[str]:
    """The strings of several lines in damaged JSON."""
    strings = []
    for literal in _STRING.findall(line) if _ESCAPED_END in line else ():
        try:
            string = json.loads(literal)
        except ValueError:
            continue
        if "\n" in string:
            strings.append(string)
    return strings


def _strings(value: Any, headings: Headings) -> Iterator[tuple[Headings, str]]:
    """All strings with the keys above them. A list of strings is a text in lines."""
    if isinstance(value, str):
        yield headings, value
    elif isinstance(value, dict):
        labels = _labels_in(value)
        for key, below in value.items():
            yield from _strings(below, (*headings, *labels, str(key)))
    elif isinstance(value, list):
        for below in value:
            yield from _strings(below, headings)


def _labels_in(value: Mapping[str, Any]) -> Headings:
    """The names next to a text of several lines, or to a list of lines."""
    has_text = any(isinstance(of, list) or "\n" in str(of).rstrip() for of in value.values())
    if not has_text:
        return ()
    return tuple(value[key] for key in _LABELS if isinstance(value.get(key), str))
