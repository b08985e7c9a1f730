# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The simple loops by several compilers in turn, all in each launch, so that they use the same
memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.names import COMPILER, OURS

if TYPE_CHECKING:
    from mpigauge.measuring.plan.plan import PlanPart
    from mpigauge.model.cards import Cards
    from mpigauge.model.libraries import Compiler


def with_compilers(
    parts: Sequence[PlanPart], compilers: Sequence[Compiler], cards: Cards
) -> tuple[PlanPart, ...]:
    """Parts whose simple loops are those of all compilers; with one compiler, also those of the
    kernels."""
    words = [each.word for each in compilers]
    names = ",".join([OURS, *words] if len(words) == 1 else words)
    return tuple(
        replace(part, suite_options={**part.suite_options, COMPILER: names})
        if names and _has_loops(part, cards)
        else part
        for part in parts
    )


def _has_loops(part: PlanPart, cards: Cards) -> bool:
    own = (cards.get(name) for name in part.benchmarks if not part.foreign)
    return any(card is not None and COMPILER in card.options for card in own)
