# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""HP2P: the summary on its output, and the matrix of bandwidths in its page of HTML.

A cell of the matrix is the bandwidth that the rank of its row measured with that of its column,
while all other ranks did the same in other pairs. So each pair has a row of either side. A megabyte
of HP2P has 2^20 bytes.
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
    from mpigauge.runs.readers.text import Text

SUITE = SOURCE = "HP2P"
_SUMMARY = re.compile(r"^\s*={2,3} SUMMARY ={2,3}\s*$")
_FIGURE = re.compile(
    r"^\s*((?:Min|Max|Avg|Std) (?:bandwidth|latency|bisection bandwidth|bisection efficiency))"
    r"\s*: (\S+) (MB/s|us|%)\s*$"
)
_SIZE = re.compile(r"^\s*Message size\s*: (\d{1,15})\s*$")
_PAGE_PART = re.compile(r"^\s*// (hostlist|msg_size|bandwidth) (start|end)\s*$")
_HOST = re.compile(r'"([^"]{1,256})"')
_MATRIX_ROW = re.compile(r"\[([^\[\]]+)\]")
_NUMBER = re.compile(NUMBER)
_FACTORS = {"MB/s": (BINARY_MEGABYTE / 1e6, "MB/s"), "us": (1.0, "µs"), "%": (1.0, "%")}
_BETTER = {"MB/s": "higher", "us": "lower", "%": "higher"}


@reader(
    "hp2p",
    "HP2P, its output and its page",
    rb"^[ \t]*(?:// bandwidth start|Std bandwidth[ \t]{0,20}:[ \t]{0,20}\S+ MB/s)",
)
def read(text: Text) -> Reading:
    """Reads the figures of each summary, and a row for each pair of a page and each of its sides.
    Each summary, and each page, is a launch."""
    return read_lines(_Hp2p(), text).result()


@dataclass
class _Hp2p(Log):
    """The state of the text at a line."""

    part: str = ""
    """The part of a page that the line is in."""
    size: int = 0
    hosts: list[str] = field(default_factory=list)
    matrices: list[PairMatrix] = field(default_factory=list)
    ranks: list[Rank] = field(default_factory=list)

    def look(self, number: int, line: str) -> None:
        if _SUMMARY.match(line):
            self.launch += 1
        elif match := _PAGE_PART.match(line):
            self._page(match[1], match[2] == "start")
        elif self.part == "hostlist":
            self.hosts += _HOST.findall(line)
        elif self.part == "msg_size" and line.strip().isdecimal():
            self.size = int(line.strip()[:15])
        elif self.part == "bandwidth" and "[" in line:
            self._matrix(number, line)
        elif match := _SIZE.match(line):
            self.size = int(match[1])
        elif match := _FIGURE.match(line):
            self._figure(number, line, *match.groups())

    def result(self) -> Reading:
        remarks = []
        if self.matrices or any(figure.unit == "MB/s" for figure in self.figures):
            remarks.append("HP2P: MB/s in the text are of 2^20 bytes, here of 10^6")
        for rank in self.ranks:
            self.world_ranks[rank.launch] = self.world_ranks.get(rank.launch, 0) + 1
        return self.reading(
            (matrix.table() for matrix in self.matrices if matrix.pairs),
            (_card(matrix.fixed["benchmark"]) for matrix in self.matrices),
            remarks,
            self.ranks,
        )

    def _page(self, part: str, is_start: bool) -> None:
        self.part = part if is_start else ""
        if is_start and part == "hostlist":
            self.launch, self.hosts, self.size = self.launch + 1, [], 0

    def _matrix(self, number: int, line: str) -> None:
        rows = [[word.strip() for word in row.split(",")] for row in _MATRIX_ROW.findall(line)]
        rows = [[word for word in row if word] for row in rows]
        count = len(self.hosts)
        if not self.size or not count or self.launch < 0:
            self._leave_out(number, "the hosts or the size above its matrix are missing")
            return
        if len(rows) != count:
            self._leave_out(number, f"the matrix has {len(rows)} of {count} rows")
        sides = {name: self._side(name) for name in ("Pair_lower", "Pair_higher")}
        for first, row in enumerate(rows[:count]):
            if len(row) != count:
                self._leave_out(number, f"row {first + 1} has {len(row)} of {count} columns")
                continue
            for second, word in enumerate(row):
                if first == second:
                    continue
                side = sides["Pair_lower" if first < second else "Pair_higher"]
                self._cell(number, side, (first, second), word)
        self.matrices += sides.values()
        self.ranks += ranks_on(self.hosts, self.launch)

    def _cell(self, number: int, side: PairMatrix, pair: tuple[int, int], word: str) -> None:
        first, second = pair
        names = f"{self.hosts[first]} with {self.hosts[second]}"
        if not _NUMBER.fullmatch(word):
            self._leave_out(number, f"{word} is not a number ({names})")
        elif float(word) > 0:
            side.add(first, second, float(word))
        else:
            self._leave_out(number, f"{names} did not meet")

    def _side(self, name: str) -> PairMatrix:
        about = {
            "source": SOURCE,
            "statistic": "mean over repetitions",
            "groups": max(len(self.hosts) // 2, 1),
        }
        columns = fixed(_card(name), self.launch, Shape(2)) | about
        return PairMatrix(self.launch, self.size, columns)

    def _leave_out(self, number: int, why: str) -> None:
        self.leave_out(number, "bandwidth", why)

    def _figure(self, number: int, line: str, name: str, word: str, unit: str) -> None:
        if not _NUMBER.fullmatch(word):
            self.leave_out(number, line.strip(), f"{word} is not a number")
            return
        self.launch = max(self.launch, 0)
        factor, stored = _FACTORS[unit]
        better = "" if name.startswith("Std") else _BETTER[unit]
        arm = f"size={self.size}" if self.size else ""
        self.add_figure(
            SOURCE, name, float(word) * factor, stored, better, benchmark=SOURCE, arm=arm
        )


@lru_cache(maxsize=4)
def _card(name: str) -> Card:
    side = name.rpartition("_")[2]
    return Card(
        suite=SUITE, name=name, about=f"HP2P: a pair, as the {side} rank measures it",
        ranks="pair", time="call", unit="transfer", sync="none", rooted=False, by_default=False,
        columns="band",
    )  # fmt: skip
