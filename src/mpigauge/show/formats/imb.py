# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Text that programs written for the tables of IMB can read, under a banner of our own.

Columns are 13 wide, sizes and counts whole, times in µs and MB/s (10⁶) with two decimals. In the
adaptive mode t_min, t_max and t_avg are medians over samples instead of means of all repetitions.
Bandwidths and rates of an imported table are those that were printed in it.
A run of several suites gives one text after the other, as the programs of IMB would have.
"""

from __future__ import annotations

import math
import re
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.cards import FIRST_SUITE
from mpigauge.model.screen import PLAIN
from mpigauge.model.width import as_blocks
from mpigauge.result.nature import own_neighbour
from mpigauge.show.imb_header import header_lines, listed_cards, suite_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpigauge.model.record import Skip
    from mpigauge.model.row import Row
    from mpigauge.model.row_tables import RowTable
    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document
    from mpigauge.result.facts import Facts

ABOUT = "text in the shape of IMB's tables"
CLASSIC = "classic"
"""The mode whose tables have just the lines of IMB."""
_RANKS_PER_LINE = 16
_MOST_LISTED = 1024
_NOTES = (
    (re.compile(r"not enough memory(?:.*?needs (?P<gib>[\d.]+) GiB)?"), "out-of-mem."),
    (re.compile(r"elements"), "int-overflow"),
    (re.compile(r"no time|time is over"), "time-out."),
)


class ImbColumn(NamedTuple):
    head: str
    text: Callable[[Row], str]


def render(document: Document, screen: Screen = PLAIN) -> str:  # noqa: ARG001
    lines: list[str] = []
    for suite in _suites(document):
        lines += _program(document, suite)
    return as_blocks([lines])


def _suites(document: Document) -> list[str]:
    return list(dict.fromkeys(card.suite for card in listed_cards(document))) or [FIRST_SUITE]


def _program(document: Document, suite: str) -> list[str]:
    """The output that the IMB program for one suite would print."""
    return [*header_lines(document, suite), *_sections(document, suite), "", "", _FOOTER, ""]


_FOOTER = "# All processes entering MPI_Finalize"


# --- sections -------------------------------------------------------------------------------
def _sections(document: Document, suite: str) -> Iterator[str]:
    by_benchmark: dict[str, list[RowTable]] = {}
    for table in suite_tables(document, suite):
        by_benchmark.setdefault(table.card.name, []).append(table)
    ranks = document.facts.world_ranks
    for card in listed_cards(document):
        if card.suite != suite:
            continue
        if not card.fits(ranks):
            yield from ("", f"# !! Benchmark {card.name} invalid for {ranks} processes !! ", "")
            continue
        for table in sorted(by_benchmark.get(card.name, ()), key=_place):
            yield from _section(table, document.facts)


def _place(table: RowTable) -> tuple[int, int]:
    """Modes in IMB's order, which is not the same in all suites."""
    completion = table.variant.get("completion", "")
    completions = table.card.completions
    place = completions.index(completion) if completion in completions else 0
    return table.ranks, place


def _section(table: RowTable, facts: Facts) -> Iterator[str]:
    if table.card.suite == "HALO":
        yield from _halo(table)
        return
    columns = _columns(table, facts)
    rule = "#" + "-" * (13 * len(columns) - 1)
    name = f"Multi-{table.card.name}" if table.groups > 1 else table.card.name
    yield from ("", rule, f"# Benchmarking {name} ")
    yield from _who(table, facts)
    for column_name, value in table.variant.items():
        if column_name not in _NOT_SAID:
            yield f"# {column_name} = {value}"
    if table.rows and table.rows[0].cell.mode != CLASSIC and own_neighbour(table.rows[0]):
        yield f"# {own_neighbour(table.rows[0])} "
    if table.rows and table.rows[0].cell.sync == "clock":
        yield "# sync = clock: times run from the opening of a common window, not from a barrier "
    yield rule
    if mode := _MODES.get(table.variant.get("completion", "")):
        yield from ("#", f"#    MODE: {mode} ", "#")
    yield "".join(f"{column.head:>13}" for column in columns)
    yield from _body(table, columns)


