# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints tables of a profile in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpigauge.model.width import WIDTH, cut_apart

LEAST_NAME = 12


def table_lines(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int = WIDTH,
    cut: int = 0,
    left: Sequence[int] = (0,),
) -> Iterator[str]:
    """Yields columns as wide as their widest word, numbers right-aligned; names in the column `cut`
    are shortened to fit the width."""
    wide = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    too_wide = sum(wide) + 2 * (len(wide) - 1) - width
    wide[cut] = min(wide[cut], max(wide[cut] - too_wide, LEAST_NAME))
    names = cut_apart([words[cut] for words in (heads, *rows)], wide[cut])
    for words, name in zip((heads, *rows), names, strict=True):
        fitted = [*words[:cut], name, *words[cut + 1 :]]
        for at, room in enumerate(wide):
            fitted[at] = fitted[at].ljust(room) if at in left else fitted[at].rjust(room)
        yield "  ".join(fitted).rstrip()


def without_unknown(
    heads: Sequence[str], rows: Sequence[Sequence[str]], names: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Returns heads and rows without those of the named columns that are empty."""
    kept = [at for at, head in enumerate(heads)
            if head not in names or any(row[at] for row in rows)]  # fmt: skip
    return [heads[at] for at in kept], [[row[at] for at in kept] for row in rows]
