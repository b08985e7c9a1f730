# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A rank, core or host that is slower than its peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import byte_count, duration, first_few
from mpigauge.products.explain.needs import REPEATED
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import SENDING
from mpigauge.result.pairs import stored_map
from mpigauge.result.words import factor

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.pairs import PairMap, Sheet
    from mpigauge.result.run_view import Curve, RunView
    from mpigauge.result.stats.peers import Odd

ALIKE = ("Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Reduce_scatter",
         "Reduce_scatter_block", "Sendrecv", "Exchange")  # fmt: skip
"""Benchmarks in which every rank does the same."""
LEAST_RATIO, LEAST_S = 1.5, 1e-6
MOST_NAMED = 3


@cause(
    "slow-rank",
    "a rank, core or host that is slower than its peers",
    of=SENDING | {"one-sided", "node"},
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    if pair_map := view.pairs or stored_map(view.run, view.rows):
        yield from _of_pairs(pair_map, view.run_word)
    uneven = [curve for curve in view.curves if _is_uneven(curve)]
    if uneven:
        yield _of_ranks(view, uneven)


def _of_pairs(pair_map: PairMap, run_word: str) -> Iterator[Finding]:
    for sheet in pair_map.sheets:
        ranks = [f"{pair_map.name(each.rank)} ({factor(each.ratio)})" for each in sheet.odd_ranks]
        pairs = [_pair(pair_map, sheet, odd) for odd in sheet.odd]
        if not ranks and not pairs:
            continue
        likely = "a slow link or path between these two"
        if ranks:
            likely = "a slow core or host"
        yield Finding(
            what=f"{sheet.benchmark} {byte_count(sheet.message_bytes)}: slower than the "
            f"peers: {first_few(ranks or pairs)}",
            likely=likely,
            evidence=tuple(pairs[:MOST_NAMED]) or ("all pairs of it are slow",),
            attempts=(
                f"`mpigauge show {run_word} --format map` shows all pairs",
                "`mpigauge doctor` on the host",
                "leave it out (--hosts, --place), and measure again",
            ),
        )


def _pair(pair_map: PairMap, sheet: Sheet, odd: Odd) -> str:
    """A slow pair with its time, and that of its peers."""
    names = f"{pair_map.name(odd.pair.first)} with {pair_map.name(odd.pair.second)}"
    time, usual = sheet.text(odd.pair.time.value), sheet.text(odd.peers.median_s)
    return f"{names} ({time} {sheet.unit}, peers {usual})"


def _is_uneven(curve: Curve) -> bool:
    """True if more than half of its sizes show it, so that it is no accident of one."""
    named = curve.first.cell.benchmark in ALIKE
    return named and sum(map(_row_is_uneven, curve.rows)) * 2 > len(curve.rows)


def _row_is_uneven(row: Row) -> bool:
    cell = row.cell
    more = cell.time_max_s - cell.time_min_s
    return cell.time_max_s > LEAST_RATIO * cell.time_min_s > 0 and more > LEAST_S


def _of_ranks(view: RunView, curves: list[Curve]) -> Finding:
    """One slow rank of many pulls their mean little."""
    rows: list[Row] = []
    for curve in curves:
        rows += filter(_row_is_uneven, curve.rows)
    worst = max(rows, key=lambda row: row.cell.time_max_s / row.cell.time_min_s)
    cell = worst.cell
    middle = (cell.time_avg_s - cell.time_min_s) / (cell.time_max_s - cell.time_min_s)
    if middle < 0.5:
        likely = "one rank or a few are slower than the others: their core, memory or path"
    else:
        likely = "most ranks are slower than a few that are near to each other"
    return Finding(
        what=f"{first_few(curve.label for curve in curves)}: the slowest rank takes up to "
        f"{factor(cell.time_max_s / cell.time_min_s)} the time of the fastest, and all do the same",
        likely=likely,
        evidence=(
            (
                f"{worst.cell_name} on {cell.ranks} ranks: fastest "
                f"{duration(cell.time_min_s)}, mean {duration(cell.time_avg_s)}, slowest "
                f"{duration(cell.time_max_s)}"
            ),
        ),
        attempts=(
            "`mpigauge map` measures every two ranks, and names the core or host that is slow",
        ),
        rows=tuple(rows),
        cost=view.cost(1 - row.cell.time_avg_s / row.cell.time_max_s for row in rows),
    )
