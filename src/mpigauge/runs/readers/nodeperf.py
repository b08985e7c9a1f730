# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""nodeperf: the speed of a matrix product on each node, as figures. It prints MFLOP/s."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.model.record import Figure
from mpigauge.runs.readers.reading import Reading, Unread
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.text import why_unread

if TYPE_CHECKING:
    from mpigauge.runs.readers.text import Text

_LINE = re.compile(r"^\s*\((\d+) of (\d+)\): (\w\w) lda=\s*(\d+) ldb=\s*(\d+) ldc=\s*(\d+)(.*)$")
_SPEED = re.compile(r"\s\**(\d+\.\d+)\**\s+(\S+)\s*$")


@reader("nodeperf", "nodeperf (DGEMM on each node)", rb"^[ \t]*\(\d+ of \d+\): \w\w lda=")
def read(text: Text) -> Reading:
    figures: list[Figure] = []
    unread: list[Unread] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, line in text.numbered():
        if not (match := _LINE.match(line)):
            continue
        if not (speed := _SPEED.search(match[7])):
            why = why_unread(line, "it has no speed and host at its end")
            unread.append(Unread(number, line.strip(), why))
            continue
        rank, ranks, kind = match[1], match[2], match[3]
        launch = seen[rank, kind] = seen.get((rank, kind), -1) + 1
        figures.append(
            Figure(launch, "nodeperf", f"DGEMM {kind}", float(speed[1]) / 1e3, "GFLOP/s", "higher",
                   ranks=int(ranks), rank=int(rank), placement=f"host {speed[2]}",
                   arm=f"lda={match[4]} ldb={match[5]} ldc={match[6]}", source="nodeperf",
                   origin="imported")
        )  # fmt: skip
    return Reading(figures=tuple(figures), unread=tuple(unread))
