# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""IPM's banner: time in MPI, calls and memory of a job, as figures.

Each banner is a launch. Rows hold the sum over ranks, their mean, minimum and maximum. Individual
calls, and regions that the program names, are printed with IPM_REPORT=full.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from mpigauge.model.record import Figure, Launch
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.text import NUMBER, why_unread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.runs.readers.text import Text

_BANNER = re.compile(r"^\s*##IPM(?:v|2v)?([\d.]*)[\w.-]*#+\s*$")
_COMMAND = re.compile(r"^# command *: *(\S+)")
_START = re.compile(r"^# start *: *(\S+(?: \S+)*)")
_TASKS = re.compile(r"mpi_tasks *: *(\d{1,9}) on \d+ nodes")
_REGION = re.compile(r"^# region *: *(?:'([^']*)'|(\S+))")
_SECTION = re.compile(r"^# (%wall|#calls) *: *$")
_CALLS = re.compile(r"^# +\[time\] +\[(?:count|calls)\]")
_OLD_DATE = "%m/%d/%y/%H:%M:%S"
_WHOLE = "*"
"""The region for the whole program."""
_OF_RANKS = (", sum of ranks", ", mean of ranks", ", least of ranks", ", most of ranks")
_ROWS = {
    "wallclock": ("wallclock", "s", "lower"), "user": ("user time", "s", "lower"),
    "system": ("system time", "s", "lower"), "%comm": ("share of MPI", "%", "lower"),
    "gflop/sec": ("speed", "GFLOP/s", "higher"), "mem [GB]": ("memory", "GB", "lower"),
    "gbytes": ("memory", "GB", "lower"), "I/O [GB]": ("read or written", "GB", ""),
    "energy (j)": ("energy", "J", "lower"), "power (w)": ("power", "W", ""),
    "kWh": ("energy", "kWh", "lower"),
}  # fmt: skip
_PARTS = ("MPI", "OMP", "OMP idle", "I/O", "CUDA", "CUBLAS", "CUFFT")
"""The parts of the run time: rows of their own, and in the sections of shares and calls."""
_SECTIONS = {"%wall": ("share of {}", "%", "lower"), "#calls": ("calls of {}", "1", "")}
_OF_CALL = (
    ("time in {}", "s", "lower"),
    ("calls of {}", "1", ""),
    ("share of {} in wallclock", "%", "lower"),
)
_SPEED = re.compile(rf"[^#\s] +gflop/sec *: *({NUMBER})")
"""The speed of all ranks, next to another fact of the heading; 0: it was not counted."""
_IGNORED = ("entries", "start", "stop", "host", "command", "mpi_tasks", "files", "omp_thrds")
"""Rows that are no result, or repeat numbers of other rows."""
_FEWEST, _OF_SHARE, _MOST = 3, 3, 4


@reader("ipm", "IPM's banner", rb"^[ \t]*##IPM\w*[\d.]*#")
def read(text: Text) -> Reading:
    log = _Log()
    for number, line in text.numbered():
        log.look(number, line.strip())
    return Reading(
        figures=tuple(log.figures), launches=tuple(log.launches), unread=tuple(log.unread)
    )


