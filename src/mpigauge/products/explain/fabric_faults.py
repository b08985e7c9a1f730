# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Faults that hosts show while all communicate at once, for the causes that are about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.result.fabric.blame_words import confidence, numbers_of, subject
from mpigauge.result.finding import Finding

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


def faults(
    view: RunView, kinds: tuple[str, ...], likely: str, attempts: tuple[str, ...]
) -> Iterator[Finding]:
    """The faults of these kinds as findings."""
    fabric = view.fabric
    if fabric is None or not fabric.pairings:
        return
    for each in fabric.account.accusations:
        if each.kind in kinds:
            yield Finding(
                what=f"{subject(each)} is slow while all hosts communicate: {numbers_of(each)}",
                likely=likely,
                evidence=(confidence(each),),
                attempts=attempts,
            )
