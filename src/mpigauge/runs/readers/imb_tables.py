# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Converts the lines below headings of IMB to tables of numbers, for a whole text at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.record import Skip
from mpigauge.runs.readers.imb_columns import Shape, is_rate_alone, stored
from mpigauge.runs.readers.imb_rows import WIDTH, parse_regular, split_rows
from mpigauge.runs.readers.reading import TextTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mpigauge.model.cards import Card
    from mpigauge.runs.readers.imb_heading import Heads

    Numbers = NDArray[np.float64]


@dataclass(slots=True)
class TableDraft:
    """A table as read from the text."""

    card: Card
    shape: Shape
    heads: Heads
    fixed: dict[str, Any]
    regular: bytes = b""
    """Rows of full width, which come first."""
    rows: list[tuple[float, ...]] = field(default_factory=list)
    """Other rows."""
    label: str | None = None
    """The word before rows without a heading; None: there is a heading."""
    is_old: bool = False
    """True if it may be from a version with megabytes of 2^20 bytes."""
    numbers: Numbers | None = None
    """All rows, columns × rows, once the text has been read."""

    @property
    def printed(self) -> dict[str, Numbers]:
        assert self.numbers is not None
        return dict(zip(self.heads, self.numbers, strict=True))


def finished(drafts: Sequence[TableDraft]) -> tuple[tuple[TextTable, ...], tuple[Skip, ...]]:
    """The tables, and skips for the rows without a time. IrregularError: see imb_rows."""
    tables: list[TextTable] = []
    skips: list[Skip] = []
    for draft, numbers, is_plain in _numbers(drafts):
        rows = numbers
        if not is_plain:
            timed = _timed(draft, numbers)
            skips += _untimed(draft, numbers[:, ~timed])
            rows = numbers[:, timed]
        columns = partial(_columns, draft, rows)
        tables.append(TextTable(draft.fixed, rows.shape[1], columns, is_distinct=is_plain))
    return tuple(tables), tuple(skips)


def _numbers(drafts: Sequence[TableDraft]) -> Iterator[tuple[TableDraft, Numbers, bool]]:
    """Each draft with its columns × rows, and True if its rows are known to be timed and distinct.
    Regular rows are parsed all at once."""
    import numpy as np

    by_heads: dict[Heads, list[TableDraft]] = {}
    for draft in drafts:
        by_heads.setdefault(draft.heads, []).append(draft)
    parts = {heads: _regular(of, heads) for heads, of in by_heads.items()}
    for draft in drafts:
        numbers, is_plain = next(parts[draft.heads])
        if draft.rows:
            numbers, is_plain = np.hstack([numbers, np.array(draft.rows).T]), False
        draft.numbers = numbers
        yield draft, numbers, is_plain


def _regular(drafts: Sequence[TableDraft], heads: Heads) -> Iterator[tuple[Numbers, bool]]:
    """The regular rows of these drafts, one after the other."""
    counts = _counts(drafts, heads)
    numbers = parse_regular(b"".join(draft.regular for draft in drafts), heads)
    is_plain = "#bytes" in heads and _ascends(numbers, heads, counts)
    is_plain = is_plain and not is_rate_alone(heads)
    return ((part, is_plain) for part in split_rows(numbers, counts))


def _ascends(numbers: Numbers, heads: Heads, counts: Sequence[int]) -> bool:
    """True if sizes grow within every table."""
    import numpy as np

    grows = np.diff(numbers[heads.index("#bytes")]) > 0
    first = np.cumsum(counts)[:-1] - 1
    grows[first[(first >= 0) & (first < len(grows))]] = True
    return bool(grows.all())


def _counts(drafts: Sequence[TableDraft], heads: Heads) -> list[int]:
    width = WIDTH * len(heads) + 1
    return [len(draft.regular) // width for draft in drafts]


def _columns(draft: TableDraft, numbers: Numbers) -> dict[str, Any]:
    return stored(draft.card, draft.shape, dict(zip(draft.heads, numbers, strict=True)))


def _timed(draft: TableDraft, numbers: Numbers) -> NDArray[np.bool_]:
    """A mask of the rows with a time: -iter 0 prints inf, and a rate of zero has none."""
    import numpy as np

    timed = np.asarray(np.isfinite(numbers).all(axis=0), dtype=np.bool_)
    timed &= numbers[draft.heads.index("#repetitions")] >= 0
    if is_rate_alone(draft.heads):
        timed &= numbers[draft.heads.index("Msg/sec")] > 0
    return timed


def _untimed(draft: TableDraft, numbers: Numbers) -> Iterator[Skip]:
    key = {name: draft.fixed[name] for name in KEY_COLUMNS if name in draft.fixed}
    for row in numbers.T.tolist():
        printed = dict(zip(draft.heads, row, strict=True))
        size = int(printed.get("#bytes", -1))
        reason = f"IMB prints no time for {int(printed['#repetitions'])} repetitions"
        infinite = [f"{value} in {head}" for head, value in printed.items() if not isfinite(value)]
        if infinite:
            reason += f": {', '.join(infinite)}"
        yield Skip(draft.fixed["launch"], key | {"message_bytes": size}, reason)
