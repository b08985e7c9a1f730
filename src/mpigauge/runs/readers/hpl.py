# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""HPL: the speed of a factorisation and its time, as figures; what it varied is their arm."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.record import Figure
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader

if TYPE_CHECKING:
    from mpigauge.runs.readers.text import Text

_VARIANT = re.compile(r"^\s*(W[RC]\d\d[LRC]\d\w+)\b(.*)$")
_NUMBER = r"\s+(\d+)" * 4 + r"\s+(\d+\.\d+)\s+(\d+\.\d+(?:[eE][-+]?\d\d?)?)\s*$"
_START = "start time"
_VERSION = re.compile(r"HPLinpack ([\d.]+)")


@reader("hpl", "HPL (High-Performance Linpack)", rb"^[ \t]*W[RC]\d\d[LRC]\d\w+[ \t]+\d+[ \t]+\d+\s")
def read(text: Text) -> Reading:
    """A case that comes again is of the next launch."""
    source = "HPL"
    figures: list[Figure] = []
    unread: list[Unread] = []
    remarks: list[str] = []
    seen: dict[str, int] = {}
    starts: dict[int, str] = {}
    for number, line in text.numbered():
        if found := _VERSION.search(line):
            source = f"HPL {found[1]}"
        elif found := _VARIANT.match(line):
            numbers = re.match(_NUMBER, found[2])
            if not numbers:
                unread.append(Unread(number, line.strip(), "it has not all columns of a result"))
                continue
            size, block, rows, columns = map(int, numbers.groups()[:4])
            arm = f"N={size} NB={block} P={rows} Q={columns} T/V={found[1]}"
            launch = seen.get(arm, -1) + 1
            seen[arm] = launch
            speed = Figure(
                launch, "HPL", "speed", float(numbers[6]), "GFLOP/s", "higher",
                ranks=rows * columns, arm=arm, source=source, origin="imported",
            )  # fmt: skip
            time = replace(speed, name="time", value=float(numbers[5]), unit="s", better="lower")
            figures += [speed, time]
        elif _START in line and figures:
            starts.setdefault(figures[-1].launch, line.partition(_START)[2].strip())
        elif "||Ax-b||" in line and "FAILED" in line:
            remarks.append(f"HPL says at line {number} that its result is wrong (FAILED)")
    launches = tuple(unknown_launch(n, time=time) for n, time in starts.items())
    return Reading(
        figures=tuple(figures), launches=launches, unread=tuple(unread), remarks=tuple(remarks)
    )
