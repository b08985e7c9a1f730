# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rows under headings: which rows belong in one table, and which columns its heading names."""

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
"""Columns that a title already expresses in words, as the card of the benchmark has them."""
_VARIANTS = tuple(name for name in OF_TABLES if name not in _OF_TITLES)


@dataclass(frozen=True)
class RowTable:
    """Rows under one heading: one benchmark, on one number of ranks, in one variant."""

    card: Card
    rows: tuple[Row, ...]
    skips: tuple[Skip, ...]
    ranks: int
    groups: int
    variant: Mapping[str, Any]
    """The columns without their usual value, which the heading names."""


def row_tables(rows: Iterable[Row], cards: Cards, skips: Iterable[Skip] = ()) -> list[RowTable]:
    """The tables of rows, in the order in which their headings first appear."""
    tables: dict[tuple[Any, ...], tuple[list[Row], list[Skip]]] = {}
    for row in rows:
        key = tuple(getattr(row.cell, name) for name in OF_TABLES)
        tables.setdefault(key, ([], []))[0].append(row)
    for skip in skips:
        key = tuple(skip.key.get(name, USUAL.get(name)) for name in OF_TABLES)
        tables.setdefault(key, ([], []))[1].append(skip)
    return [
        _table(dict(zip(OF_TABLES, key, strict=True)), cards, *of) for key, of in tables.items()
    ]


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
