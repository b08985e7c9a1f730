# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Products of matrices by one library, or by several in turn: a launch of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.cards import Cards
    from mpigauge.mpi.blas import Blas
    from mpigauge.plan.plan import Part, Plan

BLAS = "blas"


def with_blas(parts: Sequence[Part], libraries: Sequence[Blas], cards: Cards) -> tuple[Part, ...]:
    """Parts with products of matrices, each with a library: those that were named, else the one
    that comes with us. What else such a part measures is measured beside the first alone."""
    return tuple(each for part in parts for each in _parts(part, libraries, cards))


def libraries_of(plan: Plan) -> tuple[Blas, ...]:
    words = dict.fromkeys(part.heeded[BLAS] for part in plan.parts if BLAS in part.heeded)
    if not words:
        return ()
    from mpigauge.mpi.blas import Blas

    return tuple(Blas(*word.split("=", 1)) for word in words)


def _usual() -> tuple[Blas, ...]:
    from mpigauge.mpi.blas import usual_blas

    usual = usual_blas()
    return (usual,) if usual else ()


def _parts(part: Part, libraries: Sequence[Blas], cards: Cards) -> Iterator[Part]:
    products = () if part.foreign else _products(part.benchmarks, cards)
    known = (libraries or _usual()) if products else ()
    if not known:
        yield part
    for number, library in enumerate(known):
        names = products if number else part.benchmarks
        yield replace(part, benchmarks=names, heeded={**part.heeded, BLAS: library.word})


def _products(names: Sequence[str], cards: Cards) -> tuple[str, ...]:
    found = ((name, cards.get(name)) for name in names)
    return tuple(name for name, card in found if card and BLAS in card.heeds)
