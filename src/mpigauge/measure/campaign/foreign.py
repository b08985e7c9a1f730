# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A launch of a program that is not ours: its output is kept, and its figures are found in it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mpigauge.measure.campaign.launch import Watch
from mpigauge.model.record import CellRecord, End, Figure, Launch, encode
from mpigauge.runs.store.files import SCHEMA, now

if TYPE_CHECKING:
    from mpigauge.measure.campaign.process import OutputLine
    from mpigauge.measure.campaign.state import LaunchOutcome
    from mpigauge.measure.plan.foreign import Foreign

MODE = "command"
"""Of launches of such programs."""
RUN_TIME = "run time"
"""From the start of the launcher to its end: the figure of programs without another."""
MOST_OUTPUT = 64 << 20
"""Characters in which figures are looked for."""

Found = CellRecord | Figure


@dataclass
class ForeignWatch(Watch):
    began: str = field(default_factory=now)
    printed: list[str] = field(default_factory=list)
    length: int = 0

    def take(self, line: OutputLine) -> None:
        self.heard_s = time.monotonic()
        self.keep(line)
        self.length += len(line.text)
        if line.stream == "stdout" and self.length < MOST_OUTPUT:
            self.printed.append(line.text.rstrip("\n"))

    def look_at_wishes(self) -> None:
        """It knows nothing of our stop file, so the first Ctrl-C ends it too."""
        if self.interrupt.count > self.wishes_seen:
            self.wishes_seen = self.interrupt.count
            self.end_now()

    def outcome(self, status: int) -> LaunchOutcome:
        self.reason = self.reason or self.failure(status)
        if not self.reason and not self.wishes_seen:
            self.find_figures()
        return super().outcome(status)

    def failure(self, status: int) -> str:
        if status:
            return self.said_why(status)
        return ""

    def find_figures(self) -> None:
        """Stored only if all are there: half of a result is none."""
        program = self.plan.part.foreign
        assert program is not None
        text = "\n".join(self.printed)
        seconds = time.monotonic() - self.started_s
        try:
            if program.reader:
                found = self.read_by_reader(program, text)
            elif program.timed:
                found = [self.figure(program, RUN_TIME, seconds, "s", "lower")]
            else:
                found = self.read(program, text)
        except ValueError as error:
            self.reason = f"{program.name}: {error}"
            return
        cells = sum(isinstance(record, CellRecord) for record in found)
        self.end = End(self.plan.number, "done", seconds, seconds, 0, cells)
        self.cells = cells
        for record in (self.launch_record(program), *found, self.end):
            self.writer.append(encode(record))
            self.records += 1
            self.on_record(record)

    def read(self, program: Foreign, text: str) -> list[Found]:
        return [
            self.figure(program, merit.name, merit.read(text), merit.unit, merit.better)
            for merit in program.merits
        ]

    def figure(self, program: Foreign, name: str, value: float, unit: str, better: str) -> Figure:
        return Figure(
            launch=self.plan.number,
            benchmark=program.name,
            name=name,
            value=value,
            unit=unit,
            better=better,
            ranks=program.ranks,
            source=program.name,
            placement=self.plan.part.placement,
            arm=self.plan.part.arm,
        )

    def read_by_reader(self, program: Foreign, text: str) -> list[Found]:
        """What one of our readers finds; a table that is there twice counts once, the later."""
        from mpigauge.runs.readers import READERS, Text

        reading = READERS.find(program.reader).read(Text(text.encode(), ranks=program.ranks))
        records = [each for each in reading.records() if isinstance(each, (CellRecord, Figure))]
        several = len({_arm(record) for record in records}) > 1
        found = [self.as_ours(record, several) for record in records]
        if not found:
            raise ValueError(f"the reader {program.reader} finds nothing in its output")
        self.writer.add_cards(reading.cards)
        return found

    def as_ours(self, record: Found, several: bool) -> Found:
        """Measured here, in this launch and with the settings of this part. What the output says
        of its settings, such as a number of threads, is kept where it says `several` things."""
        part = self.plan.part
        own = _arm(record) if several else ""
        told: dict[str, Any] = {
            "launch": self.plan.number,
            "origin": "measured",
            "arm": f"{part.arm} {own}".strip(),
        }
        told |= {"placement": part.placement} if part.placement else {}
        if isinstance(record, Figure):
            return replace(record, **told)
        return CellRecord(replace(record.cell, **told))

    def launch_record(self, program: Foreign) -> Launch:
        return Launch(
            launch=self.plan.number,
            schema=SCHEMA,
            time=self.began,
            mpi_library=self.mpi.library_string,
            mpi_standard=self.mpi.standard,
            abi=self.mpi.abi,
            world_ranks=program.ranks,
            mode=MODE,
            seed=self.plan.seed,
        )


def _arm(record: Found) -> str:
    if isinstance(record, Figure):
        return record.arm
    return record.cell.arm
