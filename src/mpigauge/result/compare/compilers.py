# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The simple loops as several compilers made them, against those of the first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.names import COMPILER, OURS
from mpigauge.result.compare.compare import compare
from mpigauge.result.compare.comparison import Comparison
from mpigauge.result.compare.match.items import items
from mpigauge.result.compare.match.side import Side
from mpigauge.result.node.threads import settings_of_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.model.row import Row


def compilers(
    rows: Sequence[Row], starts: Mapping[int, str], commands: Mapping[str, str]
) -> Comparison | None:
    """Compares the loops of all compilers; None: fewer than two were measured. `commands`: the
    compilers' command lines, by their names in rows, in the order of the command line."""
    own = {row.cell.benchmark for row in rows if COMPILER in settings_of_row(row)}
    names = {"": OURS, **commands}
    sides = [
        Side(names[name], items(map(_without, of)), starts)
        for name in names
        if (of := [row for row in rows if row.cell.benchmark in own and _by(row) == name])
    ]
    if own and len(sides) > 1:
        return compare(sides, varied=COMPILER, curves=False)
    return None


def accounts(rows: Iterable[Row], commands: Mapping[str, str]) -> dict[str, str]:
    """Returns each compiler's version and flags, keyed by its command line."""
    versions = {}
    for row in rows:
        if COMPILER in settings_of_row(row):
            versions[_by(row)] = row.cell.variant.split(";")[0]
    return {called: versions[name] for name, called in commands.items() if name in versions}


def _by(row: Row) -> str:
    return settings_of_row(row).get(COMPILER, "")


def _without(row: Row) -> Row:
    """Returns the row without the compiler among its settings."""
    kept = (word for word in row.cell.settings.split() if not word.startswith(f"{COMPILER}="))
    return replace(row, cell=replace(row.cell, settings=" ".join(kept)))
