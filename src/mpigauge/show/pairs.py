# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The sentences on a map: slow ranks and pairs, and the cost of each level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import many, percent

if TYPE_CHECKING:
    from mpigauge.result.pairs import PairMap, Sheet
    from mpigauge.result.stats.peers import Odd

_MOST_NAMED = 8


def odd_lines(pair_map: PairMap, sheet: Sheet) -> Iterator[str]:
    """A line for each rank and each pair that is slower than its peers; nothing: none is."""
    ranks = [each.rank for each in sheet.odd_ranks]
    for each in sheet.odd_ranks:
        yield (
            f"slow: {pair_map.name(each.rank)} (rank {each.rank}) takes {percent(each.ratio - 1)} "
            "longer with most others than their peers do"
        )
    others = [o for o in sheet.odd if o.pair.first not in ranks and o.pair.second not in ranks]
    for odd in others[:_MOST_NAMED]:
        yield _odd_pair(pair_map, sheet, odd)
    if len(others) > _MOST_NAMED:
        yield f"… and {len(others) - _MOST_NAMED} more slow pairs"


def calm_lines(sheet: Sheet) -> Iterator[str]:
    """Lines about pairs that were slow beside others, and not alone."""
    calm = [pair for pair in sheet.again if pair not in {o.pair[:2] for o in sheet.odd}]
    if calm:
        pairs = many(len(calm), "pair")
        yield f"{pairs} stood out beside the others, and not when measured again alone"


def _odd_pair(pair_map: PairMap, sheet: Sheet, odd: Odd) -> str:
    pair = odd.pair
    first, second = pair_map.name(pair.first), pair_map.name(pair.second)
    again = ", measured twice" if pair[:2] in sheet.again else ", measured once"
    return (
        f"slow: {first} with {second} (ranks {pair.first} and {pair.second}) takes "
        f"{odd.ratio:.2f} × as long as its {len(odd.peers.pairs) - 1} peers: "
        f"{sheet.text(pair.time.value)} {sheet.unit}{again}"
    )
