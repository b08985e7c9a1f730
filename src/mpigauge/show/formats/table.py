# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The tables for people: every number with its error, and in words what is suspicious about it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.bus_bandwidth import is_shown
from mpigauge.model.columns import COLUMNS
from mpigauge.model.flags import legend, letters
from mpigauge.model.row_tables import row_tables
from mpigauge.model.screen import PLAIN
from mpigauge.model.units import (
    byte_count,
    megabytes_per_s,
    microseconds,
    number,
    plus_minus,
    rate,
)
from mpigauge.model.width import (
    WIDTH,
    aligned,
    as_blocks,
    broken,
    left_aligned,
    right_aligned,
    widths,
)
from mpigauge.show.ending import RED, YELLOW, bold, ending, painted
from mpigauge.show.heading import (
    brief_heading,
    data_lines,
    heading,
    limits_lines,
    note_lines,
    remark_lines,
)
from mpigauge.show.shape import shape
from mpigauge.show.titles import as_printed, resting_on, title

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.model.columns import Cell
    from mpigauge.model.columns import Column as Stored
    from mpigauge.model.row import Estimate, Row
    from mpigauge.model.row_tables import RowTable
    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document
    from mpigauge.result.stats.figures import FigureRow

ABOUT = "tables for people (the default)"
ROUND_TRIPS = ("mpi_latency", "ping_pong")
"""Benchmarks whose users want the whole round trip beside its half."""


class TableColumn(NamedTuple):
    head: str
    text: Callable[[Row], str]


def render(document: Document, screen: Screen = PLAIN) -> str:
    colour = screen.coloured
    blocks = [_heading_of(document)]
    for table in document.tables():
        if table.rows:
            blocks.append(table_lines(table, screen))
    blocks.append(note_lines(document, colour))
    blocks.append(figure_lines(document.figure_rows, colour))
    blocks.append(data_lines(document))
    blocks.append(limits_lines(document, colour))
    blocks += ending(document, colour)
    return as_blocks(blocks)


def remarks(document: Document, screen: Screen = PLAIN) -> str:
    """All remarks on a run, which its tables count."""
    lines = remark_lines(document, screen.coloured) or ["There are no remarks on this run."]
    return as_blocks([_heading_of(document), lines])


def _heading_of(document: Document) -> list[str]:
    if document.whole:
        return broken(heading(document.facts))
    return brief_heading(document.facts)


# --- tables ---------------------------------------------------------------------------------
def rows_as_lines(document: Document, rows: Sequence[Row], screen: Screen = PLAIN) -> list[str]:
    """The tables of these rows, for who shows them while they are measured."""
    lines: list[str] = []
    for table in row_tables(rows, document.cards):
        lines += ["", *table_lines(table, screen)]
    return lines[1:]


def table_lines(table: RowTable, screen: Screen = PLAIN) -> list[str]:
    colour = screen.coloured
    *first, last = broken([title(table)])
    heads, *cells = aligned(_fitting(text_rows(table), screen.room if screen.live else WIDTH))
    wide = widths([heads, *cells])
    lines = [bold(part, colour) for part in first]
    lines.append(bold(last, colour) + shape(table.rows, len(last), screen))
    lines.append(bold(_joined(heads, wide), colour))
    for words, row in zip(cells, table.rows, strict=True):
        lines.append(painted(_joined(words, wide), _colour_of(row), colour))
    return lines


def _fitting(lines: list[list[str]], room: int) -> list[list[str]]:
    """The lines without the number of samples, then without the reason for the end, if columns do
    not fit side by side; files have both."""
    for column in (_SAMPLES, _STOP):
        wide = sum(widths(lines)) + len(lines[0]) - 1
        if wide > room and column.head in lines[0]:
            place = lines[0].index(column.head)
            lines = [line[:place] + line[place + 1 :] for line in lines]
    return lines


def text_rows(table: RowTable, escape: Callable[[str], str] = str) -> list[list[str]]:
    """The heads of the columns that say anything, then the words of each row; `escape`: how words
    are written in markup."""
    columns = [column for column in _columns(table) if any(map(column.text, table.rows))]
    lines = [[escape(column.head) for column in columns]]
    for row in table.rows:
        lines.append([escape(column.text(row)) for column in columns])
    return lines


