# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A collective that is slower than others that together do the same, or than an algorithm of suite
ALG.

Self-consistent guidelines (J. L. Träff, W. Gropp, R. Thakur, IEEE TPDS 21 (2010) 698): a library
could always do it that way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.former_names import SUITE
from mpigauge.products.explain.needs import REPEATED
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.models.bounds import network
from mpigauge.result.models.breaks import algorithms
from mpigauge.result.nature import COLLECTIVE
from mpigauge.result.stats.remarks import name_cells
from mpigauge.result.words import factor, settings, size, time

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView

LEAST_RATIO = 1.25
WAYS: Mapping[str, tuple[tuple[str, bool], ...]] = {
    "Allreduce": (("Reduce", False), ("Bcast", False)),
    "Reduce": (("Allreduce", False),),
    "Gather": (("Allgather", False),),
    "Allgather": (("Gather", False), ("Bcast", True)),
    "Scatter": (("Bcast", True),),
}
"""Each with what replaces it, and whether that has to move as much for every rank: sizes of these
tables count bytes for each rank where ranks have data of their own."""
_Key = tuple[object, ...]
_OF_EACH = ("suite", "benchmark", "message_bytes", "datatype", "op", "root_shift", "sync")
"""Columns in which collectives that are compared may differ."""
_ALIKE = tuple(name for name in KEY_COLUMNS if name not in _OF_EACH)


@cause(
    "composed",
    "a collective that is slower than others, or messages, that do the same",
    of=COLLECTIVE,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    ours = [row for row in view.rows if row.cell.suite == "MPI1" and row.message_bytes > 0]
    table = {_key(row, row.cell.benchmark, row.message_bytes): row for row in ours}
    made_of_messages = _by_algorithms((view.whole or view).rows)
    slow: dict[str, list[tuple[Row, list[Row]]]] = defaultdict(list)
    for row in ours:
        name = row.cell.benchmark
        parts = _others(table, row, WAYS.get(name, ()))
        algorithm = made_of_messages.get(_key(row, name, row.message_bytes), [])
        ways = [way for way in (parts, algorithm) if way and _is_slower(row, way)]
        if ways:
            slow[name].append((row, max(ways, key=partial(_ratio, row))))
    for name, of_name in slow.items():
        yield _finding(view, name, of_name)


def _by_algorithms(rows: Iterable[Row]) -> dict[_Key, list[Row]]:
    """The fastest algorithm of suite ALG for each collective and size."""
    fastest: dict[_Key, list[Row]] = {}
    for row in rows:
        if row.cell.suite == SUITE:
            key = _key(row, row.cell.benchmark.partition("/")[0], row.message_bytes)
            if key not in fastest or row.time.value < fastest[key][0].time.value:
                fastest[key] = [row]
    return fastest


def _others(table: Mapping[_Key, Row], row: Row, parts: tuple[tuple[str, bool], ...]) -> list[Row]:
    """The rows that replace it; none where one of them was not measured."""
    others = []
    for part, of_all in parts:
        message_bytes = row.message_bytes
        if of_all:
            message_bytes *= row.ranks
        other = table.get(_key(row, part, message_bytes))
        if other is None:
            return []
        others.append(other)
    return others


_alike = attrgetter(*_ALIKE)


def _key(row: Row, benchmark: str, message_bytes: int) -> _Key:
    return benchmark, message_bytes, *_alike(row.cell)


def _is_slower(row: Row, others: list[Row]) -> bool:
    """Beyond all errors; intervals that are not known do not stand against it."""
    apart = not row.time.low <= sum(each.time.high for each in others)
    return apart and _ratio(row, others) >= LEAST_RATIO


def _ratio(row: Row, others: list[Row]) -> float:
    return row.time.value / sum(each.time.value for each in others)


def _finding(view: RunView, name: str, slow: list[tuple[Row, list[Row]]]) -> Finding:
    worst, others = max(slow, key=lambda pair: _ratio(*pair))
    way = " and ".join(row.benchmark for row in others)
    times = ", ".join(f"{row.cell_name} {time(row)}" for row in others)
    knobs = settings(algorithms(view, worst))
    named, rows, lost = [], [], []
    for row, replacing in slow:
        named.append(row)
        rows += [row, *replacing]
        lost.append(1 - 1 / _ratio(row, replacing))
    return Finding(
        what=f"{name_cells(named)}: up to {factor(_ratio(worst, others))} "
        f"the time of {way}, with which the same could be done",
        likely="the algorithm that the MPI chooses is not the one for this number of ranks "
        "and size",
        evidence=(f"{name} {size(worst)} takes {time(worst)}; {times}",),
        attempts=tuple(filter(None, (knobs, *_model(view, name)))),
        rows=tuple(rows),
        cost=view.cost(lost),
    )


def _model(view: RunView, name: str) -> list[str]:
    """The bound is made of the PingPong of the same run."""
    if network((view.whole or view).rows) is None:
        return []
    return [
        f"`mpigauge model {view.run_word} {name}` compares it with the least time of any algorithm"
    ]
