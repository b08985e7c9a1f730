# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rows under headings: which rows belong in one table, and what its heading has to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge.model.cards import FIRST_SUITE
from mpigauge.model.column_facts import OF_TABLES, USUAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.model.cards import Card, Cards
    from mpigauge.model.record import Skip
    from mpigauge.model.row import Row

_OF_TITLES = ("suite", "benchmark", "ranks", "groups", "datatype", "op", "inflight", "sync")
"""Columns of which a title speaks in its own words, as the card of the benchmark has it."""
_VARIANTS = tuple(name for name in OF_TABLES if name not in _OF_TITLES)


@dataclass(frozen=True)
class RowTable:
    """Rows that belong under one heading: one benchmark, on so many ranks, in one variant."""

    card: Card
    rows: tuple[Row, ...]
    skips: tuple[Skip, ...]
    ranks: int
    groups: int
    variant: Mapping[str, Any]
    """The columns that a heading has to name because they are not as usual."""


def row_tables(rows: Iterable[Row], cards: Cards, skips: Iterable[Skip] = ()) -> list[RowTable]:
    """The rows under their headings, in the order in which these first appear."""
    found: dict[tuple[Any, ...], tuple[list[Row], list[Skip]]] = {}
    for row in rows:
        key = tuple(getattr(row.cell, name) for name in OF_TABLES)
        found.setdefault(key, ([], []))[0].append(row)
    for skip in skips:
        key = tuple(skip.key.get(name, USUAL.get(name)) for name in OF_TABLES)
        found.setdefault(key, ([], []))[1].append(skip)
    return [_table(dict(zip(OF_TABLES, key, strict=True)), cards, *of) for key, of in found.items()]


def _table(
    key: Mapping[str, Any], cards: Cards, rows: Sequence[Row], skips: Sequence[Skip]
) -> RowTable:
    unusual = {name: key[name] for name in _VARIANTS if key[name] != USUAL[name]}
    return RowTable(
        card=cards.find(f"{key['suite'] or FIRST_SUITE}:{key['benchmark']}"),
        rows=tuple(rows),
        skips=tuple(skips),
        ranks=int(key["ranks"] or 0),
        groups=int(key["groups"] or 1),
        variant=unusual,
    )
