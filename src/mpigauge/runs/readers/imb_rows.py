# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rows of IMB's tables as numbers.

If rows have IMB's format, fields of 13 characters each, all rows of a text are parsed at once:
digits become numbers column by column. Others are parsed field by field.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

WIDTH = 13
DIGITS = 2
"""Digits after the decimal point."""
WHOLE = frozenset(("Group", "#bytes", "#repetitions", "Msg/sec"))
_IN_FIELDS = b"0123456789 "
"""The characters of fields; without them a row is its points and its line end."""
_AT_ONCE = 8192
_POINT = WIDTH - DIGITS - 1
_BLANK, _LOW = 32, 15


class IrregularError(ValueError):
    """Raised if rows that look regular are not."""


@cache
def row_pattern(heads: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern for a row of these columns anywhere in a line, between blanks; times have two
    decimals."""
    fields = (
        r"(-?\d+)" if head in WHOLE else rf"(-?\d+\.\d{{{DIGITS}}}|-?inf|-?nan)" for head in heads
    )
    return re.compile(r"(?<!\S)" + r"[ \t]+".join(fields) + r"(?!\S)")


@cache
def _points(heads: tuple[str, ...]) -> tuple[int, ...]:
    """The offsets of the decimal points in a regular row."""
    points = []
    for i, head in enumerate(heads):
        if head not in WHOLE:
            points.append(WIDTH * i + _POINT)
    return tuple(points)


def regular_rows(data: bytes, start: int, heads: tuple[str, ...]) -> int:
    """The number of rows of full width in `data` from `start` on, up to an empty line or a #.

    Usually the empty line is the one before the #, which is faster to test than to search for.
    """
    comment = data.find(b"#", start)
    limit = comment if comment >= 0 else len(data)
    if data[limit - 2 : limit] == b"\n\n" and (rows := _full_rows(data[start : limit - 1], heads)):
        return rows
    blank = data.find(b"\n\n", start, limit)
    return _full_rows(data[start : blank + 1 if blank >= 0 else limit], heads)


def _full_rows(chunk: bytes, heads: tuple[str, ...]) -> int:
    """The number of full rows in the chunk; 0: it holds anything else."""
    width = WIDTH * len(heads) + 1
    rows, rest = divmod(len(chunk), width)
    points = _points(heads)
    bare = b"." * len(points) + b"\n"
    if rest or chunk.translate(None, _IN_FIELDS) != bare * rows:
        return 0
    if chunk[width - 1 :: width] != b"\n" * rows:
        return 0
    for place in points:
        if chunk[place::width] != b"." * rows:
            return 0
    return rows


def parse_regular(data: bytes, heads: Sequence[str]) -> NDArray[np.float64]:
    """The columns × rows of regular rows. IrregularError: a number has a blank in it."""
    import numpy as np

    width = WIDTH * len(heads) + 1
    lines = np.frombuffer(data, np.uint8).reshape(-1, width)
    numbers = np.empty((len(heads), len(lines)))
    for first in range(0, len(lines), _AT_ONCE):
        characters = np.ascontiguousarray(lines[first : first + _AT_ONCE].T)
        for i, head in enumerate(heads):
            field = characters[WIDTH * i : WIDTH * (i + 1)]
            numbers[i, first : first + _AT_ONCE] = _numbers(field, head in WHOLE)
    return numbers


def _numbers(field: NDArray[np.uint8], whole: bool) -> NDArray[np.float64]:
    """The numbers of one column, from its characters: an array row for each place."""
    import numpy as np

    decimals = 0 if whole else DIGITS
    places = [place for place in range(WIDTH) if whole or place != _POINT]
    digits = field[places]
    blank = digits == _BLANK
    if blank[-1 - decimals :].any() or (blank[1:] & ~blank[:-1]).any():
        raise IrregularError("a number has a blank in it")
    weights = 10.0 ** np.arange(len(places) - 1, -1, -1)
    value = weights @ (digits & _LOW).astype(np.float64)  # exact: below 2**53
    numbers: NDArray[np.float64] = value / 10**decimals
    return numbers


def split_rows(
    numbers: NDArray[np.float64], counts: Sequence[int]
) -> Iterator[NDArray[np.float64]]:
    """Splits the rows in one array by table."""
    first = 0
    for count in counts:
        yield numbers[:, first : first + count]
        first += count
