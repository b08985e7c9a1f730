# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""OSU's benchmarks (OMB): latency, bandwidth, collectives, one-sided, with or without -f.

Tests that mpigauge also has become its rows: osu_latency is PingPong, osu_bw is Uniband with its
window. The facts below a title are part of the key of the rows: the type, the buffers, the window
and its synchronization, threads and partitions. A line in the middle of a test that changes one of
them begins a new table.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mpigauge.model.cards import NCCL_SUITE
from mpigauge.model.record import Figure
from mpigauge.runs.readers.osu_comments import (
    MANAGED_TITLE,
    buffers_in,
    columns_in,
    memory_in_title,
    pairs_in,
    settings_in,
    windows_in,
)
from mpigauge.runs.readers.osu_rows import (
    TEXTS,
    WINDOW,
    OsuTable,
    OsuTest,
    has_no_place,
    percentile_figures,
    stored_row,
    text_table,
)
from mpigauge.runs.readers.osu_tests import SUITE
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.settings_lines import (
    arm_of,
    is_command,
    placement_in_command,
    setting_in,
    settings_in_command,
)
from mpigauge.runs.readers.text import NUMBER, why_no_row
from mpigauge.site.launch.lines.count import count_ranks

if TYPE_CHECKING:
    from mpigauge.runs.readers.text import Text

TITLE = re.compile(
    r"^[^#]*# OSU (?P<library>MPI|NCCL|RCCL)(?:-(?P<api>\w+)(?P<managed> MANAGED)?)?[ _]"
    r"(?P<title>.+?) [Tt]est(?: v(?P<version>[\d.]+))?\s*$"
)
_TYPE = re.compile(r"# Datatype: MPI_(\w+)")
_PROFILES = {"# Uni-directional Bandwidth": "MB/s", "# Message Rate Profile": "Messages/s"}
"""The titles of the tables that osu_mbw_mr -V prints, and their contents."""
_COMMAND = re.compile(r"\bosu_\w+")
_WINDOW_OPTION = re.compile(r"(?<!\S)(?:-W|--window-size)[ =](\d+)")
_INIT = re.compile(
    rf"nprocs: (\d+), min: ({NUMBER}) (s|ms|us), max: ({NUMBER}) \3, avg: ({NUMBER}) \3"
)
_INVALID = "DATA VALIDATION ERROR"
_WORD = re.compile(rf"-?{NUMBER}")
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


@reader("osu", "OSU's benchmarks (OMB)", rb"# OSU (?:MPI|[NR]CCL)[-_ ]")
def read(text: Text) -> Reading:
    log = _Log(text)
    for number, line in text.numbered():
        log.look(number, line)
    return log.reading()


