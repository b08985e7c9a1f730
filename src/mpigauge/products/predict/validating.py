# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Predicted against measured times of a stored run, wherever both exist.

The typical factor is exp of the mean of |ln(predicted / measured)|: too low by half counts as much
as too high by two. Rows of suite ALG are compared with their own algorithm, those of a library's
collective with the best one, or with the library's choice.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.model.cards import FIRST_SUITE
from mpigauge.model.errors import UserError
from mpigauge.model.units import many
from mpigauge.products.predict.calibrating import is_usual, machine_of, measured_view
from mpigauge.products.predict.calibration import Validation
from mpigauge.products.predict.libraries import has_rules
from mpigauge.products.predict.model import Machine
from mpigauge.products.predict.prediction import (
    OPERATIONS,
    PING_PONG,
    cost_of,
    names_of,
    predict,
)
from mpigauge.result.run_view import RunView

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.row import Row
    from mpigauge.products.predict.calibration import Calibration
    from mpigauge.runs.store import Run

BY_HAND = "ALG"
"""The suite whose benchmarks are algorithms: Allreduce/ring."""
RANGES = ((0, 4096), (4097, 1 << 18), ((1 << 18) + 1, 1 << 62))
"""Sizes whose factors are summed up together: small, medium and large ones."""


@dataclass(frozen=True)
class Compared:
    """A predicted and a measured time."""

    collective: str
    ranks: int
    nodes: int
    message_bytes: int
    way: str
    algorithm: str
    predicted_s: float
    measured_s: float

    @property
    def ratio(self) -> float:
        return self.predicted_s / self.measured_s


@dataclass(frozen=True)
class Validated:
    compared: tuple[Compared, ...]
    validations: tuple[Validation, ...]
    left_out: tuple[str, ...]
    """Rows that were measured and cannot be predicted, with the reason."""


def validated(
    calibration: Calibration,
    run: Run,
    library: str = "",
    ppn: int | None = None,
) -> Validated:
    """UserError: nothing of the run can be predicted, or it is of another machine."""
    view = measured_view(run)
    machine = machine_of(view)
    if machine and calibration.machine and machine != calibration.machine:
        raise UserError(
            f"{view.run_word} is of {machine}, and {calibration.name} of "
            f"{calibration.machine}; validate by a run of the same machine"
        )
    compared: list[Compared] = []
    left_out: dict[str, None] = {}
    machines: dict[tuple[int, int], Machine] = {}
    for row in view.rows:
        operation, algorithm = _named(row)
        if not operation or not is_usual(row.cell) or row.latency.value <= 0:
            continue
        placed = _nodes_of(view, row, ppn)
        if placed is None:
            left_out[_unplaced(row)] = None
            continue
        is_chosen = library and not algorithm and operation != PING_PONG
        if is_chosen and not has_rules(library, operation):
            left_out[f"{operation}: the rules of {library} for it are not known"] = None
            continue
        if row.message_bytes == 0 and operation not in ("Barrier", PING_PONG):
            continue
        if placed not in machines:
            machines[placed] = Machine(calibration, *placed)
        compared.append(_compared(machines[placed], row, operation, algorithm, library))
    if not compared:
        why = "; ".join(left_out) or f"it has none of {', '.join(OPERATIONS)}"
        raise UserError(f"{view.run_word}: nothing can be predicted: {why}")
    summed = tuple(_summed(view.run_word, compared))
    return Validated(tuple(compared), summed, tuple(left_out))


def with_validations(calibration: Calibration, new: Sequence[Validation]) -> Calibration:
    """Returns the calibration with these; those of a run replace its earlier ones."""
    keys = {(each.run, each.way) for each in new}
    kept = [each for each in calibration.validations if (each.run, each.way) not in keys]
    return replace(calibration, validations=(*kept, *new))


def typical_factor(ratios: Iterable[float]) -> float:
    logs = [abs(math.log(ratio)) for ratio in ratios]
    return math.exp(sum(logs) / len(logs))


def _unplaced(row: Row) -> str:
    return (
        f"{row.benchmark} on {many(row.ranks, 'rank')}: how they were spread over nodes is not "
        "recorded, or was uneven; --ppn N gives it"
    )


def _named(row: Row) -> tuple[str, str]:
    """The collective, and the algorithm where it is one; empty: it cannot be predicted."""
    name = row.cell.benchmark
    if row.cell.suite == FIRST_SUITE and name in OPERATIONS:
        return name, ""
    operation, _, algorithm = name.partition("/")
    if row.cell.suite == BY_HAND and operation in OPERATIONS and algorithm in names_of(operation):
        return operation, algorithm
    return "", ""


def _nodes_of(view: RunView, row: Row, ppn: int | None) -> tuple[int, int] | None:
    """Nodes, and ranks on each of them; None: they are not known."""
    if row.cell.groups > 1:
        return None
    hosts: dict[str, int] = defaultdict(int)
    for rank in view.ranks_of(row):
        hosts[rank.host] += 1
    if hosts:
        counts = set(hosts.values())
        return (len(hosts), counts.pop()) if len(counts) == 1 else None
    words = row.cell.placement.split(":")
    if row.cell.placement == "hosts":
        ppn = 1
    elif words[0] == "ppr" and words[-1] == "node" and words[1].isdigit():
        ppn = int(words[1])
    if not ppn or row.ranks % min(ppn, row.ranks):
        return None
    return max(row.ranks // ppn, 1), min(ppn, row.ranks)


def _compared(machine: Machine, row: Row, operation: str, algorithm: str, library: str) -> Compared:
    size = max(row.message_bytes, 0)
    way = algorithm or ("message" if operation == PING_PONG else "best algorithm")
    if algorithm or operation == PING_PONG:
        cost = cost_of(machine, algorithm, operation, size)
        seconds = cost.seconds[0]
    else:
        (at,) = predict(machine, operation, (size,), library).sizes
        way = f"choice of {library}" if library else way
        algorithm = at.chosen.algorithm if at.chosen else at.choice
        seconds = at.chosen.cost.seconds[0] if at.chosen else math.nan
    facts = (operation, machine.ranks, machine.nodes, size, way, algorithm)
    return Compared(*facts, seconds, row.latency.value)


def _summed(run: str, compared: Sequence[Compared]) -> Iterable[Validation]:
    """One of all sizes, and one of each range, of each collective on so many ranks."""
    by_kind: dict[tuple[str, int, int, str], list[Compared]] = defaultdict(list)
    for each in compared:
        if not math.isnan(each.predicted_s):
            by_kind[each.collective, each.ranks, each.nodes, each.way].append(each)
    for (collective, ranks, nodes, way), of in by_kind.items():
        parts = [of]
        ranges = [[e for e in of if low <= e.message_bytes <= high] for low, high in RANGES]
        parts += [part for part in ranges if part and len(part) < len(of)]
        for part in parts:
            sizes = [each.message_bytes for each in part]
            typical = typical_factor(each.ratio for each in part)
            worst = math.exp(max(abs(math.log(each.ratio)) for each in part))
            extent = min(sizes), max(sizes), len(part)
            yield Validation(run, collective, ranks, nodes, *extent, typical, worst, way)
