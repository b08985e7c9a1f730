# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Judges a run against limits or a reference, and each pair of ranks against its peers.

A number passes or fails if its whole interval lies on one side of the allowed value. It is
UNDECIDED if the interval contains that value, if there are too few launches for an interval, or if
nothing was measured. Wrong data always FAIL.

Fewer than six launches give no interval. Such a number FAILs if its whole range lies beyond the
allowed value. It never passes, unless point values are to be judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from mpigauge.model.column_facts import OF_NAME, USUAL
from mpigauge.model.row import Estimate
from mpigauge.model.units import byte_count, many
from mpigauge.result.compare.compare import compare
from mpigauge.result.compare.match.items import LAUNCH
from mpigauge.result.compare.match.side import Side
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL
from mpigauge.result.stats.remarks import wrong_data
from mpigauge.result.words import number_name

if TYPE_CHECKING:
    from mpigauge.products.check.limits import Limit
    from mpigauge.result.compare.comparison import ComparedNumber
    from mpigauge.result.compare.match.items import Item

CheckOutcome = Literal["PASS", "FAIL", "UNDECIDED"]
_UNITS = {"time": "s", "bandwidth": "B/s", "rate": "/s"}
NO_INTERVAL = "no interval known"


@dataclass(frozen=True)
class CheckLine:
    """One requirement and its outcome."""

    outcome: CheckOutcome
    name: str
    """The number that was checked, such as PingPong 8 B on 2 ranks."""
    what: str
    """The quantity: time, bandwidth, rate, the name of a figure, peers, or data."""
    unit: str = ""
    value: Estimate | None = None
    allowed: float = math.nan
    """The allowed value in `unit`, including the tolerance."""
    at_most: bool = True
    why: str = ""
    item: Item | None = None
    """The number to measure again; None: it cannot be."""
    again: bool = False
    """True if the number was measured again and this is the new outcome."""

    @property
    def bound(self) -> str:
        if self.at_most:
            return "at most"
        return "at least"


@dataclass(frozen=True)
class CheckResult:
    """The outcomes of all requirements."""

    lines: tuple[CheckLine, ...]
    notes: tuple[str, ...] = ()
    """Sentences about what was not checked or was measured in another way."""

    def noting(self, note: str) -> CheckResult:
        """Returns this result with one more note."""
        return replace(self, notes=(*self.notes, note))

    @property
    def outcome(self) -> CheckOutcome:
        """The worst outcome of all lines."""
        every = {line.outcome for line in self.lines}
        if "FAIL" in every:
            return "FAIL"
        if "UNDECIDED" in every:
            return "UNDECIDED"
        return "PASS"


def against_limits(
    items: Sequence[Item], limits: Sequence[Limit], points: bool = False
) -> list[CheckLine]:
    """Returns a line for each limit and each number that it applies to. `points`: a number of few
    launches is judged by its value alone."""
    lines: list[CheckLine] = []
    for limit in limits:
        lines += _limited(items, limit, points)
    return lines


def against_reference(
    reference: Side, run: Side, tolerance: float, points: bool = False
) -> tuple[list[CheckLine], list[str]]:
    """Returns a line for each number that both have or that cannot be compared, and sentences about
    what only one of them has. A number of the reference with fewer than six launches is taken as
    exact, as it is a requirement. `points`: such a number of the run is judged by its value
    alone."""
    comparison = compare([reference, run], tolerance, curves=False)
    both = [line for table in comparison.tables for line in table.lines]
    lines: list[CheckLine] = []
    unchecked: list[str] = []
    without_direction: list[str] = []
    for first, second in both:
        if second.item and second.item.better:
            lines.append(_referred(first.item, second, tolerance, points))
        elif second.item:
            name = f"{name_of(second.item)} {second.item.what}"
            without_direction.append(f"{name} has no better direction")
    for left in comparison.left_out:
        if left.refused:
            lines.append(CheckLine("UNDECIDED", left.benchmark, "", why=left.why))
        else:
            unchecked.append(left.text)
    notes = [f"measured otherwise: {words}" for words in comparison.unlike]
    notes += _started_otherwise(both, reference.name, run.name)
    notes += [f"not checked: {note}" for note in (*unchecked, *without_direction)]
    return lines, notes


def _started_otherwise(
    both: Iterable[Sequence[ComparedNumber]], reference: str, run: str
) -> Iterator[str]:
    """Yields sentences about collectives that started in different ways, with the option to use."""
    pairs = []
    for first, second in both:
        if first.item and second.item:
            pairs.append((_start_of(first.item), _start_of(second.item)))
    starts = dict(OF_NAME["sync"].words)
    del starts[USUAL["sync"]]  # such calls do not start together
    for theirs, ours in dict.fromkeys(pairs):
        if theirs != ours and theirs in starts and ours in starts:
            yield (
                f"measured otherwise: collectives of {run} started {starts[ours]}, those of "
                f"{reference} {starts[theirs]}; --sync {theirs} measures as there"
            )


def _start_of(item: Item) -> str:
    return str(dict(item.columns).get("sync", ""))


def only_points(lines: Sequence[CheckLine]) -> bool:
    """True if all checked numbers are imported and have one launch each, so that there will never
    be more launches."""
    checked = [line.item for line in lines if line.item and line.value]
    if not checked:
        return False
    return all(len(item.sample.values) == 1 and _is_imported(item) for item in checked)


def _is_imported(item: Item) -> bool:
    of = item.row.cell if item.row else item.figure
    return of is not None and of.origin == "imported"


