# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Families of MPI calls that a library implements by the same code for device memory.

A family follows from the card of a benchmark: from what it does with MPI, and from whether its
messages are reduced. A library that only passes buffers on to its network layer accepts device
memory in messages and broadcasts; one that copies or adds on the CPU does not in other families.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.grouping import grouped
from mpigauge.result.nature import nature

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.cards import Card

MESSAGES = "messages"
BROADCASTS = "broadcasts"
MOVES = "collectives that move data"
REDUCTIONS = "reductions"
TRANSFERS = "one-sided transfers"
ARITHMETIC = "one-sided arithmetic"
NON_BLOCKING = "non-blocking "
FAMILIES = (
    MESSAGES, BROADCASTS, MOVES, REDUCTIONS, NON_BLOCKING + BROADCASTS, NON_BLOCKING + MOVES,
    NON_BLOCKING + REDUCTIONS, TRANSFERS, ARITHMETIC,
)  # fmt: skip
_ATOMIC = ("Compare_and_swap",)
"""Benchmarks whose one-sided call computes, although their unit is no reduction."""


_OF_RANKS = {"messages": MESSAGES, "local": REDUCTIONS}
"""Families of calls between two ranks, or within one (MPI_Reduce_local)."""


def family_of(card: Card) -> str:
    """The family of the calls that move the data of a benchmark; empty: it moves none."""
    of = nature(card.suite, card.name)
    if not card.buffers:
        return ""
    if of.does in ("one-sided", "set-up"):
        is_arithmetic = card.unit == "reduction" or card.name in _ATOMIC
        return ARITHMETIC if is_arithmetic else TRANSFERS
    if of.does == "collective":
        return _collective(card, of.call)
    return _OF_RANKS.get(of.does, "")


def by_family(cards: Iterable[Card]) -> dict[str, list[Card]]:
    """The benchmarks of each family that they belong to."""
    families = grouped(cards, family_of)
    families.pop("", None)
    return families


def call_of(card: Card) -> str:
    """The name of the call for a sentence: MPI_Allreduce; of benchmarks with several calls, their
    own name."""
    of = nature(card.suite, card.name)
    call = card.name if of.does == "local" else of.call
    return f"MPI_{call.capitalize()}" if call else card.word


def _collective(card: Card, call: str) -> str:
    family = REDUCTIONS if card.unit == "reduction" else MOVES
    if call.endswith("bcast"):
        family = BROADCASTS
    return NON_BLOCKING + family if call.startswith("i") else family
