# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A launch of a user's program: its output is stored, and its figures are extracted."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mpigauge.measuring.campaign.launch import Watch
from mpigauge.model.record import CellRecord, End, Figure, Launch, encode
from mpigauge.runs.store.files import SCHEMA, now

if TYPE_CHECKING:
    from mpigauge.measuring.campaign.state import LaunchOutcome
    from mpigauge.measuring.jobs.process import OutputLine
    from mpigauge.measuring.plan.arms.foreign import Foreign

MODE = "command"
"""The mode in launch records of such programs."""
RUN_TIME = "run time"
"""The figure of programs without another: from the start of the launcher to its end."""
MOST_OUTPUT = 64 << 20
"""Characters that are searched for figures."""

ProgramResult = CellRecord | Figure


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

    def check_interrupts(self) -> None:
        """Ends the program at the first Ctrl-C, since it has no stop file."""
        if self.interrupt.count > self.interrupts_seen:
            self.interrupts_seen = self.interrupt.count
            self.end_now()

    def outcome(self, status: int) -> LaunchOutcome:
        self.reason = self.reason or self.failure(status)
        if not self.reason and not self.interrupts_seen:
            self.find_figures()
        return super().outcome(status)

    def failure(self, status: int) -> str:
        if status:
            return self.said_why(status)
        return ""

    def find_figures(self) -> None:
        """Stores the figures only if all are there, since a partial result is useless."""
        program = self.plan.part.foreign
        assert program is not None
        text = "\n".join(self.printed)
        seconds = time.monotonic() - self.started_s
        try:
            if program.reader:
                records = self.read_by_reader(program, text)
            elif program.timed:
                records = [self.figure(program, RUN_TIME, seconds, "s", "lower")]
            else:
                records = self.read(program, text)
        except ValueError as error:
            self.reason = f"{program.name}: {error}"
            return
        cells = sum(isinstance(record, CellRecord) for record in records)
        self.end = End(self.plan.number, "done", seconds, seconds, 0, cells)
        self.cells = cells
        for record in (self.launch_record(program), *records, self.end):
            self.writer.append(encode(record))
            self.records += 1
            self.on_record(record)

    def read(self, program: Foreign, text: str) -> list[ProgramResult]:
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

    def read_by_reader(self, program: Foreign, text: str) -> list[ProgramResult]:
        """The figures that a reader finds; of a table that is printed twice only the later one
        counts."""
        from mpigauge.runs.readers import READERS, Text

        reading = READERS.find(program.reader).read(Text(text.encode(), ranks=program.ranks))
        records = [each for each in reading.records() if isinstance(each, (CellRecord, Figure))]
        several = len({_arm(record) for record in records}) > 1
        results = [self.as_ours(record, several) for record in records]
        if not results:
            raise ValueError(f"the reader {program.reader} finds nothing in its output")
        self.writer.add_cards(reading.cards)
        return results

    def as_ours(self, record: ProgramResult, several: bool) -> ProgramResult:
        """The record as measured in this launch, with the settings of this part. Settings in the
        output, such as a number of threads, are kept if it has `several` of them."""
        part = self.plan.part
        own = _arm(record) if several else ""
        values: dict[str, Any] = {
            "launch": self.plan.number,
            "origin": "measured",
            "arm": f"{part.arm} {own}".strip(),
        }
        values |= {"placement": part.placement} if part.placement else {}
        if isinstance(record, Figure):
            return replace(record, **values)
        return CellRecord(replace(record.cell, **values))

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


def _arm(record: ProgramResult) -> str:
    if isinstance(record, Figure):
        return record.arm
    return record.cell.arm
