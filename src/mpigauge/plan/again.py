# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of a run once more, for some of its cells only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.cards import benchmark_word

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.plan.plan import Part, Plan


def narrowed(plan: Plan, cells: Iterable[Cell]) -> Plan | None:
    """Parts that measure these cells and little else, with other random orders; None: none does.

    Benchmarks of a part that want the same sizes on the same ranks stay together.
    """
    wanted = list(cells)
    parts = tuple(each for part in plan.parts for each in _parts(part, wanted))
    return replace(plan, parts=parts, seed=plan.seed + 1) if parts else None


def _parts(part: Part, cells: Iterable[Cell]) -> Iterator[Part]:
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        name = benchmark_word(cell.suite, cell.benchmark)
        if name in part.benchmarks and _belongs(cell, part):
            found.setdefault(name, []).append(cell)
    alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
    for name, of in found.items():
        sizes = sorted({cell.message_bytes for cell in of if cell.message_bytes >= 0})
        ranks = sorted({cell.ranks for cell in of})
        alike.setdefault((tuple(sizes), tuple(ranks)), []).append(name)
    for (sizes_of, ranks_of), names in alike.items():
        groups = ranks_of if part.ranks else ()
        yield replace(part, benchmarks=tuple(names), sizes=sizes_of or None, ranks=groups)


def _belongs(cell: Cell, part: Part) -> bool:
    """Whether this part has measured it: what only the campaign knows of a cell is the same."""
    if cell.placement in part.places.values():
        return True
    return all(getattr(cell, name) == value for name, value in part.known.items())
