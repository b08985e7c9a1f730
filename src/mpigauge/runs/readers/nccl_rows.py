# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tests of nccl-tests: the facts above a table, and the stored columns of its rows.

A row holds the same operation out of place and in place; each becomes a row of its own. Its time is
that of a loop of calls, divided by their number: calls are enqueued, and completed together unless
blocking was asked for. Sizes are those of one rank's part, as in MPI's collectives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.model.data_memory import DEVICE
from mpigauge.runs.readers.imb_columns import OF_SLOWEST, OVER_RANKS, Shape, fixed
from mpigauge.runs.readers.nccl_cards import PER_RANK, TOGETHER, nccl_card
from mpigauge.runs.readers.reading import TextTable
from mpigauge.runs.readers.settings_lines import arm_of
from mpigauge.runs.readers.text import NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.model.cards import Card

Row = dict[str, float]
"""Stored columns."""
OUT_OF_PLACE, IN_PLACE = PLACES = ("out-of-place", "in-place")
TIME, CPU_TIME, MEDIAN = "time", "cputime", "i_p50"
ALGORITHM, WRONG, ERROR = "algbw", "#wrong", "error"
_OF_HEAD = {
    "i_min": "time_best_s", "i_max": "time_worst_s", "i_p99": "time_p99_s", MEDIAN: "time_p50_s"
}  # fmt: skip
_NOT_STORED = ("busbw",)
"""Columns that follow from others."""
_NUMBERS = (TIME, CPU_TIME, ALGORITHM, *_OF_HEAD)
_ALL_NUMBERS = (*_NUMBERS, *_NOT_STORED, WRONG, ERROR)
_UNCHECKED = "N/A"
_NUMBER = re.compile(NUMBER)
_WHOLE_ADDRESS = ":"
_US, _MB_PER_GB = 1e-6, 1e3
_BYTES = {
    "int8": 1, "uint8": 1, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8, "half": 2,
    "float": 4, "double": 8, "bfloat16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1,
}  # fmt: skip
_DATATYPES = {"half": "float16"}
"""Data types by the words of nccl-tests, where mpigauge has others."""
_BOUNDS = {"half": 1e-2, "bfloat16": 1e-2, "float": 1e-5, "double": 1e-12}
"""The largest error of a sum that versions with a column `error` accept; 0 for integers."""
_AVERAGES = {
    "0": "mean over repetitions, rank 0", "1": OVER_RANKS,
    "2": "mean over repetitions, fastest rank", "3": OF_SLOWEST,
}  # fmt: skip
"""Statistics by the value of --average."""
_AVERAGE = re.compile(r"(?<!\S)(?:-a|--average)[ =]?([0-3])(?!\S)")
SETTINGS = {"agg iters": ("aggregated", "1"), "graph": ("graph", "0"), "unalign": ("unalign", "0")}
"""Facts that change what is measured: the name of a setting, and the usual value."""
_MEDIAN_OF = "median over repetitions, slowest rank"


@dataclass(frozen=True)
class Operation:
    """The columns that a row has in common out of place and in place."""

    size: int
    count: int
    type: str
    redop: str = ""
    root: str = ""


@dataclass
class NcclTable:
    """Rows that differ in their sizes only, and the columns that they share."""

    about: dict[str, Any]
    rows: list[Row] = field(default_factory=list)

    def table(self, launch: int) -> TextTable:
        return TextTable.of_rows({**self.about, "launch": launch}, self.rows)


