# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The result of a comparison: every number next to the first side's, verdicts and sentences.

Output formats only show these values, which `compare` computes once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mpigauge.model.units import many
from mpigauge.result.compare.match.items import MEDIAN, word_of
from mpigauge.result.stats.verdicts import MOST_LAUNCHES, enough

if TYPE_CHECKING:
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.compare.match.unlike import Unpaired
    from mpigauge.result.stats.ratio import Ratio
    from mpigauge.result.stats.verdicts import Judged

_MOST_BETWEEN = 0.5
"""The scatter between runs, as a share of the error, above which more launches help little."""


@dataclass(frozen=True)
class ComparedNumber:
    """One number of one side. All but `item` is empty for the first side."""

    item: Item | None
    """The number of this side; None: it has not measured it."""
    ratio: Ratio | None = None
    judged: Judged | None = None
    unlike: tuple[str, ...] = ()
    """The differences in how it was measured from the first side, in words."""

    @property
    def verdict(self) -> str:
        if self.item is None or self.judged is None:
            return ""
        return self.item.word(self.judged.verdict)

    @property
    def differs(self) -> bool:
        """True if it differs from the first side's number by more than the error."""
        return self.judged is not None and self.judged.verdict in ("LESS", "MORE")

    @property
    def worse(self) -> bool:
        return bool(self.item and self.judged and self.item.worse(self.judged.verdict))

    @property
    def has_interval(self) -> bool:
        """True if there are enough launches for an interval of its ratio."""
        return self.ratio is not None and enough(self.ratio)

    @property
    def undecided(self) -> str:
        """The reason why it is undecided, and what would decide it; empty: it is decided."""
        return _why_undecided(self.ratio, self.judged)


@dataclass(frozen=True)
class Overall:
    """One statement about many times of one side."""

    ratio: Ratio
    """The geometric mean of their ratios."""
    judged: Judged
    numbers: int
    """The number of times that are summed up."""

    @property
    def verdict(self) -> str:
        return word_of("time", self.judged.verdict)

    @property
    def worse(self) -> bool:
        return self.judged.verdict == "MORE"

    @property
    def undecided(self) -> str:
        """The reason why it is undecided, and what would decide it; empty: it is decided."""
        return _why_undecided(self.ratio, self.judged)


@dataclass(frozen=True)
class ComparisonTable:
    """Numbers that differ only in message size; each line has an entry for each side."""

    lines: tuple[tuple[ComparedNumber, ...], ...]
    overall: tuple[Overall | None, ...]
    """The curve of each side as a whole; None: it is the first, or has one size or none."""
    sentences: tuple[str, ...] = ()
    """A sentence about the numbers for each side but the first."""
    curve_sentences: tuple[str, ...] = ()
    """A sentence about the whole curve for each side whose curve is judged."""

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
    """The names of the sides; all are compared with the first."""
    tables: tuple[ComparisonTable, ...]
    left_out: tuple[Unpaired, ...]
    tolerance: float
    varied: str = ""
    """The column that sides of one run differ in."""
    unlike: tuple[str, ...] = ()
    """The facts in which other sides differ from the first, in words."""
    response: str = MEDIAN
    """The summary over launches that each number is: one of items.RESPONSES."""
    overall: tuple[Overall | None, ...] = ()
    """All times of each side together; None: it is the first, or has less than two tables."""
    failed: tuple[str, ...] = ()
    """The names of sides that have no number, since their launches failed."""
    between_runs: Literal["", "known", "starting"] = ""
    """The source of the scatter between runs: known from earlier runs or a starting value;
    empty: it does not count."""
    sentences: tuple[str, ...] = ()
    """A sentence about all times together for each side for which they are judged."""

    @property
    def refusal(self) -> str:
        """The reason why there is no table; benchmarks of one side are named if no others are."""
        unlike = [left for left in self.left_out if left.refused]
        why = [left.text for left in unlike or self.left_out]
        return "; ".join(["there is nothing to compare", *why])

    @property
    def curves(self) -> list[Overall]:
        """All that were judged as a whole."""
        result: list[Overall] = []
        for table in self.tables:
            for curve in table.overall:
                if curve:
                    result.append(curve)
        return result

    @property
    def verdicts(self) -> list[ComparedNumber | Overall]:
        """All judged numbers, curves and sides."""
        return [*self.entries, *self.curves, *filter(None, self.overall)]

    @property
    def entries(self) -> list[ComparedNumber]:
        """All that were judged."""
        every = (entry for table in self.tables for line in table.lines for entry in line)
        return [entry for entry in every if entry.judged]


def _why_undecided(ratio: Ratio | None, judged: Judged | None) -> str:
    if ratio is None or judged is None or judged.verdict != "UNDECIDED":
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
