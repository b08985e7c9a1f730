# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reports of mpiP: where an application spends its time in MPI and what it sends, as figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.record import Figure
from mpigauge.readers.reading import Reading, Unread, unknown_launch
from mpigauge.readers.registry import reader
from mpigauge.readers.text import NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.readers.text import Text


class Column(NamedTuple):
    name: str
    """{} stands for what the row is of."""
    unit: str
    factor: float = 1.0
    better: str = ""


_MILLI = 1e-3
_OF_CALL = {
    "Count": Column("calls of {}", "1"),
    "Max": Column("longest {}", "s", _MILLI, "lower"),
    "Mean": Column("mean {}", "s", _MILLI, "lower"),
    "Min": Column("shortest {}", "s", _MILLI, "lower"),
    "App%": Column("share of the application in {}", "%", 1, "lower"),
    "MPI%": Column("share of MPI in {}", "%"),
}
TABLES: dict[tuple[str, ...], dict[str, Column]] = {
    ("Task", "AppTime", "MPITime", "MPI%"): {
        "AppTime": Column("time of the application", "s", 1, "lower"),
        "MPITime": Column("time in MPI", "s", 1, "lower"),
        "MPI%": Column("share of MPI", "%", 1, "lower"),
    },
    ("Call", "Site", "Time", "App%", "MPI%", "COV"): {
        "Time": Column("time in {}", "s", _MILLI, "lower"),
        "App%": _OF_CALL["App%"],
        "MPI%": _OF_CALL["MPI%"],
        "COV": Column("variation over ranks of {}", "1"),
    },
    ("Call", "Site", "Count", "Total", "Avrg", "Sent%"): {
        "Count": Column("messages of {}", "1"),
        "Total": Column("sent by {}", "B"),
        "Avrg": Column("mean message of {}", "B"),
        "Sent%": Column("share of what is sent by {}", "%"),
    },
    ("Name", "Site", "Rank", "Count", "Max", "Mean", "Min", "App%", "MPI%"): _OF_CALL,
    ("Name", "Site", "Rank", "Count", "Max", "Mean", "Min", "Sum"): {
        "Count": Column("messages of {}", "1"),
        "Max": Column("largest message of {}", "B"),
        "Mean": Column("mean message of {}", "B"),
        "Min": Column("smallest message of {}", "B"),
        "Sum": Column("sent by {}", "B"),
    },
}
"""By the heads of their columns; tables of places in the source have no numbers."""
_RULE = re.compile(r"^-{20,}|^@---")
_DAMAGED = re.compile(r"^(?:\s*\d|\.\.\.|[A-Z]\w+\s+\d)")


@reader("mpip", "reports of mpiP", rb"^@ mpiP\s*$")
def read(text: Text) -> Reading:
    said: dict[str, str] = {}
    figures: list[Figure] = []
    unread: list[Unread] = []
    heads: tuple[str, ...] = ()
    ranks = 0
    for number, line in text.numbered():
        words = line.split()
        if found := re.match(r"@ (\w[\w ]*?)\s+: (.*)", line):
            ranks += found[1] == "MPI Task Assignment"
            said[found[1]] = found[2].strip()
        elif _RULE.match(line):
            heads = ()
        elif tuple(words) in TABLES:
            heads = tuple(words)
        elif heads and len(words) == len(heads) and (row := _row(heads, words)):
            figures += _figures(heads, row, said, ranks)
        elif heads and _DAMAGED.match(line):
            unread.append(Unread(number, line.strip(), _why(words, heads)))
        elif words:
            heads = ()
    launch = unknown_launch(0, time=said.get("Start time", ""), world_ranks=ranks)
    return Reading(figures=tuple(figures), launches=(launch,), unread=tuple(unread))


def _row(heads: tuple[str, ...], words: list[str]) -> dict[str, str] | None:
    """The words by their heads, where what should be numbers are."""
    row = dict(zip(heads, words, strict=True))
    return row if all(re.fullmatch(NUMBER, row[c]) for c in TABLES[heads]) else None


def _figures(
    heads: tuple[str, ...], row: dict[str, str], said: dict[str, str], ranks: int
) -> Iterator[Figure]:
    """One for each number of a row. A star for a rank means all of them."""
    program = said.get("Command", "the application").split()[0].rpartition("/")[2]
    call = f"{row.get('Call') or row.get('Name')} at site {row.get('Site')}"
    rank = row.get("Rank") or row.get("Task") or "*"
    for name, column in TABLES[heads].items():
        yield Figure(
            0, program, column.name.format(call), float(row[name]) * column.factor, column.unit,
            column.better, ranks=ranks, rank=-1 if rank == "*" else int(rank),
            source=f"mpiP {said.get('Version', '')}".strip(), origin="imported",
        )  # fmt: skip


def _why(words: list[str], heads: tuple[str, ...]) -> str:
    if words[0] == "...":
        return "rows are left out here"
    return f"it has {len(words)} of {len(heads)} columns, or a word where a number belongs"