@dataclass
class NcclTest:
    """A test, as far as its text has been read."""

    name: str = ""
    """The benchmark; empty: unknown."""
    program: str = "nccl-tests"
    version: str = ""
    library: str = ""
    """The version of the library; empty: unknown."""
    devices: dict[int, tuple[int, str]] = field(default_factory=dict)
    """The group and the GPU, as host and bus, of each rank."""
    given_ranks: int = 0
    """The ranks that the user names; 0: none."""
    calls: int = 0
    completion: str = TOGETHER
    settings: dict[str, str] = field(default_factory=dict)
    surroundings: dict[str, str] = field(default_factory=dict)
    """Settings of the library."""
    placement: str = ""
    average: str = "1"
    time: str = ""
    """The time of its start; empty: unknown."""
    tables: dict[tuple[object, ...], NcclTable] = field(default_factory=dict)

    @property
    def ranks(self) -> int:
        """Ranks of one communicator; 0: unknown."""
        if self.given_ranks or not self.devices:
            return self.given_ranks
        return max(1, (max(self.devices) + 1) // self.groups)

    @property
    def groups(self) -> int:
        return len({group for group, _ in self.devices.values()}) or 1

    @property
    def sharing(self) -> str:
        """shared: ranks of a group share a GPU. Older versions print no whole bus address, by which
        GPUs could be told apart."""
        places = [device for device in self.devices.values() if _WHOLE_ADDRESS in device[1]]
        return "shared" if len(set(places)) < len(places) else ""

    @property
    def card(self) -> Card:
        return nccl_card(self.name)

    @property
    def source(self) -> str:
        program = f"{self.program} {self.version}".rstrip()
        return f"{program} with {self.library}" if self.library else program

    def message_bytes(self, operation: Operation) -> int:
        """The size of one rank's part."""
        if self.name not in PER_RANK:
            return operation.size
        if width := _BYTES.get(operation.type):
            return operation.count * width
        return operation.size // (self.ranks or 1)

    def add(self, operation: Operation, place: str, printed: Mapping[str, str]) -> str:
        """Adds one half of a row, as printed. Returns the reason why it is not one; empty: it is
        added."""
        for head, word in printed.items():
            is_unchecked = head in (WRONG, ERROR) and word == _UNCHECKED
            if head in _ALL_NUMBERS and not is_unchecked and not _NUMBER.fullmatch(word):
                return f"{word} is not a number ({head}, {place})"
        row = self._row(operation, printed)
        if row is None:
            return f"it has no time above zero ({place})"
        about = self._about(operation, place, printed, "wrong_count" in row)
        self.tables.setdefault(tuple(about.values()), NcclTable(about)).rows.append(row)
        return ""

    def _row(self, operation: Operation, printed: Mapping[str, str]) -> Row | None:
        """The stored columns of one half of a row; None: it has no time above zero."""
        numbers = {head: float(word) for head, word in printed.items() if head in _NUMBERS}
        mean = numbers.get(TIME, numbers.get(CPU_TIME, 0.0)) * _US
        if not mean > 0:
            return None
        row: Row = {"message_bytes": self.message_bytes(operation), "calls": self.calls}
        row |= {"time_p50_s": mean, "time_mean_s": mean}
        row |= {name: numbers[head] * _US for head, name in _OF_HEAD.items() if head in numbers}
        if ALGORITHM in numbers:
            row["printed_mb_per_s"] = numbers[ALGORITHM] * _MB_PER_GB
        wrong = wrong_elements(operation, printed)
        if wrong is not None:
            row["wrong_count"] = wrong
        return row

    def _about(
        self, operation: Operation, place: str, printed: Mapping[str, str], is_checked: bool
    ) -> dict[str, Any]:
        """The columns that rows of a table share."""
        settings = dict(self.settings)
        settings |= {"timed": "cpu"} if CPU_TIME in printed else {}
        settings |= {"root": operation.root} if operation.root not in ("", "-1", "0") else {}
        return {
            **fixed(self.card, 0, Shape(self.ranks)),
            "groups": self.groups,
            "datatype": _DATATYPES.get(operation.type, operation.type),
            "op": operation.redop if operation.redop != "none" else "",
            "memory": DEVICE,
            "completion": self.completion,
            "settings": arm_of(settings),
            "arm": f"{place} {arm_of(self.surroundings)}".rstrip(),
            "placement": self.placement,
            "source": self.source,
            "sharing": self.sharing,
            "check": "exact" if is_checked else "none",
            "statistic": _MEDIAN_OF
            if MEDIAN in printed
            else _AVERAGES.get(self.average, OVER_RANKS),
        }


def wrong_elements(operation: Operation, printed: Mapping[str, str]) -> int | None:
    """The number of wrong elements; of an older version, 1 for an error beyond its bound. None: the
    data were not checked."""
    try:
        if ERROR not in printed:
            return int(float(printed[WRONG]))
        bound = _BOUNDS.get(operation.type, 0.0) if operation.redop else 0.0
        return int(float(printed[ERROR]) > bound)
    except (KeyError, ValueError, OverflowError):
        return None


def has_place(head: str) -> bool:
    """True if a column is stored, or follows from one that is."""
    return head in _ALL_NUMBERS


def average_in(command: str) -> str:
    """The value of --average in a command."""
    match = _AVERAGE.search(command)
    return match[1] if match else "1"


def library_version(code: int) -> str:
    """The version of NCCL by its number: 23007 is 2.30.7, 2804 was 2.8.4."""
    major, rest = divmod(code, 10_000 if code >= 10_000 else 1_000)
    return f"{major}.{rest // 100}.{rest % 100}"