def right_data(items: Sequence[Item]) -> list[CheckLine]:
    """Returns a failed line for each row with wrong data."""
    lines = []
    for item in items:
        if item.row and item.row.wrong_count:
            why = wrong_data(item.row.wrong_count)
            lines.append(CheckLine("FAIL", name_of(item), "data", why=why, item=item))
    return lines


def once_more(lines: Sequence[CheckLine], later: Sequence[CheckLine]) -> list[CheckLine]:
    """Replaces each failed line by its line of the later check. Lines match if they are about the
    same number and limit."""
    later_lines = {_about(line): line for line in later}
    result = []
    for line in lines:
        measured = later_lines.get(_about(line))
        if line.outcome == "FAIL" and measured:
            result.append(replace(measured, again=True))
        else:
            result.append(line)
    return result


def name_of(item: Item) -> str:
    """Returns the name of an item, such as PingPong 8 B on 2 ranks [l3]."""
    return number_name(item.benchmark, item.message_bytes, dict(item.columns))


def _limited(items: Sequence[Item], limit: Limit, points: bool) -> Iterator[CheckLine]:
    matching = [item for item in items if _meant(item, limit)]
    for item in matching:
        yield _bounded(item, limit, points)
    there = {item.message_bytes for item in matching}
    missing = [size for size in limit.sizes or () if size not in there]
    if missing or not matching:
        words = [limit.benchmark, *(str(value) for value in limit.where.values())]
        sizes = ", ".join(map(byte_count, missing))
        name = " ".join(filter(None, (*words, sizes)))
        yield CheckLine("UNDECIDED", name, limit.what, why="not measured")


def _meant(item: Item, limit: Limit) -> bool:
    columns = dict(item.columns)
    return (
        item.benchmark == limit.benchmark
        and (item.row is None) == limit.of_figure
        and (not limit.of_figure or limit.what in ("", item.what))
        and all(columns.get(name) == value for name, value in limit.where.items())
        and (limit.sizes is None or item.message_bytes in limit.sizes)
    )


def _bounded(item: Item, limit: Limit, points: bool) -> CheckLine:
    value = _measured(item, limit)
    line = CheckLine(
        "UNDECIDED",
        name_of(item),
        item.what if limit.of_figure else limit.what,
        item.unit if limit.of_figure else _UNITS[limit.what],
        value,
        limit.allowed,
        limit.at_most,
        item=item,
    )
    if value is None:
        return replace(line, why=f"{item.benchmark} has no {limit.what}")
    if _few(len(item.sample.values)):
        return _of_few(line, value, len(item.sample.values), points)
    return _decided(line, value)


def _of_few(line: CheckLine, value: Estimate, launches: int, points: bool) -> CheckLine:
    """Judges a number with too few launches for an interval."""
    if points:
        alone = _decided(line, Estimate(value.value, value.value, value.value))
        point = Estimate(value.value, math.nan, math.nan)
        return replace(alone, value=point, why=_both(NO_INTERVAL, line.why))
    if _decided(line, _all_known(value)).outcome == "FAIL":
        return replace(line, outcome="FAIL", why=_both(NO_INTERVAL, line.why))
    thing = line.item.repeated if line.item else LAUNCH
    needed = f"{many(launches, thing)}, at least {LEAST_FOR_INTERVAL} are needed"
    return replace(line, why=_both(needed, line.why))


def _all_known(value: Estimate) -> Estimate:
    """Returns the range of few launches, or the value alone if there is no range."""
    if math.isfinite(value.low) and math.isfinite(value.high):
        return value
    return Estimate(value.value, value.value, value.value)


def _measured(item: Item, limit: Limit) -> Estimate | None:
    if item.row is None or limit.what == "time":
        return item.value
    return {"bandwidth": item.row.bandwidth, "rate": item.row.rate}[limit.what]


def _decided(line: CheckLine, value: Estimate) -> CheckLine:
    """Returns the line with the outcome of comparing the interval with the allowed value."""
    low, high = value.low, value.high
    inside, outside = high <= line.allowed, low > line.allowed
    if not line.at_most:
        inside, outside = low >= line.allowed, high < line.allowed
    if inside or outside:
        return replace(line, outcome="PASS" if inside else "FAIL")
    return replace(line, why="what is allowed lies within its interval")


def _referred(
    first: Item | None, entry: ComparedNumber, tolerance: float, points: bool
) -> CheckLine:
    """Judges a number against the same number of the reference."""
    item, ratio = entry.item, entry.ratio
    if first is None or item is None or ratio is None:
        raise ValueError("this line has nothing to compare")
    at_most = item.better == "lower"
    factor = 1 + tolerance if at_most else 1 / (1 + tolerance)
    line = CheckLine(
        *("UNDECIDED", name_of(item), item.what, item.unit, item.value),
        allowed=first.value.value * factor,
        at_most=at_most,
        why="; ".join(entry.unlike),
        item=item,
    )
    if _few(len(item.sample.values)):
        return _of_few(line, item.value, len(item.sample.values), points)
    if _few(len(first.sample.values)):
        decided = _decided(line, item.value)
        return replace(decided, why=_both(decided.why, "the reference is one number"))
    return _decided_by_ratio(line, ratio.estimate, factor)


def _decided_by_ratio(line: CheckLine, ratio: Estimate, allowed: float) -> CheckLine:
    """Judges by the ratio, whose interval includes the error of the reference."""
    relative = replace(line, allowed=allowed)
    decided = _decided(relative, ratio)
    return replace(decided, allowed=line.allowed, why=_both(decided.why, line.why))


def _few(launches: int) -> bool:
    return launches < LEAST_FOR_INTERVAL


def _both(*sentences: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, sentences)))


def _about(line: CheckLine) -> tuple[Any, ...]:
    which = line.item.columns if line.item else line.name
    return which, line.what, line.at_most, line.allowed
