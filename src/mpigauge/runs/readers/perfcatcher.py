# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reports of SGI's perfcatcher: time in MPI, calls and messages of each rank, as figures.

A file may hold several reports, which are launches. Each is also kept as a profile.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.model.record import Figure, Launch
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.reported import (
    ReportedMessages,
    ReportedProfile,
    ReportedRank,
    ReportedSite,
    ReportedTime,
    call_name,
    whole,
)
from mpigauge.runs.readers.text import NUMBER, why_unread

if TYPE_CHECKING:
    from mpigauge.runs.readers.text import Text

_NUMBER = f"({NUMBER})"
_VERSION = re.compile(r"^PERFCATCHER version (\S+)")
_COMMAND = re.compile(r"^Program command line:\s+(\S.*)")
_DATE = re.compile(r"^Job profile recorded:\s+(.*)")
_RANKS = re.compile(r"^Total MPI/SHMEM processes:\s+(\d+)")
_SUMMARY = re.compile(rf"^(\S.*?), avg per rank\s+{_NUMBER} ?(sec|%)")
_RUN_TIME = "Total MPI/SHMEM job time"
_IN_MPI, _USER, _SYSTEM = "Percent in Profiled MPI/SHMEM functions", "User Time", "System Time"
"""Tables with shares of ranks."""
_TABLE = re.compile(r"^Rank-by-Rank: (.*)")
_OF_RANK = re.compile(rf"(\d+):{_NUMBER}%")
_RANK = re.compile(r"^Activity on process rank (\d+)")
_CALL = re.compile(rf"^  (\w+)\s+calls:?\s+(\d+)\s+time:?\s+{_NUMBER}")
_WAITS = re.compile(rf"waits: (\d+)\s+wait time: {_NUMBER} s")
_DATA = re.compile(rf"(avg datacnt|datacnt) {_NUMBER}")
_SIZE = re.compile(r"(\d{1,18}):\s*(\d{1,18})x\((-?\d{1,9})\)")
_DAMAGED = re.compile(r"^  \w+\s+calls|^\S.*, avg per rank\s|^\s+\d+:|^\s+waits: ")
"""Lines that hold numbers unless they are damaged."""
_UNITS = {"sec": "s", "%": "%"}


@reader("perfcatcher", "reports of SGI's perfcatcher", rb"^PERFCATCHER version ")
def read(text: Text) -> Reading:
    reports = [_Report(0)]
    unread: list[Unread] = []
    for number, line in text.numbered():
        if _VERSION.match(line):
            reports.append(_Report(len(reports) - 1))
        report = reports[-1]
        figures = list(report.read(line))
        report.figures += figures
        if not figures and _DAMAGED.match(line):
            why = why_unread(line, "it has not the numbers of such a line")
            unread.append(Unread(number, line.strip(), why))
    reports = reports[1:]
    return Reading(
        figures=tuple(figure for report in reports for figure in report.figures),
        launches=tuple(report.as_launch() for report in reports),
        unread=tuple(unread),
        profiles=tuple(filter(None, (report.profile() for report in reports))),
    )