def _halo(table: RowTable) -> Iterator[str]:
    """Lines of free form: the bytes of a message, how many of them a rank sends and receives, and
    their time and bandwidth in the mean over ranks."""
    for row in table.rows:
        threads = row.cell.threads
        messages = round(row.cell.messages / threads)
        if row is table.rows[0]:
            of = f"processes: {table.ranks}; threads: {threads}; dimensions: {_dimensions(row)}"
            yield from ("", f"# Benchmarking {table.card.name} ({of})")
        seconds = row.cell.time_avg_s
        usec = 1e6 * (row.time.value if math.isnan(seconds) else seconds)
        rate = row.cell.moved_bytes / usec if usec > 0 else 0.0
        size = row.message_bytes * threads
        yield f"{size}(x{messages})(bytes) {usec:g}(usec) {rate:g}(Mb/s)"
    for skip in table.skips:
        yield _note(skip)


def _dimensions(row: Row) -> int:
    """The sides of the grid that was asked for; else those along which messages are sent."""
    for word in row.cell.settings.split():
        name, _, sides = word.partition("=")
        if name == "topo":
            return sides.count("x") + 1
    return max(1, round(row.cell.messages / row.cell.threads) // 4)


_MODES = {"each": "NON-AGGREGATE", "end": "AGGREGATE"}


_NOT_SAID = ("memory", "mode", "origin", "root_shift", "completion", "arm", "source")
"""Columns that IMB says otherwise, or has no notion of; others are what our tables can vary and
IMB's cannot."""


def _who(table: RowTable, facts: Facts) -> Iterator[str]:
    order = _order(facts)
    groups = [order[i * table.ranks : (i + 1) * table.ranks] for i in range(table.groups)]
    if table.groups > 1:
        yield f"# ( {table.groups} groups of {table.ranks} processes each running simultaneous ) "
        for number, group in enumerate(groups):
            yield from _ranks(f"# Group {number:2d}: ", group, _RANKS_PER_LINE)
    elif facts.map:
        yield f"# #processes = {table.ranks}; rank order (rowwise): "
        yield from _ranks("# ", groups[0], facts.map[1])
    else:
        yield f"# #processes = {table.ranks} {_threads(table)}"
    if table.card.windowed and table.card.suite == "MT" and table.rows:
        yield f"# window_size = {table.rows[0].cell.inflight}"
    idle = facts.world_ranks - table.ranks * table.groups
    if idle > 0:
        processes = "process" if idle == 1 else "processes"
        yield f"# ( {idle} additional {processes} waiting in MPI_Barrier)"


def _threads(table: RowTable) -> str:
    """IMB-MT says how many it has."""
    if table.card.suite != "MT":
        return ""
    return f"(threads: {table.variant.get('threads', 1)})"


def _order(facts: Facts) -> list[int]:
    """World ranks in the order in which groups take them: -map PxQ transposes."""
    ranks = list(range(facts.world_ranks))
    if facts.map is None:
        return ranks
    p, q = facts.map
    return sorted(ranks, key=lambda rank: q * rank % (p * q - 1) or rank)


def _ranks(start: str, ranks: Sequence[int], per_line: int) -> Iterator[str]:
    if len(ranks) > _MOST_LISTED:
        yield from (f"{start} {ranks[0]:4d} ... {ranks[-1]:4d}", "# ")
        return
    for first in range(0, len(ranks), per_line):
        yield start + "".join(f" {rank:4d}" for rank in ranks[first : first + per_line])
        yield "# "
        start = "# "


def _body(table: RowTable, columns: Sequence[ImbColumn]) -> Iterator[str]:
    apart = columns[0].head == "Group"
    for _, rows in groupby(table.rows, key=lambda row: row.message_bytes):
        if apart:
            yield ""
        for row in rows:
            yield "".join(f"{column.text(row):>13}" for column in columns)
    for skip in table.skips:
        yield _note(skip)


def _note(skip: Skip) -> str:
    size = max(int(skip.key.get("message_bytes", 0)), 0)
    for pattern, word in _NOTES:
        match = pattern.search(skip.reason)
        if match:
            needed = match.groupdict().get("gib")
            amount = f"needed X={float(needed):8.3f} GB; " if needed else ""
            return f"{size:13d} {word}; {amount}{skip.reason}"
    return f"{size:13d} skipped; {skip.reason}"


# --- columns --------------------------------------------------------------------------------
def _columns(table: RowTable, facts: Facts) -> list[ImbColumn]:
    family = table.card.columns
    each = facts.multi == 1 or (facts.imported and table.rows and table.rows[0].cell.group >= 0)
    together = facts.multi == 0 or (facts.imported and table.groups > 1 and not each)
    if family == "single" and together:
        family = "parallel"
    columns = list(_FAMILIES[family])
    if table.card.unit == "none" and _BYTES in columns and family != "band":
        columns.remove(_BYTES)
    if each:
        columns.insert(0, _GROUP)
    return columns


def repetitions(row: Row) -> int:
    """IMB's count in classic mode, else all timed operations of all launches."""
    if row.cell.mode == "classic":
        return row.cell.calls
    return row.cell.calls * row.samples


def _microseconds(of: Callable[[Row], float]) -> Callable[[Row], str]:
    return lambda row: f"{of(row) * row.cell.time_scale * 1e6:.2f}"


def _megabytes(time: Callable[[Row], float]) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        if not math.isnan(row.cell.printed_mb_per_s):
            return f"{row.cell.printed_mb_per_s:.2f}"
        seconds = time(row) * row.cell.time_scale
        speed = row.cell.moved_bytes / seconds if seconds > 0 else 0.0
        return f"{speed / 1e6:.2f}"

    return text


def _part(of: Callable[[Row], float]) -> Callable[[Row], str]:
    return lambda row: f"{_or_zero(of(row)) * 1e6:.2f}"


def _overlap(row: Row) -> str:
    return f"{100 * _or_zero(row.cell.overlap_ratio):.2f}"


def _or_zero(value: float) -> float:
    """The value as IMB prints it: 0 if it is not known."""
    if math.isnan(value):
        return 0.0
    return value


def _rate(row: Row) -> str:
    if not math.isnan(row.cell.printed_msg_per_s):
        return f"{row.cell.printed_msg_per_s:.0f}"
    if row.rate is None:
        return "0"
    return f"{row.rate.value:.0f}"


def _bytes(row: Row) -> str:
    """IMB-MT counts those of all threads of a rank together."""
    if row.cell.suite == "MT":
        return str(row.message_bytes * row.cell.threads)
    return str(row.message_bytes)


def _of_message(row: Row) -> float:
    """IMB-MT prints the time of one of the messages that are under way between two threads."""
    both = 2 if row.cell.benchmark == "BiBandMT" else 1
    return row.cell.time_avg_s / (row.cell.inflight * both)


def _median(row: Row) -> float:
    return row.time.value


def _slowest(row: Row) -> float:
    return row.cell.time_max_s


_GROUP = ImbColumn("Group", lambda row: str(max(row.cell.group, 0)))
_BYTES = ImbColumn("#bytes", _bytes)
_COUNT = ImbColumn("#repetitions", lambda row: str(repetitions(row)))
_RANGE = [
    ImbColumn("t_min[usec]", _microseconds(lambda row: row.cell.time_min_s)),
    ImbColumn("t_max[usec]", _microseconds(_slowest)),
    ImbColumn("t_avg[usec]", _microseconds(lambda row: row.cell.time_avg_s)),
]
_PER_MESSAGE = ImbColumn("t_avg[usec]", _microseconds(_of_message))
_BAND = [ImbColumn("Mbytes/sec", _megabytes(_median)), ImbColumn("Msg/sec", _rate)]
_ONE = ImbColumn("t[usec]", _microseconds(_median))
_OVERLAPPED = ImbColumn("t_ovrl[usec]", _microseconds(_median))
_PURE = ImbColumn("t_pure[usec]", _part(lambda row: row.cell.time_pure_s))
_CPU = ImbColumn("t_CPU[usec]", _part(lambda row: row.cell.time_cpu_s))
_SHARE = ImbColumn("overlap[%]", _overlap)
_FAMILIES: dict[str, list[ImbColumn]] = {
    "single": [_BYTES, _COUNT, _ONE, _BAND[0]],
    "parallel": [_BYTES, _COUNT, *_RANGE, ImbColumn("Mbytes/sec", _megabytes(_slowest))],
    "collective": [_BYTES, _COUNT, *_RANGE],
    "barrier": [_COUNT, *_RANGE],
    "band": [_BYTES, _COUNT, *_BAND],
    "timed_band": [_BYTES, _COUNT, _PER_MESSAGE, *_BAND],
    "rate": [_BYTES, _COUNT, _ONE, *_BAND],
    "overlap": [_BYTES, _COUNT, _OVERLAPPED, _PURE, _CPU, _SHARE],
    "passive": [_BYTES, _COUNT, _PURE, _OVERLAPPED],
}
