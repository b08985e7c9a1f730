# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Text for 80 columns: long lines are wrapped, long names lose their middle, which is marked."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any

WIDTH = 80
CUT = "…"
_ERROR = re.compile(r"±[<>]?[\d.]+ %")
_NAMESPACE = re.compile(r"\w+::(?=\w)")
_LINE_END = re.compile("\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]")
_SIZE = re.compile(r"\d+ (B|KiB|MiB|GiB)")


def broken(lines: Iterable[str], indent: str = "  ", width: int = WIDTH) -> list[str]:
    """The lines, wrapped to the width; words that cannot be broken keep their length."""
    parts: list[str] = []
    for line in lines:
        parts += _parts(line, indent, width)
    return parts


def shortened(names: Sequence[str], width: int) -> Sequence[str]:
    """The names, shortened to the width if they remain distinct; else unchanged."""
    short = [_shortened(name, width) for name in names]
    if len(set(short)) == len(set(names)):
        return short
    return names


def cut_apart(names: Sequence[str], width: int) -> list[str]:
    """Returns the names, shortened to the width; two names that differ remain distinct."""
    short = [_shortened(name, width) for name in names]
    alike: dict[str, dict[str, None]] = {}
    for name, text in zip(names, short, strict=True):
        alike.setdefault(text, {})[name] = None
    for text, of in alike.items():
        if len(of) > 1:
            apart = _cut_around_difference(list(of), width)
            short = [
                apart.get(name, other) if other == text else other
                for name, other in zip(names, short, strict=True)
            ]
    return short


def _cut_around_difference(names: Sequence[str], width: int) -> dict[str, str]:
    """Returns names that look alike when cut in the middle, with the part in which they differ;
    with numbers if that is not enough."""
    room = width - 2 * len(CUT)
    begin = part = room // 3
    end = room - begin - part
    first = max(begin, _length_in_common(names) - part // 3)
    short: dict[str, str] = {}
    for name in names:
        middle = name[first : first + part]
        short[name] = name[:begin] + CUT + middle + CUT + name[len(name) - end :]
    if len(set(short.values())) == len(names):
        return short
    numbered: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        tag = f"{CUT}{number}"
        numbered[name] = name[: width - len(tag)] + tag
    return numbered


def _length_in_common(names: Sequence[str]) -> int:
    """Returns the number of characters with which all names begin."""
    letters = zip(*names, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, letters))


def aligned(lines: Sequence[Sequence[str]]) -> list[list[str]]:
    """Columns of words in which ± is below ±, and the unit of a size below the others, to be
    right-aligned."""
    columns = [_aligned(column) for column in zip(*lines, strict=True)]
    return [list(line) for line in zip(*columns, strict=True)]


def widths(lines: Iterable[Sequence[str]]) -> list[int]:
    """The width of each column of these lines of words: that of its longest word."""
    return [max(len(word) for word in column) for column in zip(*lines, strict=True)]


def left_aligned(words: Sequence[str], wide: Sequence[int], gap: str = "  ") -> str:
    """The words in columns of these widths, left-aligned."""
    return gap.join(f"{word:<{w}}" for word, w in zip(words, wide, strict=True)).rstrip()


def right_aligned(words: Sequence[str], wide: Sequence[int], gap: str = " ") -> str:
    """The words in columns of these widths, right-aligned."""
    return gap.join(f"{word:>{w}}" for word, w in zip(words, wide, strict=True))


def as_blocks(blocks: Iterable[Sequence[str]]) -> str:
    """The text of blocks of lines, separated by an empty line; empty blocks are omitted."""
    texts = ["\n".join(map(one_line, block)) for block in blocks if block]
    return "\n\n".join(texts) + "\n"


def wrap(text: str, width: int, **how: Any) -> list[str]:
    """The text in lines of this width, as `textwrap.wrap` makes them, even if names hold line
    ends."""
    return textwrap.wrap(one_line(text), width, **how)


def one_line(text: str) -> str:
    """The text in a line of its own, whatever names it holds: line ends are shown as \ufffd."""
    return _LINE_END.sub("\ufffd", text)


def _aligned(words: Sequence[str]) -> Sequence[str]:
    wide = longest = 0
    for word in words:
        if _ERROR.fullmatch(word):
            wide = max(wide, len(word))
        elif size := _SIZE.fullmatch(word):
            longest = max(longest, len(size[1]))
    return [_set(word, wide, longest) for word in words]


def _set(word: str, wide: int, longest: int) -> str:
    """The word, padded: an error to this width, or the number of a size to this many digits."""
    if _ERROR.fullmatch(word):
        return f"±{word[1:]:>{wide - 1}}"
    if _SIZE.fullmatch(word):
        count, _, unit = word.partition(" ")
        return f"{count} {unit:<{longest}}"
    return word


def _parts(line: str, indent: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    return wrap(line, width, subsequent_indent=indent, break_long_words=False,
                break_on_hyphens=False)  # fmt: skip


def _shortened(name: str, width: int) -> str:
    """The name, shortened to the width. Its end distinguishes settings, so more than half of the
    kept part is from there. The namespaces of a C++ name go first."""
    while len(name) > width and (match := _NAMESPACE.match(name)):
        name = name[match.end() :]
    if len(name) <= width:
        return name
    begin = (width - len(CUT)) // 2
    return name[:begin] + CUT + name[len(name) - (width - len(CUT) - begin) :]
