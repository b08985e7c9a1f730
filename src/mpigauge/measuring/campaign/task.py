# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The task of a campaign: what it measures, with which tools, and where it stores results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mpigauge.measuring.campaign.results import Results
    from mpigauge.measuring.plan import Plan, PlanPart
    from mpigauge.model.columns import Cell
    from mpigauge.model.mpi import Kernels, Mpi
    from mpigauge.runs.store import RunWriter


class Remeasure(Protocol):
    """Chooses what is measured once more after everything else."""

    def parts(self, results: Results) -> Sequence[PlanPart]:
        """Parts for results that stand out, one launch each."""


@dataclass(frozen=True)
class CampaignTask:
    plan: Plan
    mpi: Mpi
    kernels: Kernels | None
    """The kernels of this MPI; None: only programs of the user are launched."""
    writer: RunWriter
    remeasure: Remeasure | None = None
    """The choice of the parts to measure once more; None: there is none."""
    cells: tuple[Cell, ...] = ()
    """The cells of launches that were made before, if the run is resumed."""
    spent_s: float = 0.0
    """The time of those launches, in seconds."""
