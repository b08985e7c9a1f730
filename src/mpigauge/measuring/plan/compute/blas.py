# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Matrix products by one library, or by several in turn: a launch of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.libraries import Blas

if TYPE_CHECKING:
    from mpigauge.measuring.plan.plan import Plan, PlanPart
    from mpigauge.model.cards import Cards

BLAS = "blas"


def with_blas(
    parts: Sequence[PlanPart], libraries: Sequence[Blas], cards: Cards
) -> tuple[PlanPart, ...]:
    """Parts with matrix products, each with one of these libraries in turn. Other benchmarks of
    such a part are only measured with the first library."""
    return tuple(each for part in parts for each in _parts(part, libraries, cards))


def libraries_of(plan: Plan) -> tuple[Blas, ...]:
    """The libraries that any part of the plan opens."""
    words = dict.fromkeys(
        part.suite_options[BLAS] for part in plan.parts if BLAS in part.suite_options
    )
    return tuple(map(Blas.from_word, words))


def _parts(part: PlanPart, libraries: Sequence[Blas], cards: Cards) -> Iterator[PlanPart]:
    products = () if part.foreign else _products(part.benchmarks, cards)
    choices = libraries if products else ()
    if not choices:
        yield part
    for number, library in enumerate(choices):
        names = products if number else part.benchmarks
        yield replace(
            part, benchmarks=names, suite_options={**part.suite_options, BLAS: library.word}
        )


def _products(names: Sequence[str], cards: Cards) -> tuple[str, ...]:
    pairs = ((name, cards.get(name)) for name in names)
    return tuple(name for name, card in pairs if card and BLAS in card.options)
