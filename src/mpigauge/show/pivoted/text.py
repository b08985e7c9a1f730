# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A pivot for people: as much of each number as the width has room for, else columns in several
rows of blocks. Lines in which nothing is decided are grey."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.screen import PLAIN
from mpigauge.model.units import dotted
from mpigauge.model.width import aligned, as_blocks, broken, right_aligned, widths
from mpigauge.show.pivoted.names import in_lines
from mpigauge.show.pivoted.words import LineWords, legend, notes_of

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen
    from mpigauge.show.pivoted.words import NumberWords, TableWords

GAP = "  "
LEAST_NAME = 12
"""Names of columns are broken into lines no narrower than this."""
_BOLD, _GREEN, _GREY, _PLAIN = "\033[1m", "\033[32m", "\033[90m", "\033[0m"


@dataclass(frozen=True)
class NumberDetail:
    """A detail of each number that is shown next to its value."""

    head: str
    word: Callable[[NumberWords], str]


_ERROR = NumberDetail("±", lambda number: number.error)
_RATIO = NumberDetail("ratio", lambda number: number.ratio)
_ENDS = NumberDetail("95 %", lambda number: number.ends)


@dataclass(frozen=True)
class Block:
    """A column of the pivot: words below each other, and what is painted."""

    name: list[str]
    head: str
    words: list[str]
    marked: list[bool]
    width: int


def render(
    tables: Sequence[TableWords],
    heading: Sequence[str] = (),
    remarks: Sequence[str] = (),
    screen: Screen = PLAIN,
) -> str:
    """Text of the tables, with what they are of above and how they were judged below."""
    room = screen.room
    blocks = [broken(heading, width=room)]
    for table in tables:
        blocks.append(list(lines_of(table, screen)))
    blocks.append(broken([*legend(tables), *notes_of(tables), *remarks], width=room))
    return as_blocks(blocks)


def lines_of(table: TableWords, screen: Screen = PLAIN) -> Iterator[str]:
    """A heading, then a line for each size; where columns do not fit side by side, several
    times."""
    lines = table.every_line
    labels = [label for (label,) in aligned([[line.label] for line in lines])]
    wide = max(map(len, labels))
    room = screen.room - wide
    blocks = _blocks(table, lines, room)
    colour = screen.coloured
    for title in broken([_title(table)], width=screen.room):
        yield _paint(title, _BOLD, colour)
    for number, group in enumerate(_groups(blocks, room)):
        if number > 0:
            yield ""
        yield from _heads(group, wide, colour)
        for at, (line, label) in enumerate(zip(lines, labels, strict=True)):
            yield _line(line, f"{label:>{wide}}", at, group, colour)


def _title(table: TableWords) -> str:
    return dotted(table.title, table.unit, f"ratio to {table.names[table.base]}")


def _blocks(table: TableWords, lines: Sequence[LineWords], room: int) -> list[Block]:
    """The blocks of all columns, with the intervals of ratios if they fit."""
    usual = [_ERROR, _RATIO] if table.knows_errors else [_RATIO]
    full = [_block(table, place, lines, [*usual, _ENDS]) for place in range(len(table.names))]
    if sum(block.width + len(GAP) for block in full) <= room:
        return full
    return [_block(table, place, lines, usual) for place in range(len(table.names))]


def _block(
    table: TableWords, place: int, lines: Sequence[LineWords], shown: Sequence[NumberDetail]
) -> Block:
    numbers = [line.numbers[place] for line in lines]
    marks = [bool(number.mark) for number in numbers]
    columns = [[_value_head(table, any(marks))]]
    for number in numbers:
        columns[0].append(_marked(number, any(marks)))
    for part in shown:
        words = [part.word(number) for number in numbers]
        if any(words):
            columns.append([part.head, *words])
    rows = aligned(list(zip(*columns, strict=True)))
    wide = widths(zip(*columns, strict=True))
    head, *joined = [right_aligned(words, wide) for words in rows]
    name = in_lines(table.names[place], max(len(head), LEAST_NAME))
    return Block(name, head, joined, marks, max(len(head), *map(len, name)))


def _marked(number: NumberWords, marked: bool) -> str:
    """The value, with room for a mark if others of the column have one."""
    if marked:
        return f"{number.value}{number.mark or ' '}"
    return number.value


def _value_head(table: TableWords, marked: bool) -> str:
    """The unit stands above the digits, not above the marks."""
    return f"{table.unit}{' ' * marked}"


def _groups(blocks: Sequence[Block], room: int) -> Iterator[list[Block]]:
    """Groups of blocks that fit side by side."""
    group: list[Block] = []
    left = room
    for block in blocks:
        if group and block.width + len(GAP) > left:
            yield group
            group, left = [], room
        group.append(block)
        left -= block.width + len(GAP)
    yield group


def _heads(group: Sequence[Block], wide: int, colour: bool) -> Iterator[str]:
    """Names of columns end in the same line, right above what they are the names of."""
    high = max(len(block.name) for block in group)
    columns = []
    for block in group:
        empty = [""] * (high - len(block.name))
        columns.append([*empty, *block.name, block.head])
    room = [block.width for block in group]
    for words in zip(*columns, strict=True):
        text = " " * wide + GAP + right_aligned(words, room, GAP)
        yield _paint(text.rstrip(), _BOLD, colour)


def _line(line: LineWords, label: str, at: int, group: Sequence[Block], colour: bool) -> str:
    undecided = line.outcome == "undecided"
    cells = [label]
    for block in group:
        word = f"{block.words[at]:>{block.width}}"
        if block.marked[at] and not undecided:
            word = _paint(word, _GREEN, colour)
        cells.append(word)
    text = GAP.join(cells).rstrip()
    if undecided:
        return _paint(text, _GREY, colour)
    return text


def _paint(text: str, code: str, colour: bool) -> str:
    if colour:
        return f"{code}{text}{_PLAIN}"
    return text
