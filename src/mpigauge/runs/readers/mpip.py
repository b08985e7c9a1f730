# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reports of mpiP: time and messages of an application in MPI, as figures.

A file may hold several reports, which are launches. Each is also kept as a profile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.record import Figure, Launch
from mpigauge.runs.readers.mpip_profile import MpipProfile
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.text import NUMBER, why_no_row, why_unread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.runs.readers.text import Text


class ReportColumn(NamedTuple):
    name: str
    """The name of the figure; {} stands for the call or site of the row."""
    unit: str
    factor: float = 1.0
    better: str = ""


_MILLI = 1e-3
_SHARES = {
    "App%": ReportColumn("share of the application in {}", "%", 1, "lower"),
    "MPI%": ReportColumn("share of MPI in {}", "%"),
}
_TIME = {
    "Time": ReportColumn("time in {}", "s", _MILLI, "lower"),
    **_SHARES,
    "Count": ReportColumn("calls of {}", "1"),
    "COV": ReportColumn("variation over ranks of {}", "1"),
}
_MESSAGES = {
    "Count": ReportColumn("messages of {}", "1"),
    "Max": ReportColumn("largest message of {}", "B"),
    "Mean": ReportColumn("mean message of {}", "B"),
    "Min": ReportColumn("smallest message of {}", "B"),
    "Sum": ReportColumn("sent by {}", "B"),
}
_ACCESSES = {
    "Count": ReportColumn("accesses of {}", "1"),
    "Max": ReportColumn("largest access of {}", "B"),
    "Mean": ReportColumn("mean access of {}", "B"),
    "Min": ReportColumn("smallest access of {}", "B"),
    "Sum": ReportColumn("read or written by {}", "B"),
}
"""The columns of accesses to files, in a table with I/O in its title."""
_TOP_MOVED = {
    "Count": ReportColumn("messages of {}", "1"),
    "Total": ReportColumn("moved by {}", "B"),
    "Avrg": ReportColumn("mean message of {}", "B"),
    "I/O%": ReportColumn("share of what is moved one-sided by {}", "%"),
}
"""The columns of one-sided calls, in a table with RMA in its title."""
_CONCISE = {
    "Tasks": ReportColumn("ranks in {}", "1"),
    "Max": ReportColumn("time in {}, most of ranks", "s", _MILLI, "lower"),
    "Mean": ReportColumn("time in {}, mean of ranks", "s", _MILLI, "lower"),
    "Min": ReportColumn("time in {}, least of ranks", "s", _MILLI, "lower"),
}
_CONCISE_BYTES = {
    "Tasks": ReportColumn("ranks that send by {}", "1"),
    "Max": ReportColumn("sent by {}, most of ranks", "B"),
    "Mean": ReportColumn("sent by {}, mean of ranks", "B"),
    "Min": ReportColumn("sent by {}, least of ranks", "B"),
}
_CONCISE_ACCESSES = {
    "Tasks": ReportColumn("ranks that access by {}", "1"),
    "Max": ReportColumn("read or written by {}, most of ranks", "B"),
    "Mean": ReportColumn("read or written by {}, mean of ranks", "B"),
    "Min": ReportColumn("read or written by {}, least of ranks", "B"),
}
TABLES: dict[tuple[str, ...], dict[str, ReportColumn]] = {
    ("Task", "AppTime", "MPITime", "MPI%"): {
        "AppTime": ReportColumn("time of the application", "s", 1, "lower"),
        "MPITime": ReportColumn("time in MPI", "s", 1, "lower"),
        "MPI%": ReportColumn("share of MPI", "%", 1, "lower"),
    },
    ("Call", "Site", "Time", "App%", "MPI%"): _TIME,
    ("Call", "Site", "Time", "App%", "MPI%", "COV"): _TIME,
    ("Call", "Site", "Time", "App%", "MPI%", "Count"): _TIME,
    ("Call", "Site", "Time", "App%", "MPI%", "Count", "COV"): _TIME,
    ("Call", "Site", "Count", "Total", "Avrg", "Sent%"): {
        "Count": ReportColumn("messages of {}", "1"),
        "Total": ReportColumn("sent by {}", "B"),
        "Avrg": ReportColumn("mean message of {}", "B"),
        "Sent%": ReportColumn("share of the bytes sent by {}", "%"),
    },
    ("Call", "Site", "Count", "Total", "Avrg", "I/O%"): {
        "Count": ReportColumn("accesses of {}", "1"),
        "Total": ReportColumn("read or written by {}", "B"),
        "Avrg": ReportColumn("mean access of {}", "B"),
        "I/O%": ReportColumn("share of what is read or written by {}", "%"),
    },
    ("Name", "Site", "Rank", "Count", "Max", "Mean", "Min", "App%", "MPI%"): {
        "Count": ReportColumn("calls of {}", "1"),
        "Max": ReportColumn("longest {}", "s", _MILLI, "lower"),
        "Mean": ReportColumn("mean {}", "s", _MILLI, "lower"),
        "Min": ReportColumn("shortest {}", "s", _MILLI, "lower"),
        **_SHARES,
    },
    ("Name", "Site", "Rank", "Count", "Max", "Mean", "Min", "Sum"): _MESSAGES,
    ("Name", "Site", "Tasks", "Max", "Mean", "Min", "MaxRnk", "MinRnk"): _CONCISE,
}
"""Columns of figures, by the heads of the table."""
HISTOGRAMS = {
    "MPI Time %": "share of the time in collectives of {call} on {ranks} ranks with {bytes} B",
    "MPI Sent %": "share of the bytes sent by {call} among {ranks} ranks in messages of {bytes} B",
}
_OF_HISTOGRAM = re.compile(r"Call +(MPI (?:Time|Sent) %) +Comm Size +Data Size *")
_BIN = re.compile(rf"(\w+) +({NUMBER}) +(\d+) *- *(\d+) +(\d+) *- *(\d+) *")
_SAID = re.compile(r"@ (\w+(?: \w+)*) *: (.*)")
_TITLE = "@--- "
_RULE = re.compile(r"^-{20,}|^@---")
_BEGIN = re.compile(r"^@ mpiP[ \t]*$")
_TASK = "MPI Task Assignment"
_PLACES = "Callsites"
_TASK_TIMES = "Task Time Statistics"
_TASK_FIGURES = ("time of the application", "time in MPI")
_OF_TASKS = {
    "Max": ", most of ranks", "Mean": ", mean of ranks", "Min": ", least of ranks",
    "Stddev": ", standard deviation over ranks", "Aggregate": "",
}  # fmt: skip
_WITHOUT_NUMBERS = (_PLACES, _TASK_TIMES, "End of Report")
"""The titles of tables that hold places in the source, nothing, or rows of their own."""
_ROW = re.compile(r"^(?:\s*\d|\.\.\.|[A-Z]\w+\s+\S)")
_DIGITS_OF_RANK = 9
_CLOSE = 0.02
"""The rounding of a number with three digits, and the error of a share of a hundredth per cent."""


