# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The program mpi_latency: the mean round trip of messages of one byte, in whole microseconds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.runs.readers.imb_columns import Shape, fixed
from mpigauge.runs.readers.known import known_cards
from mpigauge.runs.readers.reading import Reading, TextTable, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.settings_lines import (
    arm_of,
    is_command,
    placement_in_command,
    settings_in_command,
)
from mpigauge.runs.readers.text import why_unread

if TYPE_CHECKING:
    from mpigauge.runs.readers.text import Text

_REPETITIONS = re.compile(r"Number of reps = (\d+)")
_MEAN = re.compile(r"\*\*\* Avg round trip time = (\d+) microseconds")

_DAMAGED = "*** Avg round trip time ="


@reader("mpi_latency", "the program mpi_latency", rb"\*\*\* Avg round trip time = ")
def read(text: Text) -> Reading:
    """Reads the output. Half a round trip is also printed, but the whole one is more exact."""
    card = known_cards().find("MORE:mpi_latency")
    shared = fixed(card, 0, Shape(2)) | {
        "source": "mpi_latency",
        "statistic": "mean of round trips, cut to whole µs",
    }
    tables: list[TextTable] = []
    unread: list[Unread] = []
    calls, arm, placement = 1000, "", ""
    for number, line in text.numbered():
        if match := _REPETITIONS.search(line):
            calls = int(match[1])
        elif is_command(line):
            arm, placement = arm_of(settings_in_command(line)), placement_in_command(line)
        elif match := _MEAN.search(line):
            time = int(match[1]) * 1e-6
            row = {"message_bytes": 1, "time_p50_s": time, "time_mean_s": time, "calls": calls,
                   "moved_bytes": 1, "messages": 1}  # fmt: skip
            about = {"launch": len(tables), "arm": arm, "placement": placement}
            tables.append(TextTable.of_rows({**shared, **about}, [row]))
        elif _DAMAGED in line:
            why = why_unread(line, "it has no whole number of microseconds")
            unread.append(Unread(number, line.strip(), why))
    launches = (unknown_launch(launch, world_ranks=2) for launch in range(len(tables)))
    return Reading(tables=tuple(tables), launches=tuple(launches), unread=tuple(unread))
