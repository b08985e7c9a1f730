# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A comparison for people: each number with its error, its ratio to the first with its interval,
the verdict, and a sentence for each table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.row import NOTHING
from mpigauge.model.row_tables import row_tables
from mpigauge.model.units import (
    as_percent,
    byte_count,
    many,
    memory,
    microseconds,
    number,
    plus_minus,
)
from mpigauge.model.width import WIDTH, aligned, broken, shortened
from mpigauge.result.compare.items import BYTES, MEDIAN, SECONDS, WORST
from mpigauge.result.stats.history import STARTING_SD
from mpigauge.show.titles import as_printed, title

if TYPE_CHECKING:
    from mpigauge.model.cards import Cards
    from mpigauge.result.compare.comparison import (
        ComparedNumber,
        Comparison,
        ComparisonTable,
        Overall,
    )
    from mpigauge.result.compare.items import Item

Words = tuple[str, ...]
_LEAST_NAME = 16
ALL = "all"
"""The line of a curve as a whole."""


def render(
    comparison: Comparison,
    cards: Cards,
    heading: Sequence[str] = (),
    programs: Sequence[str] = (),
) -> str:
    """Text for people; `heading` says what the sides are, `programs` what they mean for programs
    that are not ours."""
    blocks = [broken(heading)] if heading else []
    blocks += [
        [
            *broken([table_title(table, cards, comparison.varied, comparison.response)]),
            *joined(fitting(text_rows(table, comparison.names))),
            *broken(table.sentences),
        ]
        for table in comparison.tables
    ]
    if programs:
        blocks.append(broken(programs))
    if comparison.sentences:
        blocks.append(broken(comparison.sentences))
    return "\n\n".join("\n".join(block) for block in [*blocks, broken(remarks(comparison))]) + "\n"


def table_title(table: ComparisonTable, cards: Cards, varied: str, response: str = MEDIAN) -> str:
    """What was measured, what its numbers are of their launches, by which column sides differ."""
    by = f"by {varied}" if varied and table.first.row else ""
    one = "" if response == MEDIAN else f"{response} launch"
    return " · ".join(filter(None, (what_of(table.first, cards, varied), one, by)))


def what_of(first: Item, cards: Cards, varied: str) -> str:
    """What was measured; the column that sides differ in is left out."""
    if first.row is None:
        columns = dict(first.columns)
        ranks = many(columns["ranks"], "rank") if columns.get("ranks") else ""
        arm = columns.get("arm", "")
        return " · ".join(filter(None, (first.benchmark, first.what, first.unit, ranks, arm)))
    (found,) = row_tables([first.row], cards)
    return title(found, without=varied)


def text_rows(table: ComparisonTable, names: Sequence[str]) -> list[Words]:
    """The heads, then a line for each size and side."""
    sized = table.first.message_bytes >= 0
    unit = unit_of(table.first)
    printed = any(_printed(entry) for line in table.lines for entry in line)
    said = ("printed MB/s",) if printed else ()
    lines: list[Words] = [("bytes" if sized else "", "", unit, "±", *said, "ratio", "95 %", "")]
    for line in table.lines:
        lines += _of_size(line, names, printed)
    return [*lines, *_of_all_sizes(table, names, printed)]


def fitting(lines: Sequence[Words]) -> Sequence[Words]:
    """Names of sides as short as the numbers need them to be."""
    names = [line[1] for line in lines]
    over = max(map(len, joined(lines)), default=0) - WIDTH
    if over <= 0:
        return lines
    room = max(_LEAST_NAME, max(map(len, names)) - over)
    short = shortened(names, room)
    return [(line[0], name, *line[2:]) for line, name in zip(lines, short, strict=True)]


def joined(lines: Sequence[Words]) -> Iterator[str]:
    """Columns below each other: the second and the last begin alike, the others end alike."""
    lines = [tuple(words) for words in aligned(lines)]
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for size, name, *numbers, last in lines:
        right = (f"{word:>{w}}" for word, w in zip(numbers, wide[2:-1], strict=True))
        start = f"{size:>{wide[0]}}  " if wide[0] else ""
        yield f"{start}{name:<{wide[1]}}  {' '.join(right)}  {last}".rstrip()


