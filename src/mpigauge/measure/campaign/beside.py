# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Several campaigns launch by launch, so that whatever the machine does it does to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpigauge.measure.campaign.interrupt import Interrupt
from mpigauge.measure.campaign.run import Again, Campaign, Ending, finished, given_up
from mpigauge.measure.campaign.state import View
from mpigauge.measure.plan import Plan
from mpigauge.model.columns import Cell
from mpigauge.model.errors import RunError
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.runs.store import RunWriter


@dataclass(frozen=True)
class Task:
    plan: Plan
    mpi: Mpi
    kernels: Kernels
    writer: RunWriter
    again: Again | None = None
    cells: tuple[Cell, ...] = ()
    """Of launches that were made before: it is resumed."""
    spent_s: float = 0.0
    """What those took."""


def run_beside(tasks: Sequence[Task], view: View) -> list[Ending | RunError]:
    """Each round is a launch of each, in an order that turns round: A B, B A, A B, … One that fails
    for good, or knows enough, leaves the others to go on. What became of them, in their order."""
    endings: dict[int, Ending | RunError] = {}
    with Interrupt() as interrupt:
        campaigns = [
            Campaign(
                *(task.plan, task.mpi, task.kernels, task.writer, view, interrupt),
                *(task.cells, task.spent_s),
                again=task.again,
                name=task.mpi.label,
            )
            for task in tasks
        ]
        try:
            order = list(range(len(campaigns)))
            while len(endings) < len(campaigns):
                for number in order:
                    if number not in endings:
                        _advance(number, campaigns[number], endings)
                order.reverse()
        finally:
            view.close()
    return [endings[number] for number in range(len(campaigns))]


def _advance(number: int, campaign: Campaign, endings: dict[int, Ending | RunError]) -> None:
    """One launch, or the end."""
    try:
        if not campaign.step():
            endings[number] = finished(campaign)
    except RunError as error:
        endings[number] = given_up(campaign, error)
