# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The JSON of TALP, the monitor of DLB: efficiencies and times of a program and its regions.

Versions name the regions `popMetrics` or `Application`. A file that is cut short is read up to
there. Efficiencies of OpenMP and GPUs are 0 in programs without them, and left out.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.record import Figure
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.text import NUMBER, why_unread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.runs.readers.text import Text

REGIONS = ("Application", "popMetrics")
"""The keys of the regions, that of newer versions first."""
WHOLE = ("Global", "Application", "MPI Execution")
"""The names of the region that is the whole program."""
SECONDS = {
    "elapsedTime": ("elapsed time", "lower"),
    "usefulTime": ("useful time, sum of ranks", ""),
    "mpiTime": ("time in MPI, sum of ranks", "lower"),
}
"""Times in nanoseconds: the names of their figures, and which is better."""
EFFICIENCIES = {
    "parallelEfficiency": "parallel efficiency",
    "mpiParallelEfficiency": "MPI parallel efficiency",
    "mpiCommunicationEfficiency": "MPI communication efficiency",
    "mpiLoadBalance": "MPI load balance",
    "mpiLoadBalanceIn": "MPI load balance in nodes",
    "mpiLoadBalanceOut": "MPI load balance between nodes",
    "ompParallelEfficiency": "OpenMP parallel efficiency",
    "ompLoadBalance": "OpenMP load balance",
    "ompSchedulingEfficiency": "OpenMP scheduling efficiency",
    "ompSerializationEfficiency": "OpenMP serialization efficiency",
    "deviceOffloadEfficiency": "device offload efficiency",
    "gpuParallelEfficiency": "GPU parallel efficiency",
    "gpuLoadBalance": "GPU load balance",
    "gpuCommunicationEfficiency": "GPU communication efficiency",
    "gpuOrchestrationEfficiency": "GPU orchestration efficiency",
}
CALLS = "numMpiCalls"
_TOKEN = re.compile(r'"([^"\n]{0,200})"\s*:\s*(\{|"[^"\n]*"|[^\s,{}"]+)|(\})')
_LIKE_A_NUMBER = re.compile(NUMBER)
_ONLY_MPI = ("mpi", "parallel")


@reader("talp", "TALP's JSON", rb'"(?:mpiParallelEfficiency|mpiLoadBalance)"[ \t]*:')
def read(text: Text) -> Reading:
    document = _Document()
    whole = "\n".join(text.lines)
    if '"mpiLoadBalance"' in whole or '"mpiParallelEfficiency"' in whole:
        line, before = 1, 0
        for match in _TOKEN.finditer(whole):
            line += whole.count("\n", before, match.start())
            before = match.start()
            document.take(line, match)
    if not document.figures and not document.unread:
        return Reading()
    launch = unknown_launch(0, world_ranks=document.ranks, time=document.date)
    return Reading(
        figures=tuple(document.with_facts()), launches=(launch,), unread=tuple(document.unread)
    )


class _Document:
    """The contents of a document up to one of its lines."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.figures: list[Figure] = []
        self.unread: list[Unread] = []
        self.ranks, self.date, self.version = 0, "", ""

    def take(self, line: int, match: re.Match[str]) -> None:
        """Takes a key with its value, or the end of an object."""
        name, value = match[1], match[2]
        if match[3]:
            self.path = self.path[:-1]
        elif value == "{":
            self.path.append(name)
        elif len(self.path) == 2 and self.path[0] in REGIONS:
            self._metric(line, match[0], name, value)
        else:
            self._fact(name, value.strip('"'))

    def _fact(self, name: str, value: str) -> None:
        if name == "dlbVersion":
            self.version = value
        elif name == "timestamp":
            self.date = value
        elif name == "numMpiRanks" and value.isdecimal():
            self.ranks = int(value[:9])

    def _metric(self, line: int, shown: str, name: str, value: str) -> None:
        if name == "numMpiRanks":
            self._fact(name, value)
        if name not in SECONDS and name not in EFFICIENCIES and name != CALLS:
            return
        if not _LIKE_A_NUMBER.fullmatch(value):
            self.unread.append(Unread(line, shown, why_unread(shown, "its value is no number")))
        elif name in SECONDS:
            what, better = SECONDS[name]
            self._figure(what, float(value) / 1e9, "s", better)
        elif name == CALLS:
            self._figure("calls of MPI", float(value), "1", "")
        elif float(value) or name.startswith(_ONLY_MPI):
            self._figure(EFFICIENCIES[name], 100 * float(value), "%", "higher")

    def _figure(self, name: str, value: float, unit: str, better: str) -> None:
        region = self.path[1]
        arm = "" if region in WHOLE else f"region={region}"
        self.figures.append(
            Figure(0, "application", name, value, unit, better, arm=arm, origin="imported")
        )

    def with_facts(self) -> Iterator[Figure]:
        """Yields the figures with the ranks and the version, which may stand behind them."""
        for figure in self.figures:
            yield replace(figure, ranks=self.ranks, source=f"TALP {self.version}".rstrip())
