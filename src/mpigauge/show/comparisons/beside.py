# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A comparison for people: each number with its error, its ratio to the first with its interval,
the verdict, and a sentence for each table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.row import NOTHING
from mpigauge.model.row_tables import row_tables
from mpigauge.model.units import (
    as_percent,
    byte_count,
    dotted,
    is_unknown,
    listed,
    many,
    memory,
    microseconds,
    number,
    plus_minus,
)
from mpigauge.model.width import (
    WIDTH,
    aligned,
    as_blocks,
    broken,
    cut_apart,
    right_aligned,
    widths,
)
from mpigauge.result.compare.match.items import BYTES, MEDIAN, SECONDS, WORST
from mpigauge.result.stats.history import STARTING_SD
from mpigauge.show.titles import LAUNCHES, as_printed, resting_on, title

if TYPE_CHECKING:
    from mpigauge.model.cards import Cards
    from mpigauge.result.compare.comparison import (
        ComparedNumber,
        Comparison,
        ComparisonTable,
        Overall,
    )
    from mpigauge.result.compare.match.items import Item

Words = tuple[str, ...]
_LEAST_NAME = 16
FAILED = "failed"
"""Stands for the numbers of a setting whose launches failed."""
ALL = "all"
"""The line of a curve as a whole."""
WORST_FIRST = ("SLOWER", "WORSE", "UNDECIDED", "FASTER", "BETTER", "SAME")
"""Verdicts in the order in which they are counted."""


def render(
    comparison: Comparison,
    cards: Cards,
    heading: Sequence[str] = (),
    programs: Sequence[str] = (),
) -> str:
    """Text for people; `heading` says what the sides are, `programs` what they mean for programs
    that are not ours."""
    blocks = [broken(heading)]
    for table in comparison.tables:
        title = table_title(table, cards, comparison.varied, comparison.response)
        lines = joined(fitting(text_rows(table, comparison.names)))
        blocks.append([*broken([title]), *lines, *broken(table.sentences)])
    blocks += [broken(programs), broken(comparison.sentences), broken(remarks(comparison))]
    return as_blocks(blocks)


def counts_of_verdicts(comparison: Comparison) -> Iterator[str]:
    """Yields the count of each verdict for each other side, the worst first, such as: b against a:
    2 WORSE, 30 SAME."""
    lines = [line for table in comparison.tables for line in table.lines]
    for place, name in enumerate(comparison.names[1:], 1):
        counts = Counter(line[place].verdict for line in lines if line[place].verdict)
        words = [f"{counts[each]} {each}" for each in WORST_FIRST if counts[each]]
        words += [f"{counts[each]} {each}" for each in counts if each not in WORST_FIRST]
        yield f"{name} against {comparison.names[0]}: {', '.join(words)}"


def table_title(table: ComparisonTable, cards: Cards, varied: str, response: str = MEDIAN) -> str:
    """The title of a table: what was measured, the column in which the sides differ, and which
    launch"""
    one = "" if response == MEDIAN else f"{response} launch"
    by = f"by {varied}" if varied and table.first.row else ""
    entries = (entry for line in table.lines for entry in line)
    return dotted(what_of([each.item for each in entries if each.item], cards, varied), one, by)


def what_of(items: Sequence[Item], cards: Cards, varied: str) -> str:
    """The name of what was measured, without the columns in which the numbers differ."""
    first, without = items[0], {varied, *differing(items)}
    if first.row is None:
        arm = "" if "arm" in without else dict(first.columns).get("arm", "")
        return dotted(first.benchmark, first.what, first.unit, first.ranks_word, arm)
    (table,) = row_tables([first.row], cards)
    return title(table, without)


def differing(items: Sequence[Item]) -> Iterator[str]:
    """Yields the columns in which these numbers differ, and LAUNCHES if their launches do."""
    values: dict[str, set[Hashable]] = {}
    for item in items:
        for name, value in item.columns:
            values.setdefault(name, set()).add(value)
        if item.row:
            values.setdefault(LAUNCHES, set()).add(resting_on(item.row))
    yield from (name for name, of in values.items() if len(of) > 1)


def text_rows(table: ComparisonTable, names: Sequence[str]) -> list[Words]:
    """The heads, then a line for each size and side."""
    printed = any(_printed(entry) for line in table.lines for entry in line)
    size = "bytes" if table.first.message_bytes >= 0 else ""
    beside = ("printed MB/s",) if printed else ()
    lines: list[Words] = [(size, "", unit_of(table.first), "±", *beside, "ratio", "95 %", "")]
    for line in table.lines:
        lines += _of_size(line, names, printed)
    lines += _of_all_sizes(table, names, printed)
    return lines


def fitting(lines: Sequence[Words]) -> Sequence[Words]:
    """Names of sides as short as the numbers need them to be."""
    names = [line[1] for line in lines]
    over = max(map(len, joined(lines)), default=0) - WIDTH
    if over <= 0:
        return lines
    room = max(_LEAST_NAME, max(map(len, names)) - over)
    short = cut_apart(names, room)
    return [(line[0], name, *line[2:]) for line, name in zip(lines, short, strict=True)]


def joined(lines: Sequence[Words]) -> Iterator[str]:
    """Columns below each other: the second and the last begin alike, the others end alike."""
    words = aligned(lines)
    wide = widths(words)
    for size, name, *numbers, last in words:
        start = f"{size:>{wide[0]}}  " if wide[0] else ""
        right = right_aligned(numbers, wide[2:-1])
        yield f"{start}{name:<{wide[1]}}  {right}  {last}".rstrip()


