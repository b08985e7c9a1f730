# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpiGraph: the bandwidth from every rank to every other one, while all ranks send in a ring.

The text has two matrices: bandwidths as senders measured them, and as receivers did. Each becomes
two benchmarks, one from the lower rank of a pair to the higher one, and one back. A megabyte of
mpiGraph has 2^20 bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from mpigauge.model.cards import Card
from mpigauge.model.record import Rank
from mpigauge.runs.readers.imb_columns import Shape, fixed
from mpigauge.runs.readers.log import Log, read_lines
from mpigauge.runs.readers.pair_matrix import BINARY_MEGABYTE, PairMatrix, ranks_on
from mpigauge.runs.readers.reading import Reading
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.text import NUMBER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.runs.readers.text import Text

SUITE, SOURCE = "MPIGRAPH", "mpiGraph"
_BEGINS = re.compile(r"^\s*START mpiGraph\s*(?:v([\d.]+))?")
_FACT = re.compile(r"^\s*(Msg ?Size|Window|Window Size|Procs):?\s+(\d{1,15})(?: Bytes)?\s*$")
_HEAD = re.compile(r"^\s*(Send|Recv)\s+\S+:\d+(?:\s|$)")
_ROW = re.compile(r"^\s*(\S+):(\d{1,7}) (to|from)\s")
_FIGURE = re.compile(rf"^\s*(Send|Recv) (max|avg)\s+({NUMBER})\s*$")
_NO_FIGURE = re.compile(r"^\s*(?:Send|Recv) (?:max|avg)\s+(\S+)")
_NUMBER = re.compile(NUMBER)
_SIDES = {"Send": "to", "Recv": "from"}
_MOST_INFLIGHT = 10**9


@reader("mpigraph", "mpiGraph", rb"^[ \t]*START mpiGraph")
def read(text: Text) -> Reading:
    """Reads a row for each pair, direction and side; each heading begins a launch."""
    return read_lines(_MpiGraph(), text).result()


@dataclass
class _MpiGraph(Log):
    """The state of the text at a line."""

    source: str = SOURCE
    facts: dict[str, int] = field(default_factory=dict)
    side: str = ""
    """Send or Recv, inside of a matrix."""
    hosts: list[str] = field(default_factory=list)
    """The columns of the matrix, such as n1:0."""
    matrices: dict[tuple[int, str], PairMatrix] = field(default_factory=dict)
    hosts_of: dict[int, list[str]] = field(default_factory=dict)
    """The columns of the first matrix of each launch."""

    def look(self, number: int, line: str) -> None:
        if match := _BEGINS.match(line):
            self.launch, self.side, self.facts = self.launch + 1, "", {}
            self.source = f"{SOURCE} {match[1] or ''}".rstrip()
        elif self.launch < 0:
            return
        elif match := _FACT.match(line):
            self.facts[match[1].replace(" ", "").removesuffix("Size")] = int(match[2])
        elif _HEAD.match(line):
            self._head(line.split())
        elif match := _ROW.match(line):
            self._row(number, line, match)
        elif match := _FIGURE.match(line):
            self._figure(f"{match[1]} {match[2]}", float(match[3]))
        elif match := _NO_FIGURE.match(line):
            self.leave_out(number, line.strip(), f"{match[1]} is not a number")

    def result(self) -> Reading:
        ranks: list[Rank] = []
        for launch, hosts in self.hosts_of.items():
            ranks += ranks_on([name.rpartition(":")[0] for name in hosts], launch)
            self.world_ranks[launch] = len(hosts)
        tables = [matrix.table() for matrix in self.matrices.values()]
        remarks = ["mpiGraph: MB/s in the text are of 2^20 bytes, here of 10^6"] if tables else []
        return self.reading(tables, (_card(name) for _, name in self.matrices), remarks, ranks)

    def _head(self, words: Sequence[str]) -> None:
        self.side, self.hosts = words[0], list(words[1:])
        self.hosts_of.setdefault(self.launch, self.hosts)

    def _row(self, number: int, line: str, match: re.Match[str]) -> None:
        """Stores the bandwidths of a row; other words are listed as unread."""
        row, words = int(match[2]), line[match.end() :].split()
        if why := self._why_no_row(match, row, len(words)):
            self.leave_out(number, line.strip()[:80], why)
            return
        for column, word in enumerate(words):
            if column == row:
                continue
            if not _NUMBER.fullmatch(word) or not float(word) > 0:
                why = f"{word} is not a number ({self.hosts[column]})"
                if _NUMBER.fullmatch(word):
                    why = f"{word} MB/s is no bandwidth ({self.hosts[column]})"
                self.leave_out(number, f"{match[0].strip()} {word}", why)
                continue
            sender, receiver = (row, column) if self.side == "Send" else (column, row)
            self._matrix(sender < receiver).add(sender, receiver, float(word))

    def _why_no_row(self, match: re.Match[str], row: int, count: int) -> str:
        """The reason why a line is no row of this matrix; empty: it is one."""
        if _SIDES.get(self.side) != match[3]:
            return "the head of its matrix is missing"
        if count != len(self.hosts):
            return f"it has {count} of {len(self.hosts)} columns"
        if row >= len(self.hosts) or self.hosts[row] != f"{match[1]}:{match[2]}":
            return f"{match[1]}:{match[2]} is no column of its matrix"
        if not self.facts.get("Msg"):
            return "the size of its messages is missing"
        return ""

    def _matrix(self, is_up: bool) -> PairMatrix:
        name = f"{self.side}_{'up' if is_up else 'down'}"
        matrix = self.matrices.get((self.launch, name))
        if matrix is None:
            inflight = min(max(self.facts.get("Window", 1), 1), _MOST_INFLIGHT)
            about = {
                "source": self.source,
                "statistic": "mean over repetitions",
                "groups": max(len(self.hosts) // 2, 1),
            }
            columns = fixed(_card(name), self.launch, Shape(2, inflight)) | about
            matrix = PairMatrix(self.launch, self.facts["Msg"], columns)
            self.matrices[self.launch, name] = matrix
        return matrix

    def _figure(self, name: str, rate: float) -> None:
        value = rate * BINARY_MEGABYTE / 1e6
        ranks = self.facts.get("Procs", 0)
        self.add_figure(self.source, name, value, "MB/s", "higher", benchmark=SOURCE, ranks=ranks)


@lru_cache(maxsize=8)
def _card(name: str) -> Card:
    side, _, way = name.partition("_")
    measured = {"Send": "as the sender measures it", "Recv": "as the receiver measures it"}[side]
    to = {"up": "lower rank to the higher one", "down": "higher rank to the lower one"}[way]
    return Card(
        suite=SUITE, name=name, about=f"mpiGraph: from the {to}, {measured}", ranks="pair",
        time="call", unit="transfer", sync="each", rooted=False, by_default=False, columns="band",
        windowed=True,
    )  # fmt: skip