@reader("mpip", "reports of mpiP", rb"^@ mpiP[ \t]*$")
def read(text: Text) -> Reading:
    reports = [_Report(0)]
    for number, line in text.numbered():
        if _BEGIN.match(line):
            reports.append(_Report(len(reports) - 1))
        reports[-1].look(number, line)
    whole = reports[1:]
    profiles = (report.profile.profile(report.launch, report.facts) for report in whole)
    return Reading(
        figures=tuple(figure for report in whole for figure in report.figures.values()),
        launches=tuple(report.as_launch() for report in whole),
        unread=tuple(line for report in whole for line in report.unread),
        profiles=tuple(filter(None, profiles)),
    )


@dataclass
class _Report:
    """The state of a report at a line, and everything read before it."""

    launch: int
    facts: dict[str, str] = field(default_factory=dict)
    ranks: int = 0
    title: str = ""
    is_titled: bool = False
    """True after a title, before the heads of its columns."""
    heads: tuple[str, ...] = ()
    histogram: str = ""
    """The head of the shares, if the table is a histogram."""
    figures: dict[tuple[str, int, int], Figure] = field(default_factory=dict)
    """Figures by name and rank, and a number if these have several."""
    unread: list[Unread] = field(default_factory=list)
    profile: MpipProfile = field(default_factory=MpipProfile)

    def as_launch(self) -> Launch:
        time = self.facts.get("Start time", "")
        return unknown_launch(self.launch, time=time, world_ranks=self.ranks)

    def look(self, number: int, line: str) -> None:
        words = line.split()
        if match := _SAID.match(line):
            if match[1] == _TASK:
                self._task(match[2].split())
            self.facts[match[1]] = match[2].strip()
        elif _RULE.match(line):
            self._rule(line)
        elif tuple(words) in TABLES:
            self.heads, self.histogram, self.is_titled = tuple(words), "", False
        elif match := _OF_HISTOGRAM.fullmatch(line):
            self.heads, self.histogram, self.is_titled = (), match[1], False
        elif words and self.is_titled:
            self.is_titled = False
            why = f"unknown columns: the table '{self.title}' is left out"
            self.unread.append(Unread(number, line.strip(), why))
        elif words and (self.heads or self.histogram):
            self._row(number, line, words)
        elif words and self.title.startswith(_PLACES):
            self.profile.take_place(line)
        elif words and self.title.startswith(_TASK_TIMES):
            self._task_times(number, line, words)

    def _task(self, words: Sequence[str]) -> None:
        """Adds a rank and its host."""
        self.ranks += 1
        rank, host = (*words, "", "")[:2]
        if rank.isdecimal() and len(rank) <= _DIGITS_OF_RANK:
            self.profile.hosts[int(rank)] = host

    def _task_times(self, number: int, line: str, words: Sequence[str]) -> None:
        """Reads a row of rank times in a concise report: the statistic, the times of application
        and MPI, and the ranks with these times, or the share of MPI."""
        kind, *numbers = words
        if kind not in _OF_TASKS:
            return
        if len(numbers) < len(_TASK_FIGURES) or not all(re.fullmatch(NUMBER, n) for n in numbers):
            why = why_unread(line, "it has not the times of ranks")
            self.unread.append(Unread(number, line.strip(), why))
            return
        times = list(map(float, numbers))
        for name, seconds in zip(_TASK_FIGURES, times, strict=False):
            self._keep([self._figure(f"{name}{_OF_TASKS[kind]}", seconds, "s", "lower")])
        self.profile.take_task_times(kind, times)

    def _rule(self, line: str) -> None:
        self.heads, self.histogram = (), ""
        if line.startswith(_TITLE):
            self.title = line.removeprefix(_TITLE).rstrip("- ")
            self.is_titled = not self.title.startswith(_WITHOUT_NUMBERS)

    def _row(self, number: int, line: str, words: list[str]) -> None:
        if self.histogram and (match := _BIN.fullmatch(line)):
            self._keep([self._share(match)])
        elif self.heads and (row := self._numbers(words)):
            self._keep(self._figures(row))
            if "Tasks" not in row or self._columns() is _CONCISE:
                self.profile.take_row(row, "I/O" in self.title)
        elif _ROW.match(line):
            self.unread.append(Unread(number, line.strip(), self._why(words)))
        else:
            self.heads, self.histogram = (), ""

    def _keep(self, figures: Iterable[Figure]) -> None:
        """Keeps figures. Several tables repeat some numbers; later ones have more digits. A
        different number is kept next to the first."""
        for figure in figures:
            earlier = self.figures.get((figure.name, figure.rank, 0), figure).value
            same = abs(figure.value - earlier) <= _CLOSE * abs(earlier)
            self.figures[figure.name, figure.rank, 0 if same else len(self.figures)] = figure

    def _columns(self) -> Mapping[str, ReportColumn]:
        columns = TABLES[self.heads]
        is_file = "I/O" in self.title
        if columns is _MESSAGES and is_file:
            return _ACCESSES
        if columns is _CONCISE and "Time" not in self.title:
            return _CONCISE_ACCESSES if is_file else _CONCISE_BYTES
        if "I/O%" in columns and "RMA" in self.title:
            return _TOP_MOVED
        return columns

    def _numbers(self, words: list[str]) -> dict[str, str] | None:
        """The words by their heads; None: a word that should be a number is not."""
        if len(words) != len(self.heads):
            return None
        row = dict(zip(self.heads, words, strict=True))
        rank = _rank_in(row)
        is_rank = rank == "*" or (rank.isdecimal() and len(rank) <= _DIGITS_OF_RANK)
        numbers = [row[name] for name in self._columns() if name in row]
        if is_rank and all(re.fullmatch(NUMBER, word) for word in numbers):
            return row
        return None

    def _why(self, words: list[str]) -> str:
        """The reason why a line of a table is not a row."""
        if words[0] == "...":
            return "rows are left out here"
        if self.heads:
            texts = [head for head in self.heads if head not in self._columns()]
            return why_no_row(words, self.heads, texts)
        return why_unread(" ".join(words), "it is not a bin of a histogram")

    def _figures(self, row: dict[str, str]) -> Iterator[Figure]:
        """A figure for each number of a row. A star as the rank means all of them."""
        call = f"{row.get('Call') or row.get('Name')} at site {row.get('Site')}"
        rank = _rank_in(row)
        for name, column in self._columns().items():
            if name in row:
                value = float(row[name]) * column.factor
                yield self._figure(column.name.format(call), value, column.unit, column.better,
                                   -1 if rank == "*" else int(rank))  # fmt: skip

    def _share(self, match: re.Match[str]) -> Figure:
        """The share of one bin of a histogram: a call, on so many ranks, of so many bytes."""
        call, share, *bins = match.groups()
        name = HISTOGRAMS[self.histogram].format(
            call=call, ranks="-".join(bins[:2]), bytes="-".join(bins[2:])
        )
        return self._figure(name, float(share), "%")

    def _figure(self, name: str, value: float, unit: str, better: str = "",
                rank: int = -1) -> Figure:  # fmt: skip
        command = self.facts.get("Command", "").split() or ["application"]
        program = command[0].rpartition("/")[2]
        return Figure(
            self.launch, program, name, value, unit, better, ranks=self.ranks, rank=rank,
            source=f"mpiP {self.facts.get('Version', '')}".strip(), origin="imported",
        )  # fmt: skip


def _rank_in(row: dict[str, str]) -> str:
    return row.get("Rank") or row.get("Task") or "*"
