# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Old MPI libraries: what they can do is measured, what they cannot says which call is missing."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from mpigauge.site.mpi.query import ask, missing
from tests import old_mpi
from tests.cases.launching import OTHER_SUITES, Site, run

if TYPE_CHECKING:
    from mpigauge.model.cards import Card

pytestmark = pytest.mark.mpi

STANDARDS = ("2.2", "3.0")


@pytest.fixture(scope="module", params=STANDARDS)
def old(
    where: Site, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Site:
    """The same MPI as if it were of an old standard, with the same kernels."""
    folder = tmp_path_factory.mktemp("old")
    return dataclasses.replace(
        where, mpi=old_mpi.of_standard(where.mpi, str(request.param), folder)
    )


def lacks(card: Card, where: Site) -> list[str]:
    """The calls that a benchmark needs and a library of this standard has not."""
    return [call for call in card.needs if old_mpi.version_of(call) > where.mpi.standard]


def words_of(cards: list[Card]) -> str:
    return ",".join(card.word for card in cards)


def test_it_says_what_it_is(old: Site) -> None:
    answer = ask(old.mpi.library, old.mpi.env)
    assert answer.standard == old.mpi.standard
    if old.mpi.standard == "2.2":
        assert answer.name_and_version == ("unknown", "MPI-2.2 library")
    calls = ("MPI_Send", "MPI_Ibcast", "MPI_Bcast_init")
    newer = {call for call in calls if old_mpi.version_of(call) > old.mpi.standard}
    assert missing(old.mpi.library, old.mpi.env, calls) == newer


def test_what_it_cannot_do_is_named(old: Site, where: Site) -> None:
    """For every benchmark, in a launch too short to measure them all."""
    cards = [card for card in old.cards if card.suite not in OTHER_SUITES]
    calls = {call for card in cards for call in card.needs}
    never = missing(where.mpi.library, where.mpi.env, calls)
    ended = run(old, 2, "--benchmarks", words_of(cards), "--sizes", 4096, "--seconds", 2)
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    skipped = {(skip.key["suite"], skip.key["benchmark"]): skip.reason for skip in ended.skips}
    measured = {(cell.suite, cell.benchmark) for cell in ended.cells}
    for card in cards:
        lacking = [call for call in card.needs if call in lacks(card, old) or call in never]
        reason = skipped.get((card.suite, card.name), "")
        if lacking:
            assert reason == f"this MPI library has no {lacking[0]}"
            assert (card.suite, card.name) not in measured
        else:
            assert reason or (card.suite, card.name) in measured, card.word
            assert "this MPI library has no" not in reason


@pytest.mark.heavy
@pytest.mark.alone
@pytest.mark.parametrize("suite", ["MPI1", "EXT", "IO"])
def test_what_mpi_2_2_has_is_measured_with_mpi_2_2(old: Site, suite: str) -> None:
    cards = [card for card in old.cards if card.suite == suite]
    ended = run(old, 2, "--benchmarks", words_of(cards), "--sizes", 4096, "--inflight", 4,
                "--mode", "classic", "--repetitions", 2)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {cell.benchmark for cell in ended.cells} == {card.name for card in cards}


def test_the_first_suites_need_nothing_newer(old: Site) -> None:
    """What MPI-2.2 has can be measured with MPI-2.2."""
    for suite in ("MPI1", "EXT", "IO"):
        cards = [card for card in old.cards if card.suite == suite]
        assert cards
        assert [card.word for card in cards if lacks(card, old)] == []


def test_the_launch_tells_what_was_opened(old: Site) -> None:
    ended = run(old, 2, "--benchmarks", "PingPong", "--sizes", 8, "--seconds", 0.2)
    assert ended.status == 0, ended.errors
    assert ended.launch.mpi_standard == old.mpi.standard
    assert len({rank.host for rank in ended.ranks}) == 1
    if old.mpi.standard == "2.2":
        assert ended.launch.mpi_library.startswith("MPI-2.2 library ")
