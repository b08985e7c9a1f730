# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The noise that launches sample before they measure, for those that need not sample it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.measuring.plan.noise import BEFORE, detour_words, may_be_last
from mpigauge.model.record import Noise, Record

if TYPE_CHECKING:
    from mpigauge.measuring.campaign.results import Results
    from mpigauge.measuring.plan import Plan


class NoiseSamples:
    def __init__(self, plan: Plan, results: Results) -> None:
        self._plan, self._results = plan, results
        self._samples: dict[int, dict[int, list[Noise]]] = {}
        """Samples by part and launch; an entry for each rank."""
        self._launches: dict[int, int] = {}
        """The last launch of each part."""

    def learn(self, record: Record) -> None:
        """Keeps the noise that a rank sampled before it measured."""
        if isinstance(record, Noise) and record.when == BEFORE:
            part = self._samples.setdefault(self._plan.part_number(record.launch), {})
            part.setdefault(record.launch, []).append(record)

    def end_launch(self, number: int) -> None:
        self._launches[self._plan.part_number(number)] = number

    def words_for(self, number: int, is_last: bool) -> str:
        """Returns an earlier sample for this launch in the kernels' words.

        Empty if the launch is to sample noise itself: the first of its part, one that may be the
        last, and one after a launch whose times differ from those before it.
        """
        part = self._plan.part_number(number)
        samples = self._samples.get(part)
        if not samples or is_last or may_be_last(self._plan, number):
            return ""
        if self._results.has_shifted(self._launches[part]):
            return ""
        return detour_words(samples[max(samples)])
