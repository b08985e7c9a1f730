# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""ReproMPI: the time of each call, or a summary of them."""

from __future__ import annotations

import re
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from mpigauge.model.cards import FIRST_SUITE, Card
from mpigauge.runs.readers.imb_columns import Shape, fixed
from mpigauge.runs.readers.known import card_of
from mpigauge.runs.readers.reading import Reading, TextTable, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.text import NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.runs.readers.text import Text

_SETTING = re.compile(r"^#@(\w+)=(.*)")
_DAMAGED = re.compile(r"^\s*MPI_\w+\s+\d")
SYNCS = {"MPI_Barrier": "barrier", "BBarrier": "dissemination"}
"""Others are windows of a common clock."""
SUMMARIES = {
    "mean_runtime_sec": "time_mean_s", "median_runtime_sec": "time_p50_s",
    "min_runtime_sec": "time_best_s", "max_runtime_sec": "time_worst_s",
}  # fmt: skip
SUITE = "REPROMPI"
"""Of calls that mpigauge does not time."""
WHOLE = ("nprocs", "datatype_size_bytes")
COUNTS = ("nrep", "total_nrep", "valid_nrep", "count")
_MOST = 2**31 - 1
"""Ranks, elements and bytes of one of them are an int of C."""
Key = tuple[str, int]


@reader(
    "reprompi", "ReproMPI, single times and summaries", rb"^#@reproMPIcommitSHA1=|^#@clocktype="
)
def read(text: Text) -> Reading:
    """A row for each call and count: of single times their median."""
    said: dict[str, str] = {}
    heads: list[str] = []
    single: dict[Key, list[float]] = {}
    summaries: dict[Key, dict[str, float]] = {}
    unread: list[Unread] = []
    for number, line in text.numbered():
        words = line.split()
        if found := _SETTING.match(line):
            value = found[2].strip()
            if found[1] in WHOLE and not (value.isdecimal() and int(value) <= _MOST):
                unread.append(
                    Unread(number, line.strip(), f"it is not a whole number up to {_MOST}")
                )
            else:
                said[found[1]] = value
        elif "test" in words and "count" in words:
            heads = words
        elif heads and words and len(words) == len(heads) and (row := _row(heads, words)):
            key = (row["test"], int(row["count"]))
            if "runtime_sec" in row:
                single.setdefault(key, []).append(float(row["runtime_sec"]))
            elif any(name in row for name in SUMMARIES):
                summaries[key] = _summary(row)
        elif heads and _DAMAGED.match(line):
            why = f"it has {len(words)} of {len(heads)} columns, or a word where a number belongs"
            unread.append(Unread(number, line.strip(), why))
    rows = {key: _of_times(times) for key, times in single.items()} | summaries
    ranks = int(said.get("nprocs", 0))
    calls = (call for call, _ in rows)
    return Reading(
        tables=tuple(_table(key, row, said) for key, row in rows.items()),
        launches=(unknown_launch(0, world_ranks=ranks),),
        unread=tuple(unread),
        cards=tuple(dict.fromkeys(card for card in map(_card, calls) if card.suite == SUITE)),
    )


def _row(heads: Sequence[str], words: Sequence[str]) -> dict[str, str] | None:
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


def _table(key: Key, row: Mapping[str, float], said: Mapping[str, str]) -> TextTable:
    card = _card(key[0])
    sized = {"message_bytes": key[1] * int(said.get("datatype_size_bytes", 1))}
    return TextTable.of_rows(_fixed(card, row, said), [{**row, **sized}])


def _fixed(card: Card, row: Mapping[str, float], said: Mapping[str, str]) -> dict[str, Any]:
    shape = Shape(int(said.get("nprocs", 0)))
    has_median = "time_p50_s" in row and row["time_p50_s"] != row.get("time_mean_s")
    return fixed(card, 0, shape) | {
        "datatype": said.get("datatype", "MPI_BYTE").removeprefix("MPI_").lower(),
        "op": said.get("operation", "").removeprefix("MPI_").lower()
        if card.unit == "reduction"
        else "",
        "sync": SYNCS.get(said.get("sync", ""), "clock"),
        "source": "ReproMPI",
        "statistic": "median over repetitions" if has_median else "mean over repetitions",
    }


def _card(call: str) -> Card:
    """MPI_Allreduce is Allreduce; a call that mpigauge does not time is described by its name."""
    name = call.removeprefix("MPI_")
    return card_of(FIRST_SUITE, name) or Card(
        suite=SUITE, name=name, about="a call that only ReproMPI times", ranks="any",
        time="call", unit="transfer", sync="each", rooted=False, by_default=False,
        columns="collective",
    )  # fmt: skip
