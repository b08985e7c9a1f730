# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Slow samples that are as much slower as a detour of their cores lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.units import duration, first_few, percent
from mpigauge.products.explain.needs import REPEATED, detours
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY
from mpigauge.result.node.detours import cores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.row import Row
    from mpigauge.result.node.detours import Core, Cores
    from mpigauge.result.run_view import RunView

LEAST_LOST = 0.002
"""The least share of time lost on the worst core that is worth a finding."""
LEAST_TAIL = 1.2
"""The slowest percent of the samples by the median: below, nobody would ask."""
LEAST_HIT = 0.01
"""The least share of samples with a detour; with fewer, the slowest percent is not explained by
them."""
USUAL = (0.1, 0.99)
"""Quantiles between which a detour is as long as others."""


@cause(
    "upper-tail",
    "slow samples that are as much slower as a detour lasts",
    detours,
    of=ANY,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    all_cores = cores(view.run.noise, view.run.ranks)
    if all_cores is None or all_cores.worst.detours.lost_ratio < LEAST_LOST:
        return
    tails = [row for row in view.rows if has_tail(row)]
    explained = [row for row in tails if explains(all_cores, row)]
    if not explained:
        return
    worst, shortest = all_cores.worst, duration(all_cores.undisturbed_s(explained[0].ranks))
    yield Finding(
        what=(
            f"{percent(worst.detours.lost_ratio)} of core {worst.cpu} is taken by detours, which "
            f"explains the upper tail of {len(explained)} of {len(tails)} rows that have one"
        ),
        likely=(
            "timer ticks, daemons or other programs: medians stand them, means and the slowest "
            "samples do not"
        ),
        evidence=(
            (
                f"core {worst.cpu}: {worst.detours.per_second:.0f} detours a second, "
                f"{_lengths(all_cores)} long but for the rarest{_tick(worst)}"
            ),
            (
                "the slowest percent of the samples is as much slower: "
                f"{first_few(row.cell_name for row in explained)}"
            ),
        ),
        rows=tuple(explained),
        attempts=(
            (
                "compare medians or the smallest samples; samples shorter than "
                f"{shortest} meet one in less than 1 of 100"
            ),
            "`mpigauge doctor noise load` lists possible causes",
        ),
    )


def _tick(core: Core) -> str:
    if core.tick:
        return f", the kernel's tick of {core.tick.hz:.0f} Hz among them"
    return ""


def has_tail(row: Row) -> bool:
    return row.cell.time_p99_s > LEAST_TAIL * row.cell.time_p50_s


def explains(all_cores: Cores, row: Row) -> bool:
    """True if a detour in a sample is likely enough, and about as long as the excess of the slowest
    percent of the samples."""
    cell = row.cell
    excess_s = (cell.time_p99_s - cell.time_p50_s) * cell.calls
    shortest, longest = _usual(all_cores)
    hit = all_cores.hit(cell.time_p50_s * cell.calls, cell.ranks * max(cell.groups, 1))
    return hit > LEAST_HIT and shortest <= excess_s <= longest


def _usual(all_cores: Cores) -> tuple[float, float]:
    lengths = sorted(length for core in all_cores.cores for length in core.detours.lengths_s)
    low, high = (lengths[int(part * (len(lengths) - 1))] for part in USUAL)
    return low, high


def _lengths(all_cores: Cores) -> str:
    low, high = _usual(all_cores)
    return f"{duration(low)} to {duration(high)}"
