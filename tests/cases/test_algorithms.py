# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Algorithms of collectives on 1 to 9 ranks of each MPI, at sizes around borders of their parts.

tests/unit/model/test_schedules.py has the schedules themselves; here ranks perform them.
"""

from __future__ import annotations

import pytest

from mpigauge.schedules import ALGORITHMS
from mpigauge.schedules.step import SEGMENT_BYTES
from tests.cases.every_cell import CORES, run_all
from tests.cases.launching import Site
from tests.conftest import MPIS

pytestmark = [pytest.mark.mpi, pytest.mark.parametrize("where", MPIS, indirect=True)]

SUITE = "ALG"
RANKS = range(1, 10)
FLOAT = 4
OFTEN = ("--mode", "classic", "--repetitions", 2)


@pytest.mark.parametrize("ranks", RANKS)
def test_every_algorithm_is_right_around_the_borders_of_chunks(where: Site, ranks: int) -> None:
    """Groups of ranks are uneven on most numbers of ranks, and the last rank is the root."""
    cards = [card for card in where.cards if card.suite == SUITE]
    assert {card.name for card in cards} == set(ALGORITHMS)
    border = ranks * FLOAT
    sizes = sorted({FLOAT, border - FLOAT, border, border + FLOAT, 100 * border + FLOAT})
    if ranks > CORES:
        sizes = sizes[:-1]
    names = ",".join(card.word for card in cards)
    ended = run_all(where, ranks, names, "--ranks", ranks, "--root", ranks - 1,
                    "--group-ranks", ranks % 4 + 1, "--sizes", ",".join(map(str, sizes)),
                    *OFTEN)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert not ended.skips
    measured = {(cell.benchmark, cell.message_bytes) for cell in ended.cells}
    assert measured == {
        (card.name, size) for card in cards for size in (sizes if card.unit != "none" else [-1])
    }


@pytest.mark.parametrize("ranks", RANKS)
def test_segments_are_right_around_their_borders(where: Site, ranks: int) -> None:
    border = ranks * SEGMENT_BYTES
    sizes = [border - FLOAT, border, border + FLOAT]
    ended = run_all(where, ranks, "ALG:Allreduce/segmented_ring", "--ranks", ranks,
                    "--sizes", ",".join(map(str, sizes)), *OFTEN)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert [cell.message_bytes for cell in ended.cells] == sizes


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_roots_shift_in_every_algorithm(where: Site, ranks: int) -> None:
    rooted = [card for card in where.cards if card.suite == SUITE and card.rooted]
    names = ",".join(card.word for card in rooted)
    ended = run_all(where, ranks, names, "--ranks", ranks, "--root-shift", 1, "--sizes", "8,1000",
                    "--mode", "classic", "--repetitions", 2 * ranks)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {cell.benchmark for cell in ended.cells} == {card.name for card in rooted}
