# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The first sentences on the page of a network: its slow hosts, and how much is left of the
bandwidth when all hosts communicate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import capitalized, many, number, percent, plus_minus
from mpigauge.show.web.quoted import QuotedNumber

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate
    from mpigauge.result.fabric.fabric import Fabric
    from mpigauge.result.fabric.impact import Impact


def fabric_sentences(fabric: Fabric) -> Iterator[str]:
    """Sentences on hosts, links and groups that are slow, or that none is, and on the control."""
    from mpigauge.result.fabric.blame_words import sentences
    from mpigauge.result.fabric.impact import CONTROL, impact_name

    for sentence in sentences(fabric):
        yield f"{capitalized(sentence)}."
    for each in fabric.impacts:
        if each.aggressor == CONTROL and not each.is_stopped and _is_off(each.median):
            name = impact_name(each.victim, each.message_bytes)
            yield (
                f"{name} takes {number(each.median.value)} × as long beside aggressors that sleep: "
                "the machine changed meanwhile."
            )


def fabric_numbers(fabric: Fabric) -> Iterator[QuotedNumber]:
    """Yields the share of alone for each way to pair hosts, then the largest impact."""
    from mpigauge.result.fabric.fabric import WAYS

    for name, words in WAYS.items():
        pairing = fabric.pairing(name)
        if pairing and pairing.share:
            rounds = many(len(pairing.compared), "round")
            worst = percent(pairing.worst.share) if pairing.worst else ""
            where = f"of what they have alone · {rounds} · worst {worst}"
            yield _quoted(f"{capitalized(words)} at once", pairing.share, percent, where)
    counted = [each for each in fabric.impacts if not each.is_stopped]
    if counted:
        yield _largest(max(counted, key=lambda each: each.median.value))


def _largest(impact: Impact) -> QuotedNumber:
    from mpigauge.result.fabric.impact import impact_name

    name = impact_name(impact.victim, impact.message_bytes)
    where = f"time of {name} beside {impact.aggressor}, of that alone"
    return _quoted("Largest impact", impact.median, lambda value: f"{number(value)} ×", where)


def _quoted(label: str, of: Estimate, words: Callable[[float], str], where: str) -> QuotedNumber:
    return QuotedNumber(label, words(of.value), plus_minus(of.relative_error), where)


def _is_off(ratio: Estimate) -> bool:
    """True if the interval of a ratio excludes 1."""
    return math.isfinite(ratio.low) and not ratio.low <= 1 <= ratio.high
