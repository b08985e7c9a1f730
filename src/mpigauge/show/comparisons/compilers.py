# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The simple loops by several compilers: one table, and how each compiler names itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mpigauge.model.units import UNKNOWN, byte_count, number, with_commas
from mpigauge.model.width import broken
from mpigauge.show.comparisons.beside import fitting, joined, numbers_of, remarks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.compare.comparison import ComparedNumber, Comparison, ComparisonTable
    from mpigauge.show.comparisons.beside import Words

HEADING = "Simple loops by compilers"
HEADS = ("", "", "GB/s", "µs", "±", "ratio", "95 %", "")


def compiler_lines(comparison: Comparison, accounts: Mapping[str, str]) -> list[str]:
    """A line for each loop, size, number of ranks and compiler."""
    rows: list[Words] = [HEADS]
    for table in comparison.tables:
        rows += text_rows(table, comparison.names)
    identities = [f"  {name}: {words}" for name, words in accounts.items()]
    return [
        HEADING,
        *joined(fitting(rows)),
        *broken(identities, indent=" " * 4),
        *broken(_open(comparison)),
        *broken(remarks(comparison)),
    ]


def _open(comparison: Comparison) -> Iterator[str]:
    """Yields the sentence on compilers without a verdict, each reason once."""
    reasons = dict.fromkeys(entry.undecided for entry in comparison.entries)
    reasons.pop("", None)
    if reasons:
        yield f"UNDECIDED: {'; '.join(reasons)}."


def text_rows(table: ComparisonTable, names: Sequence[str]) -> Iterator[Words]:
    """The loop is named once."""
    for line in table.lines:
        what = _what(line[0])
        for name, entry in zip(names, line, strict=True):
            yield what, name, _bandwidth(entry), *numbers_of(entry)
            what = ""


def _what(first: ComparedNumber) -> str:
    item = first.item
    if item is None or item.row is None:
        return ""
    cell = item.row.cell
    words = [f"{cell.benchmark} {byte_count(item.message_bytes)}"]
    if cell.ranks > 1:
        words.append(f"{cell.ranks} ranks")
    if cell.threads > 1:
        words.append(f"{cell.threads} threads")
    return with_commas(*words, cell.settings)


def _bandwidth(entry: ComparedNumber) -> str:
    row = entry.item.row if entry.item else None
    if row is None or not row.bandwidth:
        return UNKNOWN
    return number(row.bandwidth.value * 1e-9)