@dataclass
class _Report:
    """The state of a report at a line, and everything read before it."""

    launch: int
    source: str = "perfcatcher"
    words: tuple[str, ...] = ()
    date: str = ""
    ranks: int = 0
    table: str = ""
    rank: int = -1
    call: str = ""
    run_s: float = math.nan
    shares: dict[str, dict[int, float]] = field(default_factory=dict)
    """Percentages of the run time, by table and rank."""
    sites: dict[str, ReportedSite] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)

    @property
    def program(self) -> str:
        return self.words[0].rpartition("/")[2] if self.words else "the application"

    def as_launch(self) -> Launch:
        return unknown_launch(self.launch, time=self.date, world_ranks=self.ranks)

    def profile(self) -> ReportedProfile | None:
        """The report as a profile; None: it has no run time or no calls."""
        listed = {time.rank for site in self.sites.values() for time in site.times}
        if not listed or math.isnan(self.run_s):
            return None
        numbers = sorted(listed | self.shares.get(_IN_MPI, {}).keys())
        return ReportedProfile(
            launch=self.launch,
            source=self.source,
            words=self.words,
            started=self.date,
            ranks=tuple(map(self._rank, numbers)),
            sites=tuple(self.sites.values()),
        )

    def _rank(self, rank: int) -> ReportedRank:
        """The times of a rank; perfcatcher prints them as shares of the run time."""
        mpi, user, system = (
            self.shares.get(table, {}).get(rank, math.nan) / 100 * self.run_s
            for table in (_IN_MPI, _USER, _SYSTEM)
        )
        return ReportedRank(rank, "", self.run_s, mpi, user, system)

    def read(self, line: str) -> Iterator[Figure]:
        """The figures in this line."""
        if match := _SUMMARY.match(line):
            if match[1] == _RUN_TIME:
                self.run_s = float(match[2])
            yield self._figure(f"{match[1]}, mean of ranks", match[2], _UNITS[match[3]], rank=-1)
        elif match := _TABLE.match(line):
            self.table = match[1].strip()
        elif match := _RANK.match(line):
            self.rank, self.table, self.call = int(match[1]), "", ""
        elif match := _CALL.match(line):
            self.call = match[1]
            yield from self._of_call(match[2], match[3], line)
        elif self.table:
            for rank, share in _OF_RANK.findall(line):
                self.shares.setdefault(self.table, {})[int(rank)] = float(share)
                yield self._figure(self.table, share, "%", rank=int(rank))
        elif self.call:
            yield from self._of_messages(line)
        else:
            self._learn(line)

    def _learn(self, line: str) -> None:
        if match := _VERSION.match(line):
            self.source = f"perfcatcher {match[1]}"
        elif match := _COMMAND.match(line):
            self.words = tuple(match[1].split())
        elif match := _DATE.match(line):
            self.date = match[1].strip()
        elif match := _RANKS.match(line):
            self.ranks = int(match[1])

    def _of_call(self, calls: str, time: str, line: str) -> Iterator[Figure]:
        site = self.sites.setdefault(self.call, ReportedSite(call_name(self.call), 0))
        site.times.append(ReportedTime(self.rank, int(calls), float(time)))
        yield self._figure(f"calls of {self.call}", calls, "1", rank=self.rank)
        yield self._figure(f"time in {self.call}", time, "s", rank=self.rank)
        if match := _DATA.search(line):
            what = "mean data of" if match[1].startswith("avg") else "data of"
            yield self._figure(f"{what} {self.call}", match[2], "B", rank=self.rank)

    def _of_messages(self, line: str) -> Iterator[Figure]:
        if match := _WAITS.search(line):
            yield self._figure(f"waits of {self.call}", match[1], "1", rank=self.rank)
            yield self._figure(f"time waiting in {self.call}", match[2], "s", rank=self.rank)
        for size, count, peer in _SIZE.findall(line):
            self._keep_messages(int(size), int(count), int(peer))
            name = f"messages of {size} B by {self.call}, peer or communicator {peer}"
            yield self._figure(name, count, "1", rank=self.rank)

    def _keep_messages(self, size: int, count: int, peer: int) -> None:
        """Keeps messages; the peer is a rank of the other side, or the number of a communicator."""
        self.sites[self.call].messages.append(
            ReportedMessages(
                rank=self.rank,
                count=count,
                bytes=whole(size * count),
                least=size,
                most=size,
                peer=peer,
                is_received="recv" in self.call.lower(),
            )
        )

    def _figure(self, name: str, value: str, unit: str, rank: int) -> Figure:
        better = "lower" if unit in ("s", "%") else ""
        return Figure(self.launch, self.program, name, float(value), unit, better, ranks=self.ranks,
                      rank=rank, source=self.source, origin="imported")  # fmt: skip
