# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints a comparison of profiles: the whole program, then each call site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.units import duration, listed, many, number, percent
from mpigauge.model.width import WIDTH, as_blocks, cut_apart, wrap
from mpigauge.products.profile.analyse.compared import WHOLE, ComparedSite, SideOfProfile
from mpigauge.products.profile.analyse.over_launches import OverLaunches
from mpigauge.products.profile.show.tables import table_lines
from mpigauge.show.comparisons.beside import ends, remarks

if TYPE_CHECKING:
    from mpigauge.result.compare.comparison import ComparedNumber, Comparison

MOST_NAME = 16
MOST_LISTED = 8
_FEW = (
    "Fewer than six launches of a side give a range and decide nothing; "
    "`mpigauge profile --launches 6 …` of each gives intervals and verdicts."
)


def text_of(
    comparison: Comparison,
    sides: Sequence[SideOfProfile],
    sites: Sequence[ComparedSite],
    width: int = WIDTH,
) -> str:
    """Returns a table for each side except the first."""
    blocks = [list(_heading(sides, width))]
    for other in range(1, len(sides)):
        blocks.append(list(_table(comparison, sides, other, width)))
        blocks.append(_wrapped(_differing(sides, sites, other), width))
    blocks.append(_wrapped(_how(comparison), width))
    return as_blocks(blocks)


def _wrapped(sentences: Iterable[str], width: int) -> list[str]:
    """Wraps sentences, each starting on a new line."""
    lines = []
    for sentence in sentences:
        lines += wrap(sentence, width)
    return lines


def _heading(sides: Sequence[SideOfProfile], width: int) -> Iterator[str]:
    for side in sides:
        first = side.accounts[0]
        run = OverLaunches.of_run_s(side.accounts).median
        share = OverLaunches.of_mpi_share(side.accounts).median
        words = (
            f"{side.name}: {first.job.program} on {many(len(first.ranks), 'rank')}",
            many(len(side.accounts), "launch"),
            f"MPI takes {percent(share)} of {duration(run)}",
        )
        yield from wrap(", ".join(words), width)


# --- numbers --------------------------------------------------------------------------------------
def _table(
    comparison: Comparison, sides: Sequence[SideOfProfile], other: int, width: int
) -> Iterator[str]:
    names = cut_apart([side.name for side in sides], MOST_NAME)
    several = any(len(each.accounts) > 1 for each in (sides[0], sides[other]))
    pairs = [(line[0], line[other]) for table in comparison.tables for line in table.lines]
    decided = any(entry.has_interval for _, entry in pairs)
    between = ""
    if decided:
        between = "95 %"
    elif several:
        between = "range"
    heads = ["", names[0], names[other], "ratio", between, ""]
    rows = []
    for first, entry in pairs:
        if first.item and entry.item:
            rows.append(_row(first, entry))
    yield from table_lines(heads, rows, width, cut=0, left=(0, len(heads) - 1))


def _row(first: ComparedNumber, entry: ComparedNumber) -> list[str]:
    before, after = first.item, entry.item
    if before is None or after is None or entry.ratio is None:
        return []
    words = [before.what, duration(before.value.value), duration(after.value.value)]
    words.append(number(entry.ratio.estimate.value))
    if entry.has_interval:
        return [*words, ends(entry), entry.verdict]
    return [*words, _range(before.sample.values, after.sample.values), ""]


def _range(before: Sequence[float], after: Sequence[float]) -> str:
    """Returns the range of ratios of single launches."""
    if min(len(before), len(after)) < 2 or not min(before) > 0:
        return ""
    return f"{number(min(after) / max(before))}–{number(max(after) / min(before))}"


# --- in words -------------------------------------------------------------------------------------
def _differing(
    sides: Sequence[SideOfProfile], sites: Sequence[ComparedSite], other: int
) -> Iterator[str]:
    """Yields call sites with other numbers of calls, or only on one side."""
    first, second = sides[0], sides[other]
    changed = []
    for site in sites:
        both = site.sites[0] and site.sites[other]
        if both and site.calls(0) != site.calls(other):
            changed.append(f"{site.label} {site.calls(0)} and {site.calls(other)}")
    if changed:
        yield f"Calls of {first.name} and of {second.name} differ: {_cut(changed)}."
    for number_, side, absent in ((0, first, other), (other, second, 0)):
        alone = []
        for site in sites:
            if site.sites[number_] and not site.sites[absent]:
                calls = many(site.calls(number_), "call")
                mean = duration(site.mean_s(side, number_, 0))
                alone.append(f"{site.label} ({calls}, {mean} a rank)")
        if alone:
            yield f"Only in {side.name}: {_cut(alone)}."


def _cut(words: Sequence[str]) -> str:
    left = len(words) - MOST_LISTED
    if left <= 0:
        return listed(words)
    return listed([*words[:MOST_LISTED], f"{left} more"])


def _how(comparison: Comparison) -> Iterator[str]:
    """Yields how numbers were judged."""
    yield (
        f"Times are of a rank, in the mean of ranks; {WHOLE[0]}: from the end of MPI_Init to the "
        "start of MPI_Finalize."
    )
    if all(entry.has_interval for entry in comparison.entries if entry.ratio):
        yield from remarks(replace(comparison, left_out=()))
    else:
        yield _FEW
