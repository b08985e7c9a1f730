# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The state of readers that go through a text line by line and begin a launch at each heading."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from mpigauge.model.record import Figure
from mpigauge.runs.readers.reading import Reading, TextTable, Unread, unknown_launch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.cards import Card
    from mpigauge.model.record import Rank
    from mpigauge.runs.readers.text import Text


@dataclass
class Log(ABC):
    """The state of a text at a line, and the figures and unread lines above it."""

    launch: int = -1
    world_ranks: dict[int, int] = field(default_factory=dict)
    """The ranks of each launch, if the text has them."""
    figures: list[Figure] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    @abstractmethod
    def look(self, number: int, line: str) -> None:
        """Reads a line."""

    def leave_out(self, number: int, line: str, why: str) -> None:
        """Lists a line that cannot be read."""
        self.unread.append(Unread(number, line, why))

    def add_figure(
        self,
        source: str,
        name: str,
        value: float,
        unit: str,
        better: str,
        *,
        benchmark: str,
        ranks: int = 0,
        arm: str = "",
    ) -> None:
        """Stores a number that the text prints as a result of its own. `source`: the program with
        its version; `benchmark`: its name alone."""
        figure = Figure(
            self.launch, benchmark, name, value, unit, better, ranks, arm=arm, source=source,
            origin="imported",
        )  # fmt: skip
        self.figures.append(figure)

    def reading(
        self,
        tables: Iterable[TextTable],
        cards: Iterable[Card],
        remarks: Sequence[str] = (),
        ranks: Iterable[Rank] = (),
    ) -> Reading:
        """The rows of a text, with all figures, launches and unread lines."""
        launches = range(self.launch + 1)
        return Reading(
            tables=tuple(tables),
            figures=tuple(self.figures),
            launches=tuple(
                unknown_launch(launch, world_ranks=self.world_ranks.get(launch, 0))
                for launch in launches
            ),
            unread=tuple(self.unread),
            remarks=tuple(remarks),
            cards=tuple(dict.fromkeys(cards)),
            ranks=tuple(ranks),
        )


_Log = TypeVar("_Log", bound=Log)


def read_lines(log: _Log, text: Text) -> _Log:
    """Returns the state at the end of a text."""
    for number, line in text.numbered():
        log.look(number, line)
    return log
