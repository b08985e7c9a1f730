# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The times of a collective by size: of every algorithm, the best one, or a library's choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.model.errors import UserError, no_such
from mpigauge.products.predict.libraries import REDUCED_BYTES, check_library, choice
from mpigauge.products.predict.model import Cost, Machine
from mpigauge.schedules import OPERATIONS as COLLECTIVES
from mpigauge.schedules import Blocks, Messages, Pattern, Shape, Step, algorithms_of, find

if TYPE_CHECKING:
    from collections.abc import Collection

    from mpigauge.products.predict.calibration import Calibration

PING_PONG, _MESSAGE = "PingPong", "message"
CLOSE = 1.3
"""Algorithms whose times differ by less than this factor are too close to call."""
SIZES = tuple(1 << power for power in range(3, 29))
OPERATIONS = (*COLLECTIVES, PING_PONG)


@dataclass(frozen=True)
class Timed:
    """An algorithm at one size."""

    algorithm: str
    cost: Cost


@dataclass(frozen=True)
class AtSize:
    message_bytes: int
    timed: tuple[Timed, ...]
    """All algorithms, the quickest first."""
    chosen: Timed | None
    """The best one, or a library's; None: there is no schedule of the library's choice."""
    choice: str
    """The name of the library's choice; empty: the best is predicted."""

    @property
    def close(self) -> tuple[Timed, ...]:
        """The best, and those too close to it to call."""
        most = CLOSE * self.timed[0].cost.seconds[0]
        return tuple(each for each in self.timed if each.cost.seconds[0] < most)


@dataclass(frozen=True)
class Crossover:
    """The sizes at which another algorithm becomes the best."""

    before: str
    after: str
    first_bytes: int
    """The first size at which `after` is the best."""
    low_bytes: int
    high_bytes: int
    """Sizes from low to high are too close to call between the two."""


@dataclass(frozen=True)
class Prediction:
    operation: str
    machine: Machine
    library: str
    """Empty: the best algorithm is predicted."""
    sizes: tuple[AtSize, ...]

    @property
    def calibration(self) -> Calibration:
        return self.machine.calibration

    @property
    def what(self) -> str:
        return f"the choice of {self.library}" if self.library else "the best algorithm"

    @cached_property
    def assumed(self) -> tuple[str, ...]:
        """The names of what the shown numbers derive from and was not measured."""
        used: set[str] = set()
        for size in self.sizes:
            used |= size.chosen.cost.used if size.chosen else set()
        return assumed_of(self.calibration, used)

    @property
    def crossovers(self) -> tuple[Crossover, ...]:
        result = []
        for place, (one, other) in enumerate(zip(self.sizes, self.sizes[1:], strict=False)):
            before, after = one.timed[0].algorithm, other.timed[0].algorithm
            if before != after:
                low, high = self._band(place, before, after)
                result.append(Crossover(before, after, other.message_bytes, low, high))
        return tuple(result)

    def _band(self, place: int, before: str, after: str) -> tuple[int, int]:
        low, high = place + 1, place
        while low > 0 and self._is_close(low - 1, before, after):
            low -= 1
        while high + 1 < len(self.sizes) and self._is_close(high + 1, before, after):
            high += 1
        return self.sizes[low].message_bytes, self.sizes[high].message_bytes

    def _is_close(self, place: int, before: str, after: str) -> bool:
        times = {each.algorithm: each.cost.seconds[0] for each in self.sizes[place].timed}
        return 1 / CLOSE < times[before] / times[after] < CLOSE


def assumed_of(calibration: Calibration, used: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in calibration.assumed if name in used)


def predict(
    machine: Machine, operation: str, sizes: Sequence[int] = SIZES, library: str = ""
) -> Prediction:
    """The times of all algorithms. UserError: there is no such collective or library."""
    if library:
        check_library(library, operation)
    if machine.ranks < 2:
        raise UserError(f"{operation} takes two ranks or more")
    names = names_of(operation)
    if operation == "Barrier":
        sizes = (0,)
    at_sizes = [_at_size(machine, operation, names, size, library) for size in sizes]
    return Prediction(operation, machine, library, tuple(at_sizes))


def check_operation(word: str) -> str:
    """The collective of this name, however its letters are. UserError: it is not predicted."""
    for operation in OPERATIONS:
        if operation.lower() == word.lower():
            return operation
    raise no_such("prediction of", word, OPERATIONS)


def cost_of(machine: Machine, algorithm: str, operation: str, message_bytes: int) -> Cost:
    """The time of one algorithm at one size. UserError: there is no such algorithm."""
    return machine.cost(steps_of(machine, algorithm, operation, message_bytes))


def steps_of(
    machine: Machine, algorithm: str, operation: str, message_bytes: int
) -> Iterator[Step]:
    """The schedule of an algorithm. PingPong is one message, half of a round trip."""
    if operation == PING_PONG:
        return iter([_one_message(machine, message_bytes)])
    return find(f"{operation}/{algorithm}").steps(
        shape_of(machine.nodes, machine.ppn, operation, message_bytes)
    )


def shape_of(nodes: int, ppn: int, operation: str, message_bytes: int) -> Shape:
    reduces = COLLECTIVES[operation].reduces
    element = REDUCED_BYTES if reduces and message_bytes % REDUCED_BYTES == 0 else 1
    return Shape(nodes * ppn, message_bytes, element_bytes=element, ranks_per_node=ppn)


def names_of(operation: str) -> list[str]:
    """The algorithms that are predicted."""
    if operation == PING_PONG:
        return [_MESSAGE]
    return [each.name for each in algorithms_of(operation)]


def _at_size(
    machine: Machine, operation: str, names: Sequence[str], size: int, library: str
) -> AtSize:
    every = [Timed(name, cost_of(machine, name, operation, size)) for name in names]
    every.sort(key=lambda each: each.cost.seconds[0])
    chosen, name = every[0], ""
    if library:
        name = choice(library, operation, machine.ranks, size)
        return AtSize(size, tuple(every), _named(every, name), name)
    return AtSize(size, tuple(every), chosen, name)


def _named(every: Sequence[Timed], name: str) -> Timed | None:
    return next((each for each in every if each.algorithm == name), None)


def _one_message(machine: Machine, message_bytes: int) -> Step:
    """A step of one message between two nodes, or within the one there is."""
    source, target = np.array([0]), np.array([machine.ppn if machine.nodes > 1 else 1])
    nothing, length = np.array([0]), np.array([message_bytes])

    def blocks(number: int) -> Blocks:
        del number
        return Blocks(nothing, source, target, nothing, nothing, length)

    pattern = Pattern(lambda: Messages(source, target, 1))
    return Step(pattern, message_bytes, 1, 1, 1, False, blocks)
