# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reports of SGI's perfcatcher: time in MPI, calls and messages of each rank, as figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.record import Figure
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.text import NUMBER

if TYPE_CHECKING:
    from mpigauge.runs.readers.text import Text

_NUMBER = f"({NUMBER})"
_VERSION = re.compile(r"^PERFCATCHER version (\S+)")
_COMMAND = re.compile(r"^Program command line:\s+(\S+)")
_DATE = re.compile(r"^Job profile recorded:\s+(.*)")
_RANKS = re.compile(r"^Total MPI/SHMEM processes:\s+(\d+)")
_SUMMARY = re.compile(rf"^(\S.*?), avg per rank\s+{_NUMBER} ?(sec|%)")
_TABLE = re.compile(r"^Rank-by-Rank: (.*)")
_OF_RANK = re.compile(rf"(\d+):{_NUMBER}%")
_RANK = re.compile(r"^Activity on process rank (\d+)")
_CALL = re.compile(rf"^  (\w+)\s+calls:?\s+(\d+)\s+time:?\s+{_NUMBER}")
_WAITS = re.compile(rf"waits: (\d+)\s+wait time: {_NUMBER} s")
_DATA = re.compile(rf"(avg datacnt|datacnt) {_NUMBER}")
_SIZE = re.compile(r"(\d+):\s*(\d+)x\((-?\d+)\)")
_DAMAGED = re.compile(r"^  \w+\s+calls|^\S.*, avg per rank\s|^\s+\d+:|^\s+waits: ")
"""Lines that hold numbers where nothing of them is cut away."""
_UNITS = {"sec": "s", "%": "%"}


@reader("perfcatcher", "reports of SGI's perfcatcher", rb"^PERFCATCHER version ")
def read(text: Text) -> Reading:
    report = _Report()
    figures: list[Figure] = []
    unread: list[Unread] = []
    for number, line in text.numbered():
        found = list(report.figures(line))
        figures += found
        if not found and _DAMAGED.match(line):
            unread.append(Unread(number, line.strip(), "it has not the numbers of such a line"))
    launch = unknown_launch(0, time=report.date, world_ranks=report.ranks)
    return Reading(figures=tuple(figures), launches=(launch,), unread=tuple(unread))


@dataclass
class _Report:
    """What is known of the report at a line."""

    source: str = "perfcatcher"
    program: str = "the application"
    date: str = ""
    ranks: int = 0
    table: str = ""
    rank: int = -1
    call: str = ""

    def figures(self, line: str) -> Iterator[Figure]:
        """The figures in this line."""
        if found := _SUMMARY.match(line):
            yield self._figure(f"{found[1]}, mean of ranks", found[2], _UNITS[found[3]], rank=-1)
        elif found := _TABLE.match(line):
            self.table = found[1].strip()
        elif found := _RANK.match(line):
            self.rank, self.table = int(found[1]), ""
        elif found := _CALL.match(line):
            self.call = found[1]
            yield from self._of_call(found[2], found[3], line)
        elif self.table:
            for rank, share in _OF_RANK.findall(line):
                yield self._figure(self.table, share, "%", rank=int(rank))
        elif self.call:
            yield from self._of_messages(line)
        else:
            self._learn(line)

    def _learn(self, line: str) -> None:
        if found := _VERSION.match(line):
            self.source = f"perfcatcher {found[1]}"
        elif found := _COMMAND.match(line):
            self.program = found[1].rpartition("/")[2]
        elif found := _DATE.match(line):
            self.date = found[1].strip()
        elif found := _RANKS.match(line):
            self.ranks = int(found[1])

    def _of_call(self, calls: str, time: str, line: str) -> Iterator[Figure]:
        yield self._figure(f"calls of {self.call}", calls, "1", rank=self.rank)
        yield self._figure(f"time in {self.call}", time, "s", rank=self.rank)
        if found := _DATA.search(line):
            what = "mean data of" if found[1].startswith("avg") else "data of"
            yield self._figure(f"{what} {self.call}", found[2], "B", rank=self.rank)

    def _of_messages(self, line: str) -> Iterator[Figure]:
        if found := _WAITS.search(line):
            yield self._figure(f"waits of {self.call}", found[1], "1", rank=self.rank)
            yield self._figure(f"time waiting in {self.call}", found[2], "s", rank=self.rank)
        for size, count, peer in _SIZE.findall(line):
            name = f"messages of {size} B by {self.call}, peer or communicator {peer}"
            yield self._figure(name, count, "1", rank=self.rank)

    def _figure(self, name: str, value: str, unit: str, rank: int) -> Figure:
        better = "lower" if unit in ("s", "%") else ""
        return Figure(0, self.program, name, float(value), unit, better, ranks=self.ranks,
                      rank=rank, source=self.source, origin="imported")  # fmt: skip
