# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The simple loops as several compilers made them, against those of the first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.names import COMPILER, OURS
from mpigauge.result.compare.compare import compare
from mpigauge.result.compare.comparison import Comparison
from mpigauge.result.compare.items import items
from mpigauge.result.compare.side import Side
from mpigauge.result.node.threads import settings_of_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.model.row import Row


def compilers(
    rows: Sequence[Row], starts: Mapping[int, str], said: Mapping[str, str]
) -> Comparison | None:
    """`said`: what compilers were called, by their names in rows, in the order in which they were
    named. None: there are no two whose loops were measured."""
    own = {row.cell.benchmark for row in rows if COMPILER in settings_of_row(row)}
    names = {"": OURS, **said}
    sides = [
        Side(names[name], items(map(_without, of)), starts)
        for name in names
        if (of := [row for row in rows if row.cell.benchmark in own and _by(row) == name])
    ]
    if own and len(sides) > 1:
        return compare(sides, varied=COMPILER, curves=False)
    return None


def accounts(rows: Iterable[Row], said: Mapping[str, str]) -> dict[str, str]:
    """How each compiler names itself, and its flags: by what it was called."""
    found = {}
    for row in rows:
        if COMPILER in settings_of_row(row):
            found[_by(row)] = row.cell.variant.split(";")[0]
    return {called: found[name] for name, called in said.items() if name in found}


def _by(row: Row) -> str:
    return settings_of_row(row).get(COMPILER, "")


def _without(row: Row) -> Row:
    """As if one compiler had made all loops."""
    kept = (word for word in row.cell.settings.split() if not word.startswith(f"{COMPILER}="))
    return replace(row, cell=replace(row.cell, settings=" ".join(kept)))
