# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plans that measure only some of a run's numbers again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.meeting import same_meeting
from mpigauge.model.cards import benchmark_word
from mpigauge.model.columns import Cell
from mpigauge.model.grouping import grouped
from mpigauge.model.record import Figure
from mpigauge.model.suite_options import THREAD_LEVEL

if TYPE_CHECKING:
    from mpigauge.measuring.plan.plan import Plan, PlanPart
    from mpigauge.model.record import Key


def narrowed(plan: Plan, numbers: Iterable[Cell | Figure]) -> Plan | None:
    """Parts that measure these numbers and little else, with other random orders; None: none does.

    Benchmarks of a part that need the same sizes on the same ranks stay together. Programs of the
    user are run unchanged.
    """
    selection = list(numbers)
    levels = {_level(part) for part in plan.parts}
    parts: list[PlanPart] = []
    for part in plan.parts:
        parts += _parts(part, selection, levels)
    if not parts:
        return None
    sync = same_meeting(each for each in selection if isinstance(each, Cell))
    return replace(plan, parts=tuple(parts), seed=plan.seed + 1, sync=sync or plan.sync)


def narrowed_part(
    plan: Plan, part: PlanPart, cells: Iterable[Cell], keys: Collection[Key]
) -> PlanPart | None:
    """The part with the benchmarks of these keys, and with their sizes and numbers of ranks if all
    of these benchmarks have them; None: the part measures none. `cells` are all measured cells."""
    levels = {_level(each) for each in plan.parts}
    own = [cell for cell in cells if _belongs(cell, part) and _has_level(cell, part, levels)]
    needed = [cell for cell in own if cell.key in keys]
    if not needed:
        return None
    words = {_word(cell) for cell in needed}
    names = tuple(name for name in part.benchmarks if name in words)
    (sizes, ranks), common = _sizes_and_ranks(needed), _common_sizes_and_ranks(own, words)
    return replace(
        part,
        benchmarks=names,
        sizes=sizes if sizes and common[0].issuperset(sizes) else part.sizes,
        ranks=ranks if part.ranks and common[1].issuperset(ranks) else part.ranks,
    )


def _common_sizes_and_ranks(
    cells: Iterable[Cell], words: Collection[str]
) -> tuple[set[int], set[int]]:
    """The sizes and the numbers of ranks at which each of these benchmarks was measured, leaving
    out benchmarks without sizes."""
    of_benchmarks = grouped((cell for cell in cells if _word(cell) in words), _word)
    measured = [_sizes_and_ranks(of) for of in of_benchmarks.values()]
    with_sizes = [set(sizes) for sizes, _ in measured if sizes]
    every_rank = [set(ranks) for _, ranks in measured]
    return set.intersection(*with_sizes) if with_sizes else set(), set.intersection(*every_rank)


def _parts(
    part: PlanPart, numbers: Iterable[Cell | Figure], levels: Collection[str]
) -> Iterator[PlanPart]:
    own = [each for each in numbers if _belongs(each, part) and _has_level(each, part, levels)]
    if part.foreign:
        if any(isinstance(each, Figure) for each in own):
            yield part
        return
    cells = [each for each in own if isinstance(each, Cell)]
    alike = grouped(grouped(cells, _word).items(), lambda named: _sizes_and_ranks(named[1]))
    for (sizes, ranks), of in alike.items():
        names = tuple(name for name, _ in of)
        groups = ranks if part.ranks else ()
        yield replace(part, benchmarks=names, sizes=sizes or None, ranks=groups)


def _sizes_and_ranks(cells: Iterable[Cell]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes and numbers of ranks of the cells, each once and ascending; a cell without message
    has no size."""
    sizes, ranks = set(), set()
    for cell in cells:
        ranks.add(cell.ranks)
        if cell.message_bytes >= 0:
            sizes.add(cell.message_bytes)
    return tuple(sorted(sizes)), tuple(sorted(ranks))


def _belongs(number: Cell | Figure, part: PlanPart) -> bool:
    """True if this part measured the number: it has the part's benchmark, placement and arm."""
    if _word(number) not in part.benchmarks:
        return False
    columns = dict(part.extra_columns)
    if number.placement in part.places.values():
        del columns["placement"]
    return all(getattr(number, name) == value for name, value in columns.items())


def _has_level(number: Cell | Figure, part: PlanPart, levels: Collection[str]) -> bool:
    """True if this part may have measured the number at its thread level: a library may provide a
    level that no part requests."""
    if not isinstance(number, Cell) or number.thread_level not in levels:
        return True
    return number.thread_level == _level(part)


def _level(part: PlanPart) -> str:
    return part.suite_options.get(THREAD_LEVEL, "")


def _word(number: Cell | Figure) -> str:
    if isinstance(number, Cell):
        return benchmark_word(number.suite, number.benchmark)
    return number.benchmark
