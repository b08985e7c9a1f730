# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""GPCNeT: network_test and network_load_test, with or without the columns of VERBOSE.

Rows of tests beside congestors have the arm `congested`; those of congestors have `congestor` in
their names. The 99 % of a bandwidth is that of the slowest ranks, so it is a 99th percentile of
times. The factors of the last table are figures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mpigauge.model.cards import Card
from mpigauge.runs.readers.imb_columns import Shape, fixed
from mpigauge.runs.readers.log import Log, read_lines
from mpigauge.runs.readers.reading import Reading, TextTable
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.text import NUMBER, why_no_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.runs.readers.text import Text

SUITE, SOURCE = "GPCNET", "GPCNeT"
_BEGINS = re.compile(r"^\s*Network(?:Load)? Tests v([\d.]+)")
_RANKS = re.compile(r"^\s*Test with (\d{1,9}) MPI ranks \((\d{1,9}) nodes\)")
_VICTIMS = re.compile(r"^\s*(\d{1,9}) nodes running Network Tests")
_TITLE = re.compile(
    r"^\|\s*(?P<kind>Isolated Network|Isolated Congestion|Network) Tests"
    r"(?P<beside> (?:running )?with Congest\w+(?: Tests)?)?(?P<more>[^|]*)\|\s*$"
)
_OF_TEST = re.compile(r"\(\s*(.*?) Network Test\)")
_NAME = re.compile(r"(\S.*?)(?: \((\d{1,18}) B\))?")
_NUMBER = re.compile(NUMBER)
_FACTOR = re.compile(rf"({NUMBER})X")
_BYTES_PER_S = {"MiB/s/rank": 2**20, "MB/s/rank": 1e6, "GiB/s/rank": 2**30}
_SECONDS = {"usec": 1e-6, "msec": 1e-3, "sec": 1.0}
_COLUMNS = {"Min": "time_best_s", "Max": "time_worst_s", "Avg": "time_mean_s", "99%": "time_p99_s"}
"""Stored columns by the heads for times; of a bandwidth, the smallest has the longest time."""
_SWAPPED = {"time_best_s": "time_worst_s", "time_worst_s": "time_best_s"}
_NOT_STORED = ("Avg(Worst)", "99.9%")
_UNITS, _IMPACT = "Units", "Congestion Impact Factor"
_CONGESTORS = re.compile(r"Incast|Bcast|Alltoall \(4096")


@reader("gpcnet", "GPCNeT (network_test, network_load_test)", rb"^[ \t]*Network(?:Load)? Tests v\d")
def read(text: Text) -> Reading:
    """Reads a row for each test; each heading begins a launch."""
    return read_lines(_Gpcnet(), text).result()


