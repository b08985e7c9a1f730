# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the page of a map says first: the slow pair, and what each level costs."""

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
"""Of all sizes together."""


def pair_sentences(found: PairMap) -> Iterator[str]:
    """Who is slow; where nobody is, whether there are enough pairs to tell."""
    for sheet in found.sheets:
        said = list(odd_lines(found, sheet))
        for line in said:
            yield f"{sheet.name}: {line}."
        if not said:
            yield f"{sheet.name}: {_calm(sheet)}."


def pair_numbers(found: PairMap) -> Iterator[QuotedNumber]:
    """The median of each level, the closest first, as many levels of each size."""
    each = max(1, _MOST_LEVELS // len(found.sheets))
    for sheet in found.sheets:
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
        return f"{pairs}, too few of a kind to tell whether one is slow"
    return f"none of {pairs} is slower than its peers by more than chance"
