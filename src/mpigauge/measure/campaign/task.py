# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a campaign is to measure, with what, and where to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mpigauge.measure.campaign.results import Results
    from mpigauge.measure.plan import Plan, PlanPart
    from mpigauge.model.columns import Cell
    from mpigauge.model.mpi import Kernels, Mpi
    from mpigauge.runs.store import RunWriter


class Remeasure(Protocol):
    """Chooses what is measured once more when everything is measured."""

    def parts(self, results: Results) -> Sequence[PlanPart]:
        """What stands out in these results, a launch each."""


@dataclass(frozen=True)
class CampaignTask:
    plan: Plan
    mpi: Mpi
    kernels: Kernels | None
    """None: only programs of the user are launched."""
    writer: RunWriter
    remeasure: Remeasure | None = None
    """None: nothing is measured once more."""
    cells: tuple[Cell, ...] = ()
    """Of launches that were made before: it is resumed."""
    spent_s: float = 0.0
    """The time that those launches took."""
