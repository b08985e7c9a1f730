# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks that benchmarks can have their buffers in the kinds of memory of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.measuring.plan.memory.buffer_memory import has_two_sides, needs_driver, sides
from mpigauge.model.errors import UserError
from mpigauge.model.units import first_few

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.measuring.plan.request import Request
    from mpigauge.model.cards import Card

_NOT_FRESH = "the CPU writes fresh data, and these buffers are filled by copies; leave one out"
_NOT_COLD = "buffers are cold for the caches of the CPU, not for those of a GPU; leave one out"
_NO_THREADS = "threads of a rank have their buffers in host memory; leave one out"


def check_memory(request: Request, chosen: Sequence[Card], named: Sequence[Card]) -> None:
    """UserError: benchmarks cannot have their buffers there, or another option excludes it.
    `named`: those of the chosen ones that the user named, not only their suite; others are left
    out by the kernels, with the reason."""
    for kind in request.memory:
        if has_two_sides(kind):
            _check_pairs(kind, _that_matter(chosen, named, lambda card: card.ranks == "pair"))
        if needs_driver(kind):
            _check_options(kind, request)
            _check_cards(kind, _that_matter(chosen, named, lambda card: not card.gpu))


def _that_matter(
    chosen: Sequence[Card], named: Sequence[Card], is_possible: Callable[[Card], bool]
) -> Sequence[Card]:
    """The benchmarks that are refused by name: all of them, if none is possible."""
    return named if any(map(is_possible, chosen)) else chosen


def _check_options(kind: str, request: Request) -> None:
    threads = request.suite_options.get("threads", "")
    for option, value, is_usual, why in (
        ("data", request.data, request.data == "static", _NOT_FRESH),
        ("cache", request.cache, request.cache == "hot", _NOT_COLD),
        ("threads", threads, not threads, _NO_THREADS),
    ):
        if not is_usual:
            raise UserError(f"--{option} {value} and --memory {kind} contradict: {why}")


def _check_pairs(kind: str, chosen: Sequence[Card]) -> None:
    others = [card.word for card in chosen if card.ranks != "pair"]
    if others:
        one, other = sides(kind)
        raise UserError(
            f"--memory {kind}: two sides are for benchmarks of two ranks, and {first_few(others)} "
            f"{'are' if len(others) > 1 else 'is'} not one; take {one}, or {other}, for all ranks"
        )


def _check_cards(kind: str, chosen: Sequence[Card]) -> None:
    for card in chosen:
        if card.gpu:
            raise UserError(f"--memory {kind}: {card.word} takes host memory alone: {card.gpu}")
