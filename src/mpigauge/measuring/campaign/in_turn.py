# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs one campaign, or several in alternating launches, so that disturbances affect all."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.measuring.campaign.backlog import Backlog, Task
from mpigauge.measuring.campaign.run import Campaign, Ending, finished, given_up
from mpigauge.measuring.campaign.state import View
from mpigauge.measuring.campaign.task import CampaignTask
from mpigauge.measuring.jobs.interrupt import Interrupt
from mpigauge.model.errors import RunError


def run_in_turn(
    tasks: Sequence[CampaignTask], view: View, meanwhile: Task = lambda: None
) -> list[Ending | RunError]:
    """Makes the missing launches and returns how each task ended, in their order.

    The folder of each task holds its ending, whatever happens. `meanwhile` runs while the first
    launch starts. Each round is a launch of each task, in alternating order: A B, B A, A B, … A
    task that fails for good, or is precise enough, ends while the others continue.
    """
    several = len(tasks) > 1
    endings: dict[int, Ending | RunError] = {}
    with Interrupt() as interrupt:
        backlog = Backlog()
        backlog.add(meanwhile)
        names = [task.mpi.label if several else "" for task in tasks]
        campaigns = [
            Campaign(task, view, interrupt, name, backlog)
            for task, name in zip(tasks, names, strict=True)
        ]
        try:
            order = list(range(len(campaigns)))
            while len(endings) < len(campaigns):
                for number in order:
                    if number not in endings:
                        _advance(number, campaigns[number], endings)
                order.reverse()
        finally:
            backlog.work()
            view.close()
    return [endings[number] for number in range(len(campaigns))]


def _advance(number: int, campaign: Campaign, endings: dict[int, Ending | RunError]) -> None:
    """Makes one launch, or ends the campaign."""
    try:
        if not campaign.step():
            endings[number] = finished(campaign)
    except RunError as error:
        endings[number] = given_up(campaign, error)
