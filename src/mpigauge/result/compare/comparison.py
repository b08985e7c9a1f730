# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a comparison has found: every number beside the first side's, verdicts, and sentences.

All that formats show of a comparison is in these values: `compare` makes them once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mpigauge.model.units import many
from mpigauge.result.compare.items import MEDIAN, word_of
from mpigauge.result.stats.verdicts import MOST_LAUNCHES, enough

if TYPE_CHECKING:
    from mpigauge.result.compare.items import Item
    from mpigauge.result.compare.unlike import Unpaired
    from mpigauge.result.stats.ratio import Ratio
    from mpigauge.result.stats.verdicts import Judged

_MOST_BETWEEN = 0.5
"""Of the error: from here on more launches help little."""


@dataclass(frozen=True)
class ComparedNumber:
    """One number of one side. All but `item` is empty for the first side."""

    item: Item | None
    """None: this side has not measured it."""
    ratio: Ratio | None = None
    judged: Judged | None = None
    unlike: tuple[str, ...] = ()
    """In what it was measured otherwise than the first."""

    @property
    def verdict(self) -> str:
        if self.item is None or self.judged is None:
            return ""
        return self.item.word(self.judged.said)

    @property
    def differs(self) -> bool:
        """Whether it differs from the first side's by more than the error."""
        return self.judged is not None and self.judged.said in ("LESS", "MORE")

    @property
    def worse(self) -> bool:
        return bool(self.item and self.judged and self.item.worse(self.judged.said))

    @property
    def has_interval(self) -> bool:
        """Whether enough launches say how large its ratio is."""
        return self.ratio is not None and enough(self.ratio)

    @property
    def undecided(self) -> str:
        """Why nothing is said of its ratio, and what would help; empty: something is said."""
        return _why_undecided(self.ratio, self.judged)


@dataclass(frozen=True)
class Overall:
    """One statement about many times of one side."""

    ratio: Ratio
    """The geometric mean of their ratios."""
    judged: Judged
    numbers: int
    """How many they are."""

    @property
    def verdict(self) -> str:
        return word_of("time", self.judged.said)

    @property
    def worse(self) -> bool:
        return self.judged.said == "MORE"

    @property
    def undecided(self) -> str:
        """Why nothing is said of its ratio, and what would help; empty: something is said."""
        return _why_undecided(self.ratio, self.judged)


@dataclass(frozen=True)
class ComparisonTable:
    """What differs in nothing but the size of messages; an entry of each side in each line."""

    lines: tuple[tuple[ComparedNumber, ...], ...]
    overall: tuple[Overall | None, ...]
    """The curve of each side as a whole; None: it is the first, or has one size or none."""
    sentences: tuple[str, ...] = ()
    """What its numbers say, in a sentence for each side but the first."""
    curve_sentences: tuple[str, ...] = ()
    """What curves as a whole say, in a sentence for each side of which one is judged."""

    @property
    def first(self) -> Item:
        return next(entry.item for entry in self.lines[0] if entry.item)

    @property
    def differing(self) -> list[tuple[ComparedNumber, ...]]:
        """The lines in which a side differs from the first by more than the error."""
        return [line for line in self.lines if any(entry.differs for entry in line)]

    def column(self, side: int) -> list[ComparedNumber]:
        return [line[side] for line in self.lines]


@dataclass(frozen=True)
class Comparison:
    names: tuple[str, ...]
    """Of the sides; all are compared with the first."""
    tables: tuple[ComparisonTable, ...]
    left_out: tuple[Unpaired, ...]
    tolerance: float
    varied: str = ""
    """The column that sides of one run differ in."""
    unlike: tuple[str, ...] = ()
    """In what facts other sides differ from the first."""
    response: str = MEDIAN
    """What its numbers are of their launches."""
    overall: tuple[Overall | None, ...] = ()
    """All times of each side together; None: it is the first, or has less than two tables."""
    between_runs: Literal["", "known", "starting"] = ""
    """Whether what runs of the machine differ by is known, or a starting value stands for it;
    empty: it does not count."""
    sentences: tuple[str, ...] = ()
    """What all times together say, in a sentence for each side of which they are judged."""

    @property
    def curves(self) -> list[Overall]:
        """All that were judged as a whole."""
        result: list[Overall] = []
        for table in self.tables:
            for found in table.overall:
                if found:
                    result.append(found)
        return result

    @property
    def verdicts(self) -> list[ComparedNumber | Overall]:
        """All that is said of anything."""
        return [*self.entries, *self.curves, *filter(None, self.overall)]

    @property
    def entries(self) -> list[ComparedNumber]:
        """All that were judged."""
        every = (entry for table in self.tables for line in table.lines for entry in line)
        return [entry for entry in every if entry.judged]


def _why_undecided(ratio: Ratio | None, judged: Judged | None) -> str:
    if ratio is None or judged is None or judged.said != "UNDECIDED":
        return ""
    if judged.why:
        return judged.why
    if ratio.launches == 0:
        return "a value is not positive, so there is no ratio"
    if not enough(ratio):
        return f"{many(ratio.launches, 'launch')}, at least {judged.needed} of each are needed"
    if not ratio.error > 0:
        return "no launch differs from another, so their error is not known"
    if judged.needed is None and ratio.between_runs > _MOST_BETWEEN * ratio.error:
        return "runs of this machine differ too much; measure both in turn"
    if judged.needed is None:
        return f"more than {MOST_LAUNCHES} launches of each would be needed"
    return f"about {judged.needed} launches of each would decide"
