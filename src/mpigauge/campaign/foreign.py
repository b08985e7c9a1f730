# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A launch of a program that is not ours: its output is kept, and its figures are found in it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.campaign.launch import Watch
from mpigauge.model.record import Clock, End, Figure, Launch, encode
from mpigauge.store.files import SCHEMA, now

if TYPE_CHECKING:
    from mpigauge.campaign.process import Line
    from mpigauge.campaign.state import Outcome
    from mpigauge.plan.foreign import Foreign

MODE = "command"
"""Of launches of such programs."""
MOST_OUTPUT = 64 << 20
"""Characters in which figures are looked for."""


@dataclass
class ForeignWatch(Watch):
    began: str = field(default_factory=now)
    printed: list[str] = field(default_factory=list)
    length: int = 0

    def take(self, line: Line) -> None:
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

    def outcome(self, status: int) -> Outcome:
        self.reason = self.reason or self.failure(status)
        if not self.reason and not self.wishes_seen:
            self.find_figures()
        return super().outcome(status)

    def failure(self, status: int) -> str:
        return self.said_why(status) if status else ""

    def find_figures(self) -> None:
        """Stored only if all are there: half of a result is none."""
        program = self.plan.part.foreign
        assert program is not None
        text = "\n".join(self.printed)
        try:
            values = [merit.read(text) for merit in program.merits]
        except ValueError as error:
            self.reason = f"{program.name}: {error}"
            return
        for record in self.records_of(program, values):
            self.writer.append(encode(record))
            self.records += 1
            self.on_record(record)

    def records_of(self, program: Foreign, values: list[float]) -> list[Launch | Figure | End]:
        number, seconds = self.plan.number, time.monotonic() - self.started_s
        part = self.plan.part
        launch = Launch(
            launch=number,
            schema=SCHEMA,
            time=self.began,
            mpi_library=self.mpi.library_string,
            mpi_standard=self.mpi.standard,
            abi=self.mpi.abi,
            world_ranks=program.ranks,
            mode=MODE,
            precision=math.nan,
            seed=self.plan.seed,
            thread_level="",
            clock=Clock(),
        )
        figures = [
            Figure(
                launch=number,
                benchmark=program.name,
                name=merit.name,
                value=value,
                unit=merit.unit,
                better=merit.better,
                ranks=program.ranks,
                placement=part.placement,
                arm=part.arm,
                source=program.name,
            )
            for merit, value in zip(program.merits, values, strict=True)
        ]
        self.end = End(number, "done", seconds, seconds, 0, 0)
        return [launch, *figures, self.end]
