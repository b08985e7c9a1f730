# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rows as the panels of a plot: one for each benchmark, a curve for each variant and run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.draw.axes import SIZE
from mpigauge.draw.plot import Mark, Panel, Point, Series
from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.column_facts import BENCHMARK, OF_TABLES, PREDICTED, heading_word
from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.names import COPIES
from mpigauge.model.units import dotted, first_few

if TYPE_CHECKING:
    from mpigauge.draw.axes import Axis
    from mpigauge.draw.plot import Level
    from mpigauge.model.cards import Card
    from mpigauge.model.row import Estimate, Row
    from mpigauge.result.models.breaks import LikelyBreak
    from mpigauge.result.run_result import RunResult
    from mpigauge.result.run_view import Curve
    from mpigauge.show.kinds import Chosen

Value = Callable[["Row"], "Estimate | None"]
Fits = Callable[["Curve", "Card | None"], bool]
BANDS = (
    "Bands show the interval of each value; paler bands show the range of 98 % of the samples and "
    "are off at first if there are more than two curves."
)
MOST_MARKED = 4
"""The breaks of more curves in one plot are a muddle."""
_DEFAULTS = ("", "default")
_TOLD = tuple(name for name in KEY_COLUMNS if name in OF_TABLES and name not in BENCHMARK)
"""The columns that tell curves of one benchmark apart."""


class Held(NamedTuple):
    """A curve, and the run that it is of."""

    shown: RunResult
    curve: Curve


class NamedBreak(NamedTuple):
    """A break, and the name of the curve that has it."""

    curve: str
    likely: LikelyBreak


def chosen_curves(shown: Sequence[RunResult], fits: Fits, chosen: Chosen) -> list[Held]:
    """Curves that fit, of the benchmark that was asked for, with the default settings first; pairs
    of a map are not curves, and benchmarks of the node itself but messages by nothing but copies
    have plots of their own."""
    curves = []
    for each in shown:
        cards = each.run.cards
        for curve in each.view.curves:
            cell = curve.first.cell
            is_pair = bool(cell.members) and not cell.placement
            if is_pair or not _is_wanted(curve, chosen):
                continue
            if fits(curve, cards.get(curve.benchmark)):
                curves.append(Held(each, curve))
    return sorted(curves, key=lambda held: held.curve.first.cell.arm not in _DEFAULTS)


def _is_wanted(curve: Curve, chosen: Chosen) -> bool:
    if chosen.benchmark:
        return chosen.benchmark.lower() == curve.benchmark.lower()
    cell = curve.first.cell
    return cell.suite != NODE_SUITE or cell.benchmark in COPIES


def is_collective(card: Card | None) -> bool:
    return card is not None and card.sync == "each"


def over_size(
    held: Sequence[Held],
    y: Axis,
    value: Value,
    together: bool = False,
    levels: tuple[Level, ...] = (),
) -> list[Panel]:
    """Panels of `value` by message size, with the breaks of the first curves of each panel.
    `together`: in one panel, where benchmarks are all that curves differ in."""
    sized = [each for each in held if _with_values(each.curve.rows, value)]
    numbers, panels = count(1), []
    for title, of in _named_panels(sized, together).items():
        series = [_series(name, each.curve, value) for name, each in of]
        marked = [each for _, each in of[:MOST_MARKED]]
        marks = tuple(_marks(marked, numbers))
        panels.append(Panel(title, SIZE, y, tuple(series), marks, levels=levels))
    return panels


def _named_panels(held: Sequence[Held], together: bool) -> dict[str, list[tuple[str, Held]]]:
    """The curves of each panel with their names, by the titles of the panels."""
    name = names(held)
    panels: dict[str, list[tuple[str, Held]]] = {}
    if together and held and not any(map(name, held)):
        return {"": [(each.curve.benchmark, each) for each in held]}
    for benchmark, of in by_benchmark(held):
        panels[benchmark] = [(name(each) or each.shown.name, each) for each in of]
    return panels


def marked_words(panels: Sequence[Panel]) -> tuple[str, ...]:
    """The remark on breaks that are not marked, if there are any."""
    if all(len(panel.series) <= MOST_MARKED for panel in panels):
        return ()
    first = f"the first {MOST_MARKED} curves of each plot"
    return (f"Breaks are searched in {first}; `mpigauge model RUN` has those of all.",)