@dataclass
class _Log:
    text: Text
    test: OsuTest | None = None
    """The test of the current lines."""
    table: OsuTable | None = None
    """The table of the next row; None: its first row begins it."""
    tables: list[OsuTable] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    exported: dict[str, str] = field(default_factory=dict)
    of_command: dict[str, str] = field(default_factory=dict)
    placement: str = ""
    launches: Counter[OsuTest] = field(default_factory=Counter)
    """The number of tables of each test."""
    of_window: dict[OsuTest, OsuTable] = field(default_factory=dict)
    """The tables of the last bandwidths of -V, by window."""
    ranks: int = 0
    window: int = WINDOW
    in_rows: bool = False

    def look(self, number: int, line: str) -> None:
        test = self.test
        if match := TITLE.search(line):
            self._begin(match)
        elif _INVALID in line:
            self.remarks.append(f"OSU reports at line {number}: {line.strip().rstrip('.')}")
        elif _COMMAND.search(line):
            self._command(line)
        elif setting := setting_in(line):
            self.exported[setting[0]] = setting[1]
        elif test and "#" in line:
            self._comment(test, number, line)
        elif test and not test.heads and (heads := columns_in(line)):
            self._head(test, number, heads)  # osu_ibarrier has no mark before its head
        elif test and test.title == "Init" and (match := _INIT.search(line)):
            self._init(test, match)
        elif test and line.strip():
            self._line(test, number, line)

    def reading(self) -> Reading:
        whole = [table for table in self.tables if table.rows]
        unknown = sorted({table.test.card.word for table in whole if not table.test.ranks})
        if unknown:
            self.remarks.append(
                f"OSU does not print on how many ranks it ran {', '.join(unknown)}; give --ranks"
            )
        others = (
            table.test.card for table in whole if table.test.card.suite in (SUITE, NCCL_SUITE)
        )
        launches: dict[int, int] = {}
        for table in whole:
            launches[table.launch] = max(launches.get(table.launch, 0), table.test.ranks)
        return Reading(
            tables=tuple(map(text_table, whole)),
            figures=tuple(self.figures),
            launches=tuple(unknown_launch(n, world_ranks=ranks) for n, ranks in launches.items()),
            unread=tuple(self.unread),
            remarks=tuple(self.remarks),
            cards=tuple(dict.fromkeys(others)),
        )

    # --- lines that begin something ---------------------------------------------------------
    def _begin(self, match: re.Match[str]) -> None:
        """Begins a test; in some versions every rank prints the title."""
        is_started = self.ranks or self.of_command
        last = self.test
        if last and not last.columns and last.title == match["title"] and not is_started:
            return
        api = match["api"] or ""
        of_api = {"accelerator": api.lower()} if api not in ("", MANAGED_TITLE) else {}
        of_api |= {"library": "rccl"} if match["library"] == "RCCL" else {}
        self.test = OsuTest(
            title=match["title"],
            library=match["library"],
            source=f"OSU {match['version'] or ''}".strip(),
            memory=memory_in_title(api, bool(match["managed"])),
            ranks=self.text.ranks or self.ranks,
            window=self.window,
            arm=arm_of({**self.exported, **self.of_command, **of_api}),
            placement=self.placement,
        )
        self.table, self.in_rows = None, False
        self.ranks, self.window, self.of_command, self.placement = 0, WINDOW, {}, ""

    def _command(self, line: str) -> None:
        """Takes ranks, window and settings of the next test from its command."""
        if ranks := count_ranks(line, lambda word: bool(_COMMAND.search(word))):
            self.ranks = ranks
        if match := _WINDOW_OPTION.search(line):
            self.window = int(match[1])
        if is_command(line):
            self.of_command = settings_in_command(line)
            self.placement = placement_in_command(line)

    def _comment(self, test: OsuTest, number: int, line: str) -> None:
        if profile := next((of for title, of in _PROFILES.items() if title in line), ""):
            self._change(replace(test, profile=profile, heads=(), windows=()))
        elif test.profile and (windows := windows_in(line)):
            self._change(replace(test, windows=windows))
        elif heads := columns_in(line.partition("#")[2]):
            self._head(test, number, heads)
        elif match := _TYPE.search(line):
            profile = "MB/s" if test.profile else ""  # that of rates was the last one of a type
            self._change(replace(test, datatype=match[1].lower(), profile=profile))
        elif stated := pairs_in(line):
            window = stated.window or test.window
            self._change(replace(test, pairs=stated.pairs, window=window))
        elif buffers := buffers_in(line):
            pages = {"managed_on": buffers.pages} if buffers.pages else {}
            self._change(replace(test, memory=buffers.memory).with_settings(pages))
        else:
            self._change(test.with_settings(settings_in(line)))

    def _change(self, test: OsuTest) -> None:
        """Applies a line of facts; a change of them begins a new table."""
        if test != self.test:
            self.in_rows = self.in_rows or bool(test.windows)
            self.test, self.table = test, None

    def _head(self, test: OsuTest, number: int, heads: tuple[str, ...]) -> None:
        self.test, self.table = replace(test, heads=heads), None
        self.in_rows = True
        if others := [head for head in heads if has_no_place(head)]:
            what = f"there is no place for these columns of {self.test.card.word}"
            self.unread.append(Unread(number, ", ".join(others), what))

    # --- rows -------------------------------------------------------------------------------
    def _line(self, test: OsuTest, number: int, line: str) -> None:
        heads = test.columns
        words = line.split()
        is_whole = bool(heads) and len(words) == len(heads)
        if is_whole and test.windows and words[0].isdecimal():
            self._row_of_windows(test, number, line, words)
        elif is_whole and all(map(_is_value, heads, words)):
            self._row(test, number, line, dict(zip(heads, words, strict=True)))
        elif heads and self.in_rows and _WORD.fullmatch(words[0]):
            self.unread.append(Unread(number, line.strip(), why_no_row(words, heads, TEXTS)))
        else:
            self.in_rows = False

    def _row(self, test: OsuTest, number: int, line: str, words: dict[str, str]) -> None:
        table = self.table = self.table or self._table(test)
        row = stored_row(table.test, words)
        if row["time_p50_s"] > 0:
            table.rows.append(row)
            self.figures += percentile_figures(table, words)
        else:
            self.unread.append(Unread(number, line.strip(), "it has no time above zero"))

    def _row_of_windows(self, test: OsuTest, number: int, line: str, words: list[str]) -> None:
        """Reads a row of -V: a column for each window, of bandwidths and in the next table of
        rates."""
        if self.table is None:
            self.table = OsuTable(test, 0)
            self.of_window = {} if test.profile == "MB/s" else self.of_window
        size = words[0]
        for window, word in zip(test.windows, words[1:], strict=True):
            of = replace(test.settled, window=int(window), profile="", windows=(), heads=_VARIED)
            if of not in self.of_window:
                self.of_window[of] = self._table(of)
            if not _WORD.fullmatch(word):
                why = f"{word} is not a number ({window} in flight)"
            else:
                why = _add(self.of_window[of], size, test.profile, word)
            if why:
                self.unread.append(Unread(number, line.strip(), why))

    def _table(self, test: OsuTest) -> OsuTable:
        test = test.settled
        table = OsuTable(test, self.launches[test.key])
        self.launches[test.key] += 1
        self.tables.append(table)
        return table

    def _init(self, test: OsuTest, match: re.Match[str]) -> None:
        ranks, least, unit, most, mean = match.groups()
        test = replace(test, ranks=int(ranks))
        launch = self.launches[test.key]
        self.launches[test.key] += 1
        for name, value in (("shortest", least), ("longest", most), ("mean", mean)):
            self.figures.append(
                Figure(launch, "MPI_Init", f"{name} over ranks", float(value) * _UNITS[unit],
                       "s", "lower", ranks=int(ranks), arm=test.arm, placement=test.placement,
                       source=test.source, origin="imported")
            )  # fmt: skip


_VARIED = ("Size", "MB/s", "Messages/s")


def _is_value(head: str, word: str) -> bool:
    return head in TEXTS or bool(_WORD.fullmatch(word))


def _add(table: OsuTable, size: str, profile: str, word: str) -> str:
    """Adds a bandwidth as a row, or a rate to its row. Returns the problem; empty: there is
    none."""
    window = f"with a window of {table.test.window}"
    if profile == "MB/s":
        row = stored_row(table.test, {"Size": size, "MB/s": word})
        if row["time_p50_s"] <= 0:
            return f"its bandwidth {window} is not above zero"
        table.rows.append(row)
        return ""
    rows = [row for row in table.rows if row["message_bytes"] == float(size)]
    for row in rows:
        row["printed_msg_per_s"] = float(word)
    return "" if rows else f"no bandwidth {window} precedes this rate"