def _of_size(
    line: Sequence[ComparedNumber], names: Sequence[str], printed: bool
) -> Iterator[Words]:
    """A line for each side; the first has no ratio."""
    size = byte_count(next(entry.item.message_bytes for entry in line if entry.item))
    for name, entry in zip(names, line, strict=True):
        value, error, *judged = numbers_of(entry)
        yield size, name, value, error, *((_printed(entry),) if printed else ()), *judged
        size = ""


def _printed(entry: ComparedNumber) -> str:
    """The bandwidth that another program printed beside its time."""
    row = entry.item.row if entry.item else None
    return as_printed(row.cell.printed_mb_per_s, 2) if row else ""


def _of_all_sizes(table: ComparisonTable, names: Sequence[str], printed: bool) -> Iterator[Words]:
    """A line for each side whose curve is judged as a whole."""
    label, empty = ALL, ("",) * (3 if printed else 2)
    for name, found in zip(names, table.overall, strict=True):
        if found:
            yield label, name, *empty, *_ratio_of(found), found.verdict
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
    found = entry.ratio.estimate if entry.ratio else NOTHING
    return number(found.value, found.error), ends(entry)


def unit_of(item: Item) -> str:
    """The unit in which values of this kind are shown."""
    return "µs" if item.unit == SECONDS else item.unit


def error_of(item: Item) -> str:
    """Its error, or the range of few launches."""
    if item.row and item.row.is_range:
        return item.row.error_text(item.value)
    return plus_minus(item.value.relative_error)


def in_unit(item: Item) -> str:
    """Its value; times in µs, memory with a unit of its own."""
    return word_in_unit(item, item.value.value, item.value.error)


def word_in_unit(item: Item, value: float, error: float = 0.0) -> str:
    """Another value of the same thing, such as that of one launch."""
    if item.unit == BYTES:
        return memory(value)
    return (microseconds if item.unit == SECONDS else number)(value, error)


def ends(entry: ComparedNumber | Overall) -> str:
    """The interval of the ratio."""
    found = entry.ratio.estimate if entry.ratio else None
    if found is None or not math.isfinite(found.low):
        return ""
    return f"{number(found.low, found.error)}–{number(found.high, found.error)}"


def remarks(comparison: Comparison, mean: str = ALL) -> list[str]:
    """How it was judged, what is unlike, what was left out. `mean`: what the line of a curve as a
    whole is called."""
    tested = comparison.entries
    in_median = comparison.response == MEDIAN
    how = _how_judged(comparison, mean) if in_median else _how_chosen(comparison)
    of_numbers = (words for entry in tested for words in entry.unlike)
    unlike = dict.fromkeys([*comparison.unlike, *of_numbers])
    notes = [f"Measured otherwise: {words}." for words in unlike]
    notes += [f"Left out: {left.text}." for left in comparison.left_out]
    return [how, *notes] if tested else notes


def _how_chosen(comparison: Comparison) -> str:
    which = comparison.response
    return (
        f"Each number is the {which} of its launches, and the ratio is to {comparison.names[0]}. "
        f"Of one launch nobody knows the error, and of more launches the {which} is "
        f"{'worse' if which == WORST else 'better'}: so nothing is decided."
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
    paired = sum(bool(entry.ratio and entry.ratio.paired) for entry in tested)
    if paired:
        how += f" {paired} of them are of launches that were taken in turn (paired)."
    if paired < len(tested):
        how += (
            f" {len(tested) - paired} are of launches at different times: "
            f"{_AT_DIFFERENT_TIMES[comparison.between_runs]}."
        )
    if left_out := sum(entry.ratio.left_out > 0 for entry in tested if entry.ratio):
        how += f" In {left_out} a launch lies far from all others and is left out of the interval."
    return how


_AT_DIFFERENT_TIMES = {
    "": "whatever changed in the machine between them counts, too",
    "known": "their intervals hold what earlier runs of this machine differed by",
    "starting": "this machine is not known yet, so their intervals take "
    f"{STARTING_SD * 100:g} % for what its runs differ by",
}


def _how_many(comparison: Comparison) -> str:
    """24 ratios, 1 curve and all together."""
    counts = [
        many(len(comparison.entries), "ratio"),
        many(len(comparison.curves), "curve") if comparison.curves else "",
        "all together" if any(comparison.overall) else "",
    ]
    *words, last = filter(None, counts)
    return f"{', '.join(words)} and {last}" if words else last