def by_benchmark(held: Iterable[Held]) -> Iterator[tuple[str, list[Held]]]:
    by_name: dict[str, list[Held]] = {}
    for each in held:
        by_name.setdefault(each.curve.benchmark, []).append(each)
    yield from by_name.items()


def names(held: Sequence[Held]) -> Callable[[Held], str]:
    """Returns a function that names a curve: its run and its columns, as far as curves differ in
    these."""
    runs = dict.fromkeys(each.shown.name for each in held)
    differing: dict[str, set[str]] = {run: set() for run in runs}
    for _, of in by_benchmark(held):
        for run in runs:
            differing[run].update(_differ(run, of))

    def name(each: Held) -> str:
        cell = each.curve.first.cell
        words = [each.shown.name] if len(runs) > 1 else []
        for column in _TOLD:
            if column in differing[each.shown.name]:
                words.append(word(column, getattr(cell, column)))
        return dotted(*words)

    return name


def _differ(run: str, held: Sequence[Held]) -> Iterator[str]:
    """The columns in which curves of this run differ."""
    cells = [each.curve.first.cell for each in held if each.shown.name == run]
    for column in _TOLD:
        if len({getattr(cell, column) for cell in cells}) > 1:
            yield column


def word(column: str, value: object) -> str:
    """The word for a column's value in a curve's name; empty for the usual value."""
    if value in ("", False):
        if column == "arm":
            return "default"
        return ""
    return heading_word(column, value)


def _with_values(rows: Iterable[Row], value: Value) -> list[tuple[Row, Estimate]]:
    """Rows with a message and a value."""
    points = []
    for row in rows:
        of = value(row)
        if row.message_bytes >= 0 and of is not None and math.isfinite(of.value):
            points.append((row, of))
    return points


def _series(name: str, curve: Curve, value: Value) -> Series:
    points = [_point(row, of) for row, of in _with_values(curve.rows, value)]
    return Series(name, tuple(points))


def _point(row: Row, of: Estimate) -> Point:
    """The point with the range of its samples, in the unit of the value."""
    cell = row.cell
    middle, ends = cell.time_p50_s, (cell.time_p01_s, cell.time_p99_s)
    if not all(map(math.isfinite, ends)) or not min(middle, *ends) > 0:
        return Point.of(row.message_bytes, of, cell.origin == PREDICTED)
    if of == row.latency:
        far = [of.value * (end / middle) for end in ends]
    else:
        far = [of.value * (middle / end) for end in ends]
    return Point(row.message_bytes, of.value, of.low, of.high, min(far), max(far))


def _marks(curves: Sequence[Held], numbers: Iterator[int]) -> Iterator[Mark]:
    """The breaks of these curves from left to right, with what they are likely to be; one mark for
    those at one place, one sentence for those of one reason."""
    runs = {held.shown.name for held in curves}
    breaks: dict[float, dict[str, list[NamedBreak]]] = {}
    for held in curves:
        name = held.curve.label
        if len(runs) > 1:
            name = f"{held.shown.name}: {name}"
        for each in held.shown.breaks_of(held.curve):
            here = breaks.setdefault(each.middle_bytes, {})
            here.setdefault(_reason(each), []).append(NamedBreak(name, each))
    for middle in sorted(breaks):
        labels, words = [], []
        for why, of in breaks[middle].items():
            number = next(numbers)
            labels.append(str(number))
            words.append(f"({number}) {_break(of, why)}")
        yield Mark(middle, ",".join(labels), tuple(words))


def _reason(likely: LikelyBreak) -> str:
    """The likely reason of a break, as the end of a sentence."""
    if not likely.reasons:
        return ""
    first = likely.reasons[0]
    how = "likely" if first.is_likely else "possibly"
    return f"; {how}: {first.words}"


def _break(of: Sequence[NamedBreak], why: str) -> str:
    """A sentence about curves that break at one place for one reason."""
    names = first_few(each.curve for each in of)
    shapes = " or ".join(dict.fromkeys(each.likely.shape for each in of))
    return f"{names}, {of[0].likely.where}: {shapes}{why}."
