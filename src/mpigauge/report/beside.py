# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs of the same cells beside each other, as two MPIs: each number, and its ratio to the first.

The ends of a ratio are those of the two intervals that are farthest from each other, so it is at
least as sure as either. "slower" and "faster" are said where 1 lies outside and both intervals rest
on enough launches; each row is judged on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.row import Estimate
from mpigauge.model.units import byte_count, microseconds, number, plus_minus
from mpigauge.report.document import tables
from mpigauge.report.formats.table import heading, title

if TYPE_CHECKING:
    from mpigauge.model.record import Key
    from mpigauge.model.row import Row
    from mpigauge.report.document import Document, Table

UNDECIDED = "undecided"
Line = tuple[str, ...]
HEADS: Line = ("bytes", "MPI", "µs", "±", "ratio", "±", "")


def ratio(row: Row, first: Row) -> Estimate:
    """How many times as long as the first."""
    a, b = first.time, row.time
    return Estimate(b.value / a.value, b.low / a.high, b.high / a.low)


def verdict(row: Row, first: Row) -> str:
    """slower, faster or undecided, of the times."""
    if row.kind != "interval" or first.kind != "interval":
        return f"{UNDECIDED}: few launches"
    found = ratio(row, first)
    return "slower" if found.low > 1 else "faster" if found.high < 1 else UNDECIDED


def render(documents: Sequence[Document]) -> str:
    """Text for people. All documents are of the same plan."""
    of: dict[Key, list[Row | None]] = {}
    for place, document in enumerate(documents):
        for row in document.rows:
            of.setdefault(row.key, [None] * len(documents))[place] = row
    there = [next(row for row in rows if row is not None) for rows in of.values()]
    names = [document.facts.mpi for document in documents]
    blocks = [line for document in documents for line in heading(document.facts)]
    text = "\n".join(dict.fromkeys(blocks))
    for table in tables(there, documents[0].cards):
        text += "\n\n" + "\n".join(_table(table, of, names))
    return text + "\n"


def _table(table: Table, of: dict[Key, list[Row | None]], names: Sequence[str]) -> Iterator[str]:
    yield title(table)
    lines = [HEADS]
    for row in table.rows:
        lines += _rows(of[row.key], names)
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for words in lines:
        size, name, *numbers, last = words
        right = (f"{word:>{w}}" for word, w in zip(numbers, wide[2:-1], strict=True))
        yield f"{size:>{wide[0]}}  {name:<{wide[1]}}  {' '.join(right)}  {last}".rstrip()


def _rows(rows: Sequence[Row | None], names: Sequence[str]) -> Iterator[Line]:
    """A line for each MPI; the first has no ratio."""
    first = rows[0]
    size = byte_count(next(row for row in rows if row is not None).message_bytes)
    for name, row in zip(names, rows, strict=True):
        yield size, name, *_numbers(row, None if row is first else first)
        size = ""


def _numbers(row: Row | None, first: Row | None) -> Line:
    if row is None:
        return "", "", "", "", "not measured"
    time = microseconds(row.latency.value, row.latency.error), plus_minus(row.relative_error)
    if first is None:
        return *time, "", "", ""
    found = ratio(row, first)
    error = plus_minus(found.relative_error)
    return *time, number(found.value, found.error), error, verdict(row, first)
