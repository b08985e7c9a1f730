# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pairs launches of two sides that alternated, so that they met the same state of the machine."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL

Start = tuple[str, int]
"""The start time of a launch, as text that sorts by time ("": unknown), and its number."""
LEAST_SHARE = 3 / 4
"""The least share of the launches of the larger side that must have a partner."""


def in_turn(first: Sequence[Start], second: Sequence[Start]) -> list[tuple[int, int]]:
    """Places of launches that followed each other, as in A B B A; none where the two were not
    measured in turn: then one launch or none has a neighbour of the other side."""
    if not all(time for time, _ in (*first, *second)):
        return []
    sides = [(start, 0, place) for place, start in enumerate(first)]
    sides += [(start, 1, place) for place, start in enumerate(second)]
    pairs = _neighbours([(side, place) for _, side, place in sorted(sides)])
    least = max(LEAST_FOR_INTERVAL, LEAST_SHARE * max(len(first), len(second)))
    if len(pairs) >= least:
        return pairs
    return []


def _neighbours(order: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Each two that follow each other and are of both sides, from the beginning on."""
    pairs, at = [], 0
    while at + 1 < len(order):
        (side, place), (next_side, next_place) = order[at], order[at + 1]
        if side == next_side:
            at += 1
            continue
        pairs.append((next_place, place) if side else (place, next_place))
        at += 2
    return pairs
