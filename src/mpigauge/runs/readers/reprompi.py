# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""ReproMPI: the time of each call, or a summary of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from mpigauge.model.cards import FIRST_SUITE, Card
from mpigauge.runs.readers.imb_columns import Shape, fixed
from mpigauge.runs.readers.known import card_of
from mpigauge.runs.readers.reading import Reading, TextTable, Unread, joined, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.settings_lines import arm_of
from mpigauge.runs.readers.text import NUMBER, why_no_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.runs.readers.text import Text

_SETTING = re.compile(r"^#@(\w+)=(.*)")
_DAMAGED = re.compile(r"^\s*MPI_\w+\s+\d")
SYNCS = {"MPI_Barrier": "barrier", "BBarrier": "dissemination"}
"""Synchronization of runs; others are windows of a common clock."""
SUMMARIES = {
    "mean_runtime_sec": "time_mean_s", "median_runtime_sec": "time_p50_s",
    "min_runtime_sec": "time_best_s", "max_runtime_sec": "time_worst_s",
}  # fmt: skip
SUITE = "REPROMPI"
"""The suite of calls that mpigauge does not time."""
WHOLE = ("nprocs", "datatype_size_bytes")
COUNTS = ("nrep", "total_nrep", "valid_nrep", "count")
_MOST = 2**31 - 1
"""The largest number of ranks, elements and bytes of an element: a C int."""
_BEGINS = re.compile(r"^#(?:@|Command-line arguments|MPI calls)")
"""Lines in the heading of a run."""
_FACTS = (
    "operation", "datatype", "datatype_extent_bytes", "datatype_size_bytes", "reproMPIcommitSHA1",
    "nprocs", "sync", "process_sync", "nrep",
)  # fmt: skip
"""Facts of a heading that have a column, or that are no setting."""
_USUAL = {"clocktype": "local", "clock": "MPI_Wtime", "root_proc": "0"}
Key = tuple[str, int]


@reader(
    "reprompi", "ReproMPI, single times and summaries", rb"^#@reproMPIcommitSHA1=|^#@clocktype="
)
def read(text: Text) -> Reading:
    """Reads a row for each call and count, for single times their median. Each heading begins a
    run."""
    runs = [_Run()]
    for number, line in text.numbered():
        if _BEGINS.match(line) and (runs[-1].single or runs[-1].summaries):
            runs.append(_Run())
        runs[-1].look(number, line)
    return joined(run.reading() for run in runs)


@dataclass
class _Run:
    """The state of a run at a line, and everything read before it."""

    stated: dict[str, str] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    single: dict[Key, list[dict[int, float]]] = field(default_factory=dict)
    """The time of each repetition; another list if the repetitions are counted anew."""
    summaries: list[tuple[Key, dict[str, float], bool]] = field(default_factory=list)
    """A key, its values, and True if their time is the median."""
    unread: list[Unread] = field(default_factory=list)

    def look(self, number: int, line: str) -> None:
        words = line.split()
        if match := _SETTING.match(line):
            self._state(number, line, match[1], match[2].strip())
        elif "test" in words and "count" in words:
            self.heads = words
        elif self.heads and (row := _row(self.heads, words)):
            self._add(row)
        elif self.heads and _DAMAGED.match(line):
            why = why_no_row(words, self.heads, ("test",))
            self.unread.append(Unread(number, line.strip(), why))

    def reading(self) -> Reading:
        rows = list(self.summaries)
        for key, series in self.single.items():
            rows += [(key, _of_times(list(times.values())), True) for times in series]
        ranks = int(self.stated.get("nprocs", 0))
        cards = dict.fromkeys(_card(call) for (call, _), _, _ in rows)
        return Reading(
            tables=tuple(_table(*row, self.stated) for row in rows),
            launches=(unknown_launch(0, world_ranks=ranks),),
            unread=tuple(self.unread),
            cards=tuple(card for card in cards if card.suite == SUITE),
        )

    def _state(self, number: int, line: str, name: str, value: str) -> None:
        if name in WHOLE and not (value.isdecimal() and int(value) <= _MOST):
            why = f"it is not a whole number up to {_MOST}"
            self.unread.append(Unread(number, line.strip(), why))
        else:
            self.stated[name] = value

    def _add(self, row: Mapping[str, str]) -> None:
        key = (row["test"], int(row["count"]))
        if "runtime_sec" in row:
            series = self.single.setdefault(key, [{}])
            repetition = int(row.get("nrep", len(series[-1])))
            if repetition in series[-1]:
                series.append({})
            series[-1][repetition] = float(row["runtime_sec"])
        elif any(name in row for name in SUMMARIES):
            self.summaries.append((key, _summary(row), "median_runtime_sec" in row))


def _row(heads: Sequence[str], words: Sequence[str]) -> dict[str, str] | None:
    if len(words) != len(heads):
        return None
    row = dict(zip(heads, words, strict=True))
    times = [row[head] for head in heads if head.endswith("_sec")]
    counts = [row[head] for head in heads if head in COUNTS]
    is_row = all(re.fullmatch(NUMBER, word) for word in times) and all(map(str.isdecimal, counts))
    if is_row and times and all(int(count) <= _MOST for count in counts):
        return row
    return None


def _of_times(times: Sequence[float]) -> dict[str, float]:
    return {
        "samples": len(times), "time_p50_s": median(times), "time_mean_s": fmean(times),
        "time_best_s": min(times), "time_worst_s": max(times),
    }  # fmt: skip


def _summary(row: Mapping[str, str]) -> dict[str, float]:
    times = {SUMMARIES[name]: float(row[name]) for name in SUMMARIES if name in row}
    time = times.get("time_p50_s", times.get("time_mean_s", min(times.values())))
    counted = row.get("valid_nrep") or row.get("total_nrep") or row.get("nrep") or "1"
    return times | {"time_p50_s": time, "samples": int(counted)}


def _table(
    key: Key, row: Mapping[str, float], has_median: bool, stated: Mapping[str, str]
) -> TextTable:
    card = _card(key[0])
    sized = {"message_bytes": key[1] * int(stated.get("datatype_size_bytes", 1))}
    return TextTable.of_rows(_fixed(card, has_median, stated), [{**row, **sized}])


def _fixed(card: Card, has_median: bool, stated: Mapping[str, str]) -> dict[str, Any]:
    shape = Shape(int(stated.get("nprocs", 0)))
    return fixed(card, 0, shape) | {
        "datatype": stated.get("datatype", "MPI_BYTE").removeprefix("MPI_").lower(),
        "op": stated.get("operation", "").removeprefix("MPI_").lower()
        if card.unit == "reduction"
        else "",
        "sync": SYNCS.get(stated.get("sync", stated.get("process_sync", "")), "clock"),
        "arm": arm_of(_settings(stated)),
        "source": "ReproMPI",
        "statistic": "median over repetitions" if has_median else "mean over repetitions",
    }


def _settings(stated: Mapping[str, str]) -> dict[str, str]:
    """The settings in the heading of a run besides its facts, without default values."""
    settings = {}
    for name, value in stated.items():
        if name not in _FACTS and value != _USUAL.get(name):
            settings[name] = "_".join(value.split())
    return settings


def _card(call: str) -> Card:
    """The card of a call: Allreduce for MPI_Allreduce; one that mpigauge does not time has its name
    only."""
    name = call.removeprefix("MPI_")
    return card_of(FIRST_SUITE, name) or Card(
        suite=SUITE, name=name, about="a call that only ReproMPI times", ranks="any",
        time="call", unit="transfer", sync="each", rooted=False, by_default=False,
        columns="collective",
    )  # fmt: skip
