# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The first sentences on the page of a map: the slow pair, and the cost of each level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import many, plus_minus
from mpigauge.result.pairs import ABOUT
from mpigauge.result.stats.peers import LEAST_PEERS
from mpigauge.show.pairs import odd_lines
from mpigauge.show.web.quoted import QuotedNumber

if TYPE_CHECKING:
    from mpigauge.result.pairs import PairMap, Sheet

_MOST_LEVELS = 4
"""The most levels shown, over all sizes together."""


def pair_sentences(pair_map: PairMap) -> Iterator[str]:
    """The slow ranks and pairs; if there are none, whether there are enough pairs to tell."""
    for sheet in pair_map.sheets:
        slow = list(odd_lines(pair_map, sheet))
        for line in slow:
            yield f"{sheet.name}: {line}."
        if not slow:
            yield f"{sheet.name}: {_calm(sheet)}."


def pair_numbers(pair_map: PairMap) -> Iterator[QuotedNumber]:
    """The median of each level, the closest first, as many levels of each size."""
    each = max(1, _MOST_LEVELS // len(pair_map.sheets))
    for sheet in pair_map.sheets:
        for cluster in sheet.clusters[:each]:
            low, high = sheet.text(min(cluster.times)), sheet.text(max(cluster.times))
            pairs = many(len(cluster.pairs), "pair")
            where = f"median of {pairs}, {low} … {high} {sheet.unit}"
            if len(cluster.pairs) == 1:
                where = pairs
            value = f"{sheet.text(cluster.median_s)} {sheet.unit}"
            error = plus_minus(cluster.error_s / cluster.median_s)
            yield QuotedNumber(f"{sheet.name}, {ABOUT[cluster.level]}", value, error, where)


def _calm(sheet: Sheet) -> str:
    most = max(len(cluster.pairs) for cluster in sheet.clusters)
    pairs = many(sum(len(cluster.pairs) for cluster in sheet.clusters), "pair")
    if most < LEAST_PEERS:
        return f"{pairs}, too few of a kind to judge whether one is slow"
    return f"none of {pairs} is slower than its peers by more than chance"
