# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The numbers of a network that can be compared and limited, with a value for each round.

Times of single calls hardly describe a network, and one launch gives no interval for them. The
numbers here are shares, impacts and hosts beside their peers; their rounds take the place of
launches.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.model.cards import benchmark_word
from mpigauge.model.record import CellRecord
from mpigauge.result.compare.match.items import ROUND, SECONDS, Item
from mpigauge.result.fabric.fabric import SPOTS, WAYS, fabric_of
from mpigauge.result.fabric.impact import SUITE, visits_of
from mpigauge.result.fabric.matchings import estimate
from mpigauge.result.stats.ratio import Sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.model.row import Estimate, Row
    from mpigauge.result.fabric.fabric import Fabric
    from mpigauge.runs.store import Run

HOSTS = f"{SUITE}:hosts"
"""The name under which hosts stand beside their peers; each figure has the name of a host."""
SHARE, BANDWIDTH, IMPACT, TAIL, TIME = "share", "bandwidth", "impact", "tail impact", "time"
RATIO, BYTES_PER_S = "×", "B/s"
_WAYS, _SPOTS = tuple(WAYS), tuple(SPOTS)
HIGHER, LOWER = "higher", "lower"


def network_items(run: Run, rows: Iterable[Row]) -> tuple[Item, ...]:
    """The numbers of the network that a run holds; none: it holds no network."""
    fabric = fabric_of(run, rows)
    if fabric is None:
        return ()
    return (*_shares(fabric), *_spots(run), *_impacts(fabric), *_hosts(fabric))


def comparable(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items, without the times of a network's single calls if its own numbers are among
    them."""
    if not any(item.row is None and _is_of_network(item) for item in items):
        return tuple(items)
    return tuple(item for item in items if item.row is None or not _is_of_network(item))


def _is_of_network(item: Item) -> bool:
    return item.benchmark.startswith(f"{SUITE}:")


def _shares(fabric: Fabric) -> Iterator[Item]:
    for pairing in sorted(fabric.pairings, key=lambda each: _WAYS.index(each.name)):
        shares = [each.share for each in pairing.compared]
        totals = [each.sum_together for each in pairing.compared]
        name = benchmark_word(SUITE, pairing.name)
        if pairing.share and pairing.total:
            yield _item(name, SHARE, RATIO, HIGHER, pairing.share, shares)
            yield _item(name, BANDWIDTH, BYTES_PER_S, HIGHER, pairing.total, totals)


def _spots(run: Run) -> Iterator[Item]:
    """The total bandwidth of each hot spot, by its visits."""
    records: dict[tuple[int, int], list[CellRecord]] = defaultdict(list)
    for record in run.of(CellRecord):
        cell = record.cell
        if cell.suite == SUITE and cell.benchmark in _SPOTS:
            records[_SPOTS.index(cell.benchmark), cell.ranks].append(record)
    for (spot, ranks), of in sorted(records.items()):
        scale, moved = of[0].cell.time_scale, of[0].cell.moved_bytes
        visits = [float(np.median(visit)) for visit in visits_of(run, of).values()]
        times = [each * scale for each in visits or [record.cell.time_p50_s for record in of]]
        values = [moved / time for time in times if time > 0]
        total = estimate(values)
        if total and moved:
            word = benchmark_word(SUITE, _SPOTS[spot])
            yield _item(word, BANDWIDTH, BYTES_PER_S, HIGHER, total, values, ranks=ranks)


def _impacts(fabric: Fabric) -> Iterator[Item]:
    """The victims alone, then their impacts. Rows whose aggressors stopped do not count."""
    alone = {(each.victim, each.message_bytes): each for each in fabric.impacts}
    for (victim, size), each in alone.items():
        times = each.alone_by_round or (each.alone_s,)
        if time := estimate(times):
            yield _item(benchmark_word(SUITE, victim), TIME, SECONDS, LOWER, time, times, size)
    for each in fabric.impacts:
        if each.is_stopped:
            continue
        name, size = benchmark_word(SUITE, f"{each.victim}_{each.aggressor}"), each.message_bytes
        ratios = each.ratios or (each.median.value,)
        yield _item(name, IMPACT, RATIO, LOWER, each.median, ratios, size)
        if each.tails:
            factor = each.tail.value / median(each.tails)
            tails = [factor * tail for tail in each.tails]  # a round has few samples for a tail
            yield _item(name, TAIL, RATIO, LOWER, each.tail, tails, size)


def _hosts(fabric: Fabric) -> Iterator[Item]:
    for each in fabric.host_shares:
        yield _item(HOSTS, each.host, RATIO, HIGHER, each.share, each.by_round)


def _item(
    benchmark: str,
    what: str,
    unit: str,
    better: str,
    value: Estimate,
    rounds: Sequence[float],
    message_bytes: int = -1,
    ranks: int = 0,
) -> Item:
    suite, _, name = benchmark.rpartition(":")
    columns = {
        "suite": suite,
        "benchmark": name,
        "name": what,
        "unit": unit,
        "better": better,
        "message_bytes": message_bytes,
        "ranks": ranks,
    }
    return Item(
        columns=tuple(columns.items()),
        benchmark=benchmark,
        message_bytes=message_bytes,
        what=what,
        unit=unit,
        better=better,
        value=value,
        sample=Sample(tuple(rounds)),
        numbers=(),
        repeated=ROUND,
    )
