# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The result of a sweep in sentences: the setting that is best over all sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from mpigauge.model.names import CONTROL
from mpigauge.model.units import listed, percent, with_commas
from mpigauge.result.compare.match.partners import placement_of

if TYPE_CHECKING:
    from mpigauge.result.compare.pivot import Pivot, PivotTable

_WHOLE: Mapping[str, str] = MappingProxyType({})
"""No name is shortened."""


def outcomes(across: Pivot, names: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each table: over all sizes, or at its only one. `names`: short ones."""
    yield from best_over_sizes(across, names)
    yield from none_over_sizes(across, names)
    for table in across.tables:
        if len(table.lines) == 1:
            yield from _of_one_size(table, _names(table, names))


def _of_one_size(table: PivotTable, short: Sequence[str]) -> Iterator[str]:
    choice = table.lines[0].choice
    chosen = [short[place] for place in sorted(choice.columns)]
    subject = _subject(table)
    if choice.outcome == "best" and len(chosen) == 1:
        yield f"{subject}: {chosen[0]} is best."
    elif choice.outcome == "best":
        yield f"{subject}: {listed(chosen)} are best, and statistically equal."
    elif choice.outcome == "alike":
        yield f"{subject}: none is better than another."
    elif choice.outcome == "undecided":
        yield f"{subject}: it is undecided which is best; the shortest time is of {listed(chosen)}."


def _names(table: PivotTable, names: Mapping[str, str]) -> list[str]:
    return [names.get(name, name) for name in table.names]


def best_over_sizes(across: Pivot, names: Mapping[str, str] = _WHOLE) -> Iterator[str]:
    """A sentence for each table in which one column is best over all sizes, with certainty."""
    for table in across.tables:
        if table.choice.outcome != "best" or len(table.choice.columns) != 1:
            continue
        (place,) = table.choice.columns
        short = _names(table, names)
        base, mean = short[table.base], table.overall[place]
        what = _subject(table)
        if table.first.ranks_word:
            what = f"{what} on {table.first.ranks_word}"
        if mean is None:
            yield f"{what}: {base} is the best over all sizes."
            continue
        ratio = mean.ratio.estimate
        yield (
            f"{what}: {short[place]} takes {percent(1 - ratio.value)} less time than {base} "
            f"over all sizes ({ratio.low:.3g} to {ratio.high:.3g} × its time)."
        )


def _subject(table: PivotTable) -> str:
    """Returns the benchmark of a table, and the placement that all its columns share."""
    placements = {placement_of(item) for item in table.items}
    return with_commas(table.first.benchmark, *(placements if len(placements) == 1 else ()))


def none_over_sizes(across: Pivot, names: Mapping[str, str] = _WHOLE) -> Iterator[str]:
    """A sentence for each table in which it is not known that one column is best over all sizes."""
    for table in across.tables:
        what = f"{_subject(table)}: over all sizes"
        if table.choice.outcome == "alike":
            yield f"{what} none is better than another."
        elif table.choice.columns:
            short = _names(table, names)
            chosen = listed([short[place] for place in sorted(table.choice.columns)])
            if table.choice.outcome == "undecided":
                failed = {short[place] for place in table.failed}
                measured = [name for name in short if name not in {CONTROL, *failed}]
                compared = listed(measured, "or")
                yield (
                    f"{what} it is undecided whether {compared} is best; the shortest times "
                    f"are of {chosen}."
                )
            else:
                yield f"{what} {chosen} are best, and statistically equal."
