# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The times of a stored map, without a record for each of its very many pairs.

Cells of a map share nearly all of their columns, so a line is split into the part that it shares
with others, which is decoded once, and a few numbers. A quoted name cannot occur inside a JSON
string, where quotes are escaped, so it can be searched for. Lines that cannot be split like this,
and cells of more than two ranks, are left to other readers.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.pair_block import ALL, cells_of, column_of, pairs_of
from mpigauge.model.record import CellRecord, PairBlock, decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from mpigauge.model.columns import Cell

_MEMBERS, _REST, _FLAGS, _WRONG = b'"members":"', b'"calls":', b'"flags":[', b'"wrong_count":'
_TIME, _LOW, _HIGH = b'"time_p50_s":', b'"ci_low_s":', b'"ci_high_s":'
_CELL, _BLOCK = b'{"record":"cell"', b'{"record":"pairs"'
MOST_TIMES = 2_000_000
"""Pairs of a map, at all of its sizes, up to which each is looked at. Of more, all pairs of some
rounds are, since every rank is in each round, and the slowest pair of each other round."""


class PairTime(NamedTuple):
    """One cell of two ranks in one launch; times are of a call, in seconds."""

    first: int
    second: int
    """Ranks, the smaller first."""
    time_s: float
    low_s: float
    high_s: float
    flags: tuple[str, ...]
    wrong_count: int
    line: int
    """The number of its line, from 0 and without empty ones."""
    place: int = 0
    """Its place in the block that the line holds."""


@dataclass
class PairTimes:
    """All cells that share every column except their ranks and the measured values."""

    shared: Cell
    """One of them."""
    times: list[PairTime]


class StoredPairs(NamedTuple):
    kinds: list[PairTimes]
    others: list[int]
    """Numbers of the lines that are not cells."""


def read_pairs(file: Path) -> StoredPairs | None:
    """The pairs in a file of records; None: a cell in it is not a pair, or not in the kernels'
    format. OSError: it cannot be read."""
    kinds: dict[bytes, PairTimes] = {}
    others = []
    for number, line in _lines(file):
        try:
            if line.startswith(_CELL):
                _add(kinds, number, line)
            elif line.startswith(_BLOCK):
                _add_block(kinds, number, _block_in(line))
            else:
                others.append(number)
        except ValueError:
            return None
    return StoredPairs(list(kinds.values()), others)


def pairs_in(blocks: Iterable[PairBlock]) -> list[PairTimes]:
    """The pairs of these blocks."""
    kinds: dict[bytes, PairTimes] = {}
    for number, block in enumerate(blocks):
        _add_block(kinds, number, block)
    return list(kinds.values())


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    with file.open("rb") as lines:
        yield from enumerate(line for line in lines if not line.isspace())


def _add(kinds: dict[bytes, PairTimes], number: int, line: bytes) -> None:
    """Adds the cell in this line. ValueError: it is not a pair, or cannot be split."""
    start = line.index(_MEMBERS) + len(_MEMBERS)
    end = line.index(b'"', start)
    rest = line.index(_REST, end)
    head = line[:start] + line[end:rest]
    kind = kinds.get(head)
    if kind is None:
        kind = kinds[head] = PairTimes(_decoded(line), [])
    one, _, other = line[start:end].partition(b",")
    first, second = int(one), int(other)
    flags = line.index(_FLAGS, rest) + len(_FLAGS)
    wrong = line.index(_WRONG, flags)
    time = line.index(_TIME, wrong)
    kind.times.append(
        PairTime(
            min(first, second),
            max(first, second),
            _number(line, time + len(_TIME)),
            _number(line, line.index(_LOW, time) + len(_LOW)),
            _number(line, line.index(_HIGH, time) + len(_HIGH)),
            _words(line, flags),
            int(line[wrong + len(_WRONG) : line.index(b",", wrong)]),
            number,
        )
    )


def _block_in(line: bytes) -> PairBlock:
    """ValueError: it is not a block of pairs."""
    record = decode(line.decode("utf-8"))
    if not isinstance(record, PairBlock):
        raise ValueError("it is not a block of pairs")
    return record


def _add_block(kinds: dict[bytes, PairTimes], number: int, block: PairBlock) -> None:
    """Adds the cells of a block. ValueError: it is not a valid block."""
    head = json.dumps([block.launch, block.key], sort_keys=True).encode()
    kind = kinds.get(head)
    if kind is None:
        kind = kinds[head] = PairTimes(cells_of(block, [0])[0].cell, [])
    pairs = pairs_of(block)
    times, flags, wrong = (
        column_of(block, name, len(pairs)) for name in ("time_p50_s", "flags", "wrong_count")
    )
    lows, highs = (
        [math.nan if end is None else end for end in column_of(block, name, len(pairs))]
        for name in ("ci_low_s", "ci_high_s")
    )
    places: Iterable[int] = range(len(pairs))
    if not _is_looked_at(block, len(pairs)):
        places = [max(places, key=times.__getitem__)]
    for place in places:
        first, second = sorted(pairs[place])
        kind.times.append(
            PairTime(
                first,
                second,
                times[place],
                lows[place],
                highs[place],
                tuple(flags[place]),
                wrong[place],
                number,
                place,
            )
        )


def _is_looked_at(block: PairBlock, pairs: int) -> bool:
    """True if each pair of the round is looked at: of every round if they are not too many, else of
    evenly spread ones."""
    if block.pairing != ALL:
        return True
    rounds = block.world_ranks - 1
    step = -(-pairs * rounds // MOST_TIMES)
    return block.round % step == 0


def _decoded(line: bytes) -> Cell:
    """ValueError: it is not the record of a cell."""
    record = decode(line.decode("utf-8"))
    if not isinstance(record, CellRecord):
        raise ValueError("it is not a cell")
    return record.cell


def _number(line: bytes, start: int) -> float:
    text = line[start : line.index(b",", start)]
    return math.nan if text == b"null" else float(text)


def _words(line: bytes, start: int) -> tuple[str, ...]:
    """The strings of a list, which is usually empty."""
    end = line.index(b"]", start)
    if end == start:
        return ()
    return tuple(word.strip(b'" ').decode("utf-8") for word in line[start:end].split(b","))
