# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""STREAM: the bandwidth of memory in four tasks, as figures. Its MB are of 10^6 bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.model.record import Figure
from mpigauge.readers.reading import Reading, Unread
from mpigauge.readers.registry import reader

if TYPE_CHECKING:
    from mpigauge.readers.text import Text

_TASK = re.compile(r"^\s*(Copy|Scale|Add|Triad):\s+(.*?)\s*$")
_NUMBERS = re.compile(r"(\d+\.\d+(?:[eE][-+]?\d+)?)((?:\s+\d+\.\d+(?:[eE][-+]?\d+)?){3})$")
_THREADS = re.compile(r"Number of Threads (?:requested|counted) = (\d+)")
_VERSION = re.compile(r"STREAM version \$Revision: ([\d.]+)")


@reader("stream", "STREAM", rb"^\s*(?:Copy|Scale|Add|Triad):\s+\d+\.\d+\s+\d+\.\d+\s")
def read(text: Text) -> Reading:
    """A task that comes again is of the next launch."""
    source, arm, launch = "STREAM", "", 0
    seen: set[str] = set()
    figures, unread = [], []
    for number, line in text.numbered():
        if found := _VERSION.search(line):
            source = f"STREAM {found[1]}"
        elif found := _THREADS.search(line):
            arm = f"threads={found[1]}"
        elif found := _TASK.match(line):
            if not (numbers := _NUMBERS.match(found[2])):
                unread.append(Unread(number, line.strip(), "it has not a rate and three times"))
                continue
            if found[1] in seen:
                launch += 1
                seen.clear()
            seen.add(found[1])
            figures.append(
                Figure(launch, "STREAM", found[1], float(numbers[1]), "MB/s", "higher", arm=arm,
                       source=source, origin="imported")
            )  # fmt: skip
    return Reading(figures=tuple(figures), unread=tuple(unread))