@dataclass
class _Log:
    """The state of the text at a line."""

    source: str = "IPM"
    program: str = "application"
    ranks: int = 0
    date: str = ""
    arm: str = ""
    section: str = ""
    in_banner: bool = False
    in_calls: bool = False
    figures: list[Figure] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    def look(self, number: int, line: str) -> None:
        if match := _BANNER.match(line):
            self._begin(match[1])
        elif not line.startswith("#"):
            self.in_banner = self.in_banner and not line
        elif self.in_banner:
            self._line(number, line)

    def _begin(self, version: str) -> None:
        self.source = f"IPM {version}".rstrip()
        self.program, self.ranks, self.date = "application", 0, ""
        self.arm, self.section, self.in_banner, self.in_calls = "", "", True, False
        self.launches.append(unknown_launch(len(self.launches)))

    def _line(self, number: int, line: str) -> None:
        if match := _COMMAND.match(line):
            self.program = match[1].rpartition("/")[2] or match[1]
        elif match := _REGION.match(line):
            name = match[1] or match[2]
            self.arm = "" if name == _WHOLE else f"region={name}"
            self.section, self.in_calls = "", False
        elif match := _SECTION.match(line):
            self.section = match[1]
        elif _CALLS.match(line):
            self.section, self.in_calls = "", True
        elif match := _SPEED.search(line):
            self._add_speed(float(match[1]))
        else:
            self._row(number, line)
        if match := _START.match(line):
            self.date = _date(match[1])
        if match := _TASKS.search(line):
            self.ranks = int(match[1])
        self.launches[-1] = unknown_launch(
            len(self.launches) - 1, world_ranks=self.ranks, time=self.date
        )

    def _add_speed(self, value: float) -> None:
        if value:
            self._figure("speed", value, *_ROWS["gflop/sec"][1:])

    def _row(self, number: int, line: str) -> None:
        name, values = _name_and_values(line)
        if not name or name.split()[0] in _IGNORED:
            return
        if not line.startswith("#   "):
            self.section = ""
        if why := self._call(name, values) if self.in_calls else self._numbers(name, values):
            self.unread.append(Unread(number, line, why_unread(line, why)))

    def _call(self, call: str, values: Sequence[float]) -> str:
        """Adds time and number of a call, over all ranks; older banners print its share of MPI
        before that of the wallclock. Returns the problem; empty: it does not exist."""
        if len(values) not in (_FEWEST, _MOST) or " " in call:
            return "it has not the numbers of a call"
        for (name, unit, better), value in zip(_OF_CALL, (*values[:2], values[-1]), strict=True):
            self._figure(name.format(call), value, unit, better)
        return ""

    def _numbers(self, name: str, values: Sequence[float]) -> str:
        """Adds a row with an optional sum, and mean, minimum and maximum over ranks. Returns the
        problem; empty: it does not exist."""
        figure = _row_meaning(name, self.section)
        if figure is None:
            return "there is no place for this row" if values else ""
        what, unit, better = figure
        if unit == _ROWS["gflop/sec"][1]:
            return ""  # the heading has it
        if len(values) != (_OF_SHARE if unit == "%" else _MOST):
            return "it has not the numbers of such a row"
        for suffix, value in zip(_OF_RANKS[-len(values) :], values, strict=True):
            self._figure(f"{what}{suffix}", value, unit, better)
        return ""

    def _figure(self, name: str, value: float, unit: str, better: str) -> None:
        self.figures.append(
            Figure(len(self.launches) - 1, self.program, name, value, unit, better,
                   ranks=self.ranks, arm=self.arm, source=self.source, origin="imported")
        )  # fmt: skip


def _row_meaning(name: str, section: str) -> tuple[str, str, str] | None:
    """The figure in the row of this name, its unit and direction; None: the row is unknown."""
    part = "MPI" if name == "mpi" else name
    if section and part in _PARTS:
        what, unit, better = _SECTIONS[section]
        return what.format(part), unit, better
    if part in _PARTS:
        return f"time in {part}", "s", "lower"
    return _ROWS.get(name)


def _name_and_values(line: str) -> tuple[str, list[float]]:
    """The words of a row, without the colon after them, and the numbers at its end."""
    words = line.strip("# ").split()
    values: list[float] = []
    while words and re.fullmatch(NUMBER, words[-1]):
        values.insert(0, float(words.pop()))
        if len(values) > _MOST:
            return "", []
    name, _, _ = " ".join(words).partition(" :")
    return name.strip(" :"), values


def _date(text: str) -> str:
    """The date in the format of newer banners."""
    try:
        return datetime.strptime(text.split()[0], _OLD_DATE).strftime("%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return text
