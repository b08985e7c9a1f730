# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All algorithms of collectives. A file in algorithms/ adds those of its family."""

from __future__ import annotations

from mpigauge.model.errors import no_such
from mpigauge.model.registry import Registry
from mpigauge.schedules.algorithm import NODE_RANKS_NEEDED, Algorithm
from mpigauge.schedules.operation import OPERATIONS
from mpigauge.schedules.phase import Phase

ALGORITHMS: Registry[Algorithm] = Registry("algorithm", "mpigauge.schedules.algorithms")


def add(
    operation: str,
    name: str,
    about: str,
    steps_formula: str,
    phases: tuple[Phase, ...],
    on_nodes: bool = False,
) -> None:
    """Adds an algorithm to the registry. `about` follows "written with messages:" and is one
    line; `on_nodes` is true if it depends on how ranks are placed."""
    label = name.replace("_", " ")
    needs = (NODE_RANKS_NEEDED,) if on_nodes else ()
    entry = Algorithm(
        operation, name, label, about, steps_formula, phases, needs, swaps_root=on_nodes
    )
    ALGORITHMS.add(entry.full_name, entry)


def algorithms_of(operation: str) -> list[Algorithm]:
    """The algorithms of a collective, by name. UserError: no algorithm of it is known."""
    if operation not in OPERATIONS:
        raise no_such("collective", operation, OPERATIONS)
    return [each for each in ALGORITHMS.values() if each.operation == operation]


def find(name: str) -> Algorithm:
    """The algorithm of this name, such as `Allreduce/ring`. UserError: it does not exist."""
    return ALGORITHMS.find(name)
