# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Blocks of pairs of ranks: one record for all pairs that measured side by side, and its cells."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mpigauge.model.columns import Cell
from mpigauge.model.record import CellRecord, PairBlock, Record, in_vocabulary, nothing_known

_FLOAT_BYTES = 4
ALL = "all"
"""The schedule of every two ranks, as many pairs side by side as there can be."""
MOST_RANKS_IN_DETAIL = 256
"""Ranks up to which kernels write every column of a pair (kernels/driver/pair_rows.hpp)."""


def spread(records: Iterable[Record]) -> Iterator[Record]:
    """The records, with the cells of each block of pairs instead of the block."""
    for record in records:
        if isinstance(record, PairBlock):
            yield from cells_of(record)
        else:
            yield record


def is_large(block: PairBlock) -> bool:
    """True if it is of a job of so many ranks that a cell for each pair would take much memory."""
    return block.world_ranks > MOST_RANKS_IN_DETAIL


def cells_of(block: PairBlock, places: Sequence[int] | None = None) -> list[CellRecord]:
    """A cell for each pair of the block, or for those at these places. ValueError: it is not a
    valid block."""
    pairs = pairs_of(block)
    common = {**nothing_known(), **block.key, **block.shared, "launch": block.launch}
    columns = {name: values_of(block, name, len(pairs)) for name in block.columns}
    cells = []
    for number in range(len(pairs)) if places is None else places:
        first, second = pairs[number]
        own = {name: values[number] for name, values in columns.items()}
        own |= {"group": number, "members": f"{first},{second}"}
        cell = Cell.from_record(in_vocabulary(common | own))
        raw = block.raw[number] if block.raw else None
        cells.append(CellRecord(cell, raw if raw and raw.chunks else None))
    return cells


def check(block: PairBlock) -> None:
    """ValueError: its columns are not those of its pairs."""
    pairs = pairs_of(block)
    for name in block.columns:
        values_of(block, name, len(pairs))


def pairs_of(block: PairBlock) -> list[tuple[int, int]]:
    """The ranks of each pair. ValueError: they are neither listed nor follow from a schedule."""
    if block.pairing == ALL:
        pairs = pairs_of_round(block.round, block.world_ranks)
    elif block.pairing:
        raise ValueError(f"the pairs record has a pairing unknown to this version: {block.pairing}")
    elif len(block.pairs) % 2:
        raise ValueError("the pairs record has a rank without a partner")
    else:
        pairs = list(zip(block.pairs[::2], block.pairs[1::2], strict=True))
    if block.raw and len(block.raw) != len(pairs):
        raise ValueError(f"the pairs record has samples of {len(block.raw)} of {len(pairs)} pairs")
    return pairs


def pairs_of_round(number: int, ranks: int) -> list[tuple[int, int]]:
    """The pairs of a round of a tournament, as kernels/core/pairs.cpp makes them: rank 0 stays in
    its chair, all others move on by one, and who sit opposite meet."""
    chairs = ranks + ranks % 2
    moving = chairs - 1
    pairs = []
    for chair in range(chairs // 2):
        one = 0 if chair == 0 else 1 + (chair - 1 + number) % moving
        other = 1 + (chairs - 2 - chair + number) % moving
        if one < ranks and other < ranks:
            pairs.append((min(one, other), max(one, other)))
    return pairs


def column_of(block: PairBlock, name: str, pairs: int) -> Sequence[Any]:
    """The values of a column in all cells, whether these share it or not."""
    if name in block.columns:
        return values_of(block, name, pairs)
    return [block.shared[name] if name in block.shared else nothing_known()[name]] * pairs


def values_of(block: PairBlock, name: str, pairs: int) -> Sequence[Any]:
    """The values of a column in so many cells. ValueError: there are more, or fewer."""
    values = block.columns[name]
    if isinstance(values, str):
        packed = base64.b64decode(values, validate=True)
        if len(packed) != pairs * _FLOAT_BYTES:
            raise ValueError(f"the pairs record has {len(packed)} bytes of {name}")
        values = struct.unpack(f"<{pairs}f", packed)
    elif isinstance(values, Mapping):
        if name not in block.shared:
            raise ValueError(f"the pairs record has no {name} of most pairs")
        common = block.shared[name]
        values = [values.get(str(number), common) for number in range(pairs)]
    if len(values) != pairs:
        raise ValueError(f"the pairs record has {len(values)} values of {name} for {pairs} pairs")
    return list(values)