def _of_size(
    line: Sequence[ComparedNumber], names: Sequence[str], printed: bool
) -> Iterator[Words]:
    """A line for each side; the first has no ratio."""
    size = byte_count(next(entry.item.message_bytes for entry in line if entry.item))
    for name, entry in zip(names, line, strict=True):
        value, error, *judged = numbers_of(entry)
        beside = (_printed(entry),) if printed else ()
        yield size, name, value, error, *beside, *judged
        size = ""


def _printed(entry: ComparedNumber) -> str:
    """The bandwidth that another program printed beside its time."""
    if entry.item is None or entry.item.row is None:
        return ""
    return as_printed(entry.item.row.cell.printed_mb_per_s, 2)


def _of_all_sizes(table: ComparisonTable, names: Sequence[str], printed: bool) -> Iterator[Words]:
    """A line for each side whose curve is judged as a whole."""
    label, empty = ALL, ("",) * (3 if printed else 2)
    for name, overall in zip(names, table.overall, strict=True):
        if overall:
            yield label, name, *empty, *_ratio_of(overall), overall.verdict
            label = ""


def numbers_of(entry: ComparedNumber) -> Words:
    """Its value, error, ratio with interval, and verdict."""
    if entry.item is None:
        return "", "", "", "", "not measured"
    value = in_unit(entry.item), error_of(entry.item)
    if entry.ratio is None:
        return *value, "", "", ""
    return *value, *_ratio_of(entry), entry.verdict


def _ratio_of(entry: ComparedNumber | Overall) -> tuple[str, str]:
    """The ratio and its interval."""
    estimate = entry.ratio.estimate if entry.ratio else NOTHING
    return number(estimate.value, estimate.error), ends(entry)


def unit_of(item: Item) -> str:
    """The unit in which values of this kind are shown."""
    if item.unit == SECONDS:
        return "µs"
    return item.unit


def error_of(item: Item) -> str:
    """Its error, or the range of few launches."""
    if item.row and item.row.is_range:
        return item.row.error_text(item.value)
    return plus_minus(item.value.relative_error)


def in_unit(item: Item) -> str:
    """Its value; times in µs, memory with a unit of its own."""
    return word_in_unit(item, item.value.value, item.value.error)


def word_in_unit(item: Item, value: float, error: float = 0.0) -> str:
    """The words for another value of the same thing, such as that of one launch."""
    if item.unit == BYTES:
        return memory(value)
    if item.unit == SECONDS:
        return microseconds(value, error)
    return number(value, error)


def ends(entry: ComparedNumber | Overall) -> str:
    """The interval of the ratio."""
    estimate = entry.ratio.estimate if entry.ratio else None
    if estimate is None or not math.isfinite(estimate.low):
        return ""
    if is_unknown(estimate.low / estimate.value - 1, estimate.high / estimate.value - 1):
        return "unknown"
    return f"{number(estimate.low, estimate.error)}–{number(estimate.high, estimate.error)}"


def remarks(comparison: Comparison, mean: str = ALL) -> list[str]:
    """The notes below a comparison: how it was judged, what differs otherwise, and what was left
    out. `mean`: the name of the line for a curve as a whole."""
    tested = comparison.entries
    if comparison.response == MEDIAN:
        how = _how_judged(comparison, mean)
    else:
        how = _how_chosen(comparison)
    of_numbers = (words for entry in tested for words in entry.unlike)
    unlike = dict.fromkeys([*comparison.unlike, *of_numbers])
    notes = [f"Measured otherwise: {words}." for words in unlike]
    notes += [f"Left out: {left.text}." for left in comparison.left_out]
    if tested:
        return [how, *notes]
    return notes


def _how_chosen(comparison: Comparison) -> str:
    which = comparison.response
    direction = "worse" if which == WORST else "better"
    return (
        f"Each number is the {which} of its launches, and the ratio is to {comparison.names[0]}. "
        f"The error of one launch is unknown, and of more launches the {which} is "
        f"{direction}: so nothing is decided."
    )


def _how_judged(comparison: Comparison, mean: str) -> str:
    within = as_percent(comparison.tolerance)
    how = (
        f"The ratio of the medians is to {comparison.names[0]}. SAME: its interval lies within "
        f"±{within}; else it has to differ from 1 at 5 % after Holm's correction over "
        f"{_how_many(comparison)}."
    )
    if comparison.curves:
        how += f" {mean}: the geometric mean of the ratios above, judged launch by launch."
    tested = comparison.entries
    ratios = [entry.ratio for entry in tested if entry.ratio]
    paired = sum(ratio.paired for ratio in ratios)
    if paired:
        how += (
            f" {paired} of them {'is' if paired == 1 else 'are'} of alternating launches (paired)."
        )
    if paired < len(tested):
        how += (
            f" {_at_different_times(len(tested) - paired)} at different times: "
            f"{_AT_DIFFERENT_TIMES[comparison.between_runs]}."
        )
    left_out = sum(ratio.left_out > 0 for ratio in ratios)
    if left_out:
        how += f" In {left_out} a launch lies far from all others and is left out of the interval."
    return how


def _at_different_times(count: int) -> str:
    return f"{count} {'is' if count == 1 else 'are'} of launches"


_AT_DIFFERENT_TIMES = {
    "": "whatever changed in the machine between them counts, too",
    "known": "their intervals hold what earlier runs of this machine differed by",
    "starting": "this machine is not known yet, so their intervals take "
    f"{STARTING_SD * 100:g} % for what its runs differ by",
}


def _how_many(comparison: Comparison) -> str:
    """24 ratios, 1 curve and all together."""
    counts = [many(len(comparison.entries), "ratio")]
    if comparison.curves:
        counts.append(many(len(comparison.curves), "curve"))
    if any(comparison.overall):
        counts.append("all together")
    return listed(counts)
