# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The rule that ends the launches of a plan, and narrows later ones to the rows that need them.

Intervals are checked after the numbers of launches for which they are made (LOOKS). At a check
launches end if every row is precise, or if more of them would make hardly any row precise. If the
machine is known from earlier runs, the launches up to the next check measure only the rows that
they would make precise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.measuring.campaign.budget import CELL_S
from mpigauge.measuring.plan.narrowed import narrowed_part
from mpigauge.result.stats.launches import EMPTY, PRECISE, TIME
from mpigauge.result.stats.order import LOOKS

if TYPE_CHECKING:
    from mpigauge.measuring.campaign.state import CampaignState
    from mpigauge.measuring.plan import Plan, PlanPart
    from mpigauge.model.record import Key


class StopRule:
    """Decides after each round of launches whether another follows."""

    def __init__(self, plan: Plan, state: CampaignState) -> None:
        self._plan, self._state = plan, state
        self._may_end_early = plan.ends_early and not state.name
        self._keys: frozenset[Key] | None = None
        """The cells that launches measure until the next check; None: all."""
        self.reason = ""
        """The reason why launches end (result/stats/launches.py); empty: they go on, or their
        number or the time ends them."""

    def ends_after(self, rounds: int) -> bool:
        self.reason = self._reason(rounds)
        return bool(self.reason)

    def _reason(self, rounds: int) -> str:
        results = self._state.results
        if rounds and self._all_worked() and not results.has_numbers:
            return EMPTY
        if rounds < self._plan.least_rounds:
            return ""
        if self._is_all_time_used():
            return TIME
        if rounds not in LOOKS:
            return ""
        if results.converged():
            return PRECISE
        if not self._may_end_early:
            return ""
        outlook = results.look_ahead(self._plan.most_rounds - rounds, self._keys)
        self._keys = outlook.keys
        return outlook.stop

    def narrow(self, part: PlanPart) -> PlanPart | None:
        """The part with the cells that need more launches; None: it has none."""
        if self._keys is None or part.foreign:
            return part
        return narrowed_part(self._plan, part, self._state.results.cells(), self._keys)

    def _all_worked(self) -> bool:
        outcomes = self._state.outcomes
        return bool(outcomes) and not any(outcome.reason for outcome in outcomes)

    def _is_all_time_used(self) -> bool:
        """True if cells used all of their time, although each launch made hardly more than the
        minimum of calls."""
        if self._plan.seconds is not None:
            return False
        measured = sum(outcome.measuring_s for outcome in self._state.outcomes)
        return measured >= CELL_S and measured >= CELL_S * len(self._state.results.rows())