@dataclass
class _Gpcnet(Log):
    """The state of the text at a line."""

    version: str = ""
    ranks: int = 0
    nodes: int = 0
    victims: int = 0
    """Nodes of the tests, where others run congestors."""
    arm: str = ""
    is_of_congestors: bool = False
    heads: tuple[str, ...] = ()
    tables: list[TextTable] = field(default_factory=list)
    cards: dict[Card, None] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    """The heads of numbers that have no column."""

    def look(self, number: int, line: str) -> None:
        if match := _BEGINS.match(line):
            self.launch, self.version, self.heads = self.launch + 1, match[1], ()
            self.ranks = self.nodes = self.victims = 0
        elif match := _RANKS.match(line):
            self.ranks, self.nodes = int(match[1]), int(match[2])
            self.world_ranks[self.launch] = self.ranks
        elif match := _VICTIMS.match(line):
            self.victims = int(match[1])
        elif match := _TITLE.match(line):
            self._title(match)
        elif line.startswith("|") and self.launch >= 0:
            self._line(number, line, [cell.strip() for cell in line.strip().strip("|").split("|")])

    def result(self) -> Reading:
        remarks = []
        if self.lost:
            heads = " and ".join(sorted(self.lost))
            remarks.append(f"GPCNeT: there is no place for the columns {heads}; they are left out")
        return self.reading(self.tables, self.cards, remarks)

    def _title(self, match: re.Match[str]) -> None:
        self.heads = ()
        self.is_of_congestors = match["kind"] == "Isolated Congestion"
        self.arm = "congested" if match["beside"] else ""
        if of := _OF_TEST.search(match["more"]):
            self.arm = f"congested beside={'_'.join(of[1].split())}"

    def _line(self, number: int, line: str, words: Sequence[str]) -> None:
        if words[0] == "Name":
            self.heads = tuple(words)
        elif not words[0] and self.heads[1:] == (_IMPACT,):
            self.heads = ("Name", *(f"impact {word}" for word in words[1:]))
        elif self.heads and words[0]:
            why = why_no_row(words[1:], self.heads[1:], (_UNITS,))
            if len(words) == len(self.heads):
                why = self._factors(words) if "impact" in self.heads[1] else self._row(words, why)
            if why:
                self.leave_out(number, line.strip(), why)

    def _factors(self, words: Sequence[str]) -> str:
        """Keeps the factors of a row. Returns the reason why it has none."""
        matches = [_FACTOR.fullmatch(word) for word in words[1:]]
        if not all(matches):
            wrong = next(word for word, match in zip(words[1:], matches, strict=True) if not match)
            return f"{wrong.removesuffix('X')} is not a number"
        for head, match in zip(self.heads[1:], matches, strict=True):
            assert match
            name = f"{words[0]}, {head}"
            self.add_figure(
                self.source, name, float(match[1]), "×", "lower", benchmark=SOURCE,
                ranks=self.ranks,
            )  # fmt: skip
        return ""

    @property
    def source(self) -> str:
        return f"{SOURCE} {self.version}"

    def _row(self, words: Sequence[str], why: str) -> str:
        """Stores a row; returns the reason why it cannot, or nothing."""
        printed = dict(zip(self.heads[1:], words[1:], strict=True))
        unit = printed.pop(_UNITS, "")
        if not all(map(_NUMBER.fullmatch, printed.values())):
            return why
        times = {head: float(word) for head, word in printed.items() if head in _COLUMNS}
        name = _NAME.fullmatch(words[0])
        if name is None or not times.get("Avg", 0) > 0:
            return "it has no mean above zero"
        self.lost |= set(_NOT_STORED) & set(printed)
        size = int(name[2] or 0)
        if unit in _SECONDS:
            row = {_COLUMNS[head]: value * _SECONDS[unit] for head, value in times.items()}
        elif unit in _BYTES_PER_S and size:
            row = _times_of_rates(times, size / _BYTES_PER_S[unit])
        else:
            return f"{unit} is an unknown unit"
        self._add(name[1], size, unit in _BYTES_PER_S, row)
        return ""

    def _add(self, name: str, size: int, is_rate: bool, times: dict[str, float]) -> None:
        is_congestor = self.is_of_congestors or (
            bool(self.arm) and bool(_CONGESTORS.search(f"{name} ({size}"))
        )
        card = _card(name, is_congestor)
        self.cards.setdefault(card)
        moved = {"moved_bytes": size, "messages": 1} if is_rate else {}
        row = {"message_bytes": size, "time_p50_s": times["time_mean_s"], **times, **moved}
        about: dict[str, Any] = {
            "arm": self.arm,
            "source": self.source,
            "statistic": "mean over repetitions and ranks",
        }
        shape = Shape(0 if is_congestor else self._ranks_of_tests)
        self.tables.append(TextTable.of_rows(fixed(card, self.launch, shape) | about, [row]))

    @property
    def _ranks_of_tests(self) -> int:
        """The ranks of the tests, as nodes have the same number of ranks; 0: not known."""
        if not self.victims:
            return self.ranks
        if self.nodes and self.ranks % self.nodes == 0:
            return self.ranks // self.nodes * self.victims
        return 0


def _times_of_rates(rates: dict[str, float], size_s: float) -> dict[str, float]:
    """The times of one message at these rates; a rate of zero has none."""
    times = {}
    for head, rate in rates.items():
        if rate > 0:
            column = _COLUMNS[head]
            times[_SWAPPED.get(column, column)] = size_s / rate
    return times


@lru_cache(maxsize=64)
def _card(name: str, is_congestor: bool) -> Card:
    word = re.sub(r"[^\w+]+", "_", name).strip("_")
    about = f"GPCNeT's {name}"
    if is_congestor:
        word, about = f"congestor_{word}", f"GPCNeT's congestor {name}"
    return Card(
        suite=SUITE, name=word, about=about, ranks="any", time="call", unit="transfer",
        sync="none", rooted=False, by_default=False, columns="single",
    )  # fmt: skip