def notes_of(document: Document) -> list[str]:
    """The legend of flags, and every sentence, for formats without a screen."""
    flags = legend(document.rows)
    if not flags:
        return list(document.sentences)
    return [f"Flags: {', '.join(flags)}", *document.sentences]


def figure_lines(figures: Sequence[FigureRow], colour: bool = False) -> list[str]:
    """Numbers that are not times, one a line, with the error of those of several launches."""
    rows = figure_rows(figures)
    wide = widths(rows)
    lines = [left_aligned(words, wide) for words in rows]
    return [bold(line, colour) for line in lines[:1]] + lines[1:]


def figure_rows(figures: Sequence[FigureRow]) -> list[list[str]]:
    """The words of a table of figures, its heads first, without columns that nothing fills; empty:
    there is no figure."""
    rows = [_figure_words(row) for row in figures]
    shown = [place for place, column in enumerate(zip(*rows, strict=True)) if any(column)]
    return [[words[place] for place in shown] for words in (_FIGURE_HEADS, *rows) if shown]


_FIGURE_HEADS = ("figure of", "what", "ranks", "rank", "placement", "setting", "source", "value",
                 "±", "launches", "unit")  # fmt: skip


def _figure_words(row: FigureRow) -> list[str]:
    of, many = row.figure, len(row.values)
    rank = str(of.rank) if of.rank >= 0 else ""
    error, launches = (row.error_words, str(many)) if many > 1 else ("", "")
    return [
        *(of.benchmark, of.name, str(of.ranks or ""), rank, of.placement, of.arm, of.source),
        *(f"{row.value.value:.6g}", error, launches, of.unit),
    ]


def _columns(table: RowTable) -> list[TableColumn]:
    family = table.card.columns
    first = table.rows[0].cell
    columns: list[TableColumn] = []
    if not first.placement or table.groups > 1:
        columns += _who(first)
    columns += [_BYTES, *_middle(family, first)]
    if first.benchmark in ROUND_TRIPS:
        columns.append(_BOTH_WAYS)
    columns += [_BANDWIDTH, _BUS, _PRINTED]
    if family in _RATED:
        columns += [_RATE, _PRINTED_RATE]
    columns += [*_OF_SCHEMA, _SAMPLES]
    if len({resting_on(row) for row in table.rows}) > 1:
        columns.append(_LAUNCHES)
    return [*columns, _STOP, _FLAGS]


def _middle(family: str, first: Cell) -> list[TableColumn]:
    """The columns of times."""
    if family in _MIDDLES:
        return _MIDDLES[family]
    is_mean = first.statistic.endswith("and ranks")
    if is_mean:
        return _ONE_TIME
    return _OVER_RANKS


def _who(cell: Cell) -> list[TableColumn]:
    """The column of the ranks that a row is about, if these are not all."""
    if cell.members:
        return [_MEMBERS]
    if cell.group >= 0:
        return [_GROUP]
    return []


def _joined(words: Sequence[str], wide: Sequence[int]) -> str:
    """Numbers end alike; the last two columns begin alike."""
    numbers = right_aligned(words[:-2], wide[:-2])
    return f"{numbers} {left_aligned(words[-2:], wide[-2:], ' ')}".rstrip()


def _colour_of(row: Row) -> str:
    if row.wrong_count:
        return RED
    if row.flags:
        return YELLOW
    return ""


def _us(estimate: Estimate) -> str:
    return microseconds(estimate.value, estimate.error)


def _rank_time(of: Callable[[Row], float]) -> Callable[[Row], str]:
    return lambda row: microseconds(of(row) * row.cell.time_scale)


def _part(of: Callable[[Row], float]) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        seconds = of(row)
        if math.isnan(seconds):
            return ""
        return microseconds(seconds)

    return text


def _of_schema(column: Stored) -> TableColumn:
    """A stored column that the schema gives a place of its own in tables for people. Times of a
    call are shown as the time of the benchmark is, halved where that is."""

    def text(row: Row) -> str:
        value = getattr(row.cell, column.name)
        if math.isnan(value):
            return ""
        if column.unit != "s":
            return number(value)
        if column.group == "time":
            value *= row.cell.time_scale
        return microseconds(value)

    return TableColumn(column.column, text)


def _percent(ratio: float) -> str:
    if math.isnan(ratio):
        return ""
    return f"{100 * ratio:.0f} %"


def _overlap(row: Row) -> str:
    """The overlap in whole percent, with the ends of its interval."""
    cell = row.cell
    if math.isnan(cell.overlap_low_ratio):
        return _percent(cell.overlap_ratio)
    ends = f"{100 * cell.overlap_low_ratio:.0f}…{100 * cell.overlap_high_ratio:.0f}"
    return f"{_percent(cell.overlap_ratio)} ({ends})"


def _bandwidth(row: Row) -> str:
    if row.bandwidth is None:
        return ""
    return megabytes_per_s(row.bandwidth.value)


def _bus_bandwidth(row: Row) -> str:
    if row.bus_bandwidth is None or not is_shown(row.cell):
        return ""
    return megabytes_per_s(row.bus_bandwidth.value)


def _rate(row: Row) -> str:
    if row.rate is None:
        return ""
    return rate(row.rate.value)


def _error(row: Row, is_range: bool) -> str:
    """The error of a row for a column of this kind of error, else nothing."""
    if row.is_range == is_range:
        return row.error_words
    return ""


def _machine_error(row: Row) -> str:
    """The variation of the number from run to run on its machine, if it is known."""
    if row.scatter is None:
        return ""
    return plus_minus(row.machine_error)


_GROUP = TableColumn("group", lambda row: str(row.cell.group))
_BOTH_WAYS = TableColumn("both ways µs", lambda row: _us(row.time))
_MEMBERS = TableColumn("ranks", lambda row: row.cell.members)
_BYTES = TableColumn("bytes", lambda row: byte_count(row.message_bytes))
_ERROR = TableColumn("±", lambda row: _error(row, is_range=False))
_RANGE = TableColumn("range", lambda row: _error(row, is_range=True))
_ERRORS = [_ERROR, _RANGE, TableColumn("± machine", _machine_error)]
_ONE_TIME = [TableColumn("µs", lambda row: _us(row.latency)), *_ERRORS]
_OVER_RANKS = [
    TableColumn("max µs", lambda row: _us(row.latency)),
    *_ERRORS,
    TableColumn("avg µs", _rank_time(lambda row: row.cell.time_avg_s)),
    TableColumn("min µs", _rank_time(lambda row: row.cell.time_min_s)),
]
_BESIDE = [
    TableColumn("pure µs", _part(lambda row: row.cell.time_pure_s)),
    TableColumn("CPU µs", _part(lambda row: row.cell.time_cpu_s)),
    TableColumn("overlap", _overlap),
    TableColumn("MPI_Test µs", _part(lambda row: row.cell.time_progress_s)),
    TableColumn("overlap", lambda row: _percent(row.cell.overlap_progress_ratio)),
]
_MIDDLES = {
    "single": _ONE_TIME,
    "band": _ONE_TIME,
    "timed_band": _ONE_TIME,
    "rate": _ONE_TIME,
    "overlap": [*_ONE_TIME, *_BESIDE],
    "passive": [*_ONE_TIME, *_BESIDE],
}
_RATED = ("band", "timed_band", "rate")
_BANDWIDTH = TableColumn("MB/s", _bandwidth)
_BUS = TableColumn("bus MB/s", _bus_bandwidth)
_PRINTED = TableColumn("printed MB/s", lambda row: as_printed(row.cell.printed_mb_per_s, 2))
_RATE = TableColumn("messages", _rate)
_PRINTED_RATE = TableColumn("printed 1/s", lambda row: as_printed(row.cell.printed_msg_per_s, 0))
_OF_SCHEMA = [_of_schema(column) for column in COLUMNS if column.column]
_SHORT = {"one launch": "1 launch", "range": "{} range", "interval": "{}"}
_SAMPLES = TableColumn("samples", lambda row: str(row.samples))
_LAUNCHES = TableColumn("launches", lambda row: _SHORT[row.kind].format(row.launches))
_STOP = TableColumn("stop", lambda row: row.stop)
_FLAGS = TableColumn("flags", letters)
