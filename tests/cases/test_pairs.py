# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Every benchmark of two ranks between every two of a job, without a split of all ranks a round."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from mpigauge.products.profile.read.files import read_folder
from tests.cases.launching import OTHER_SUITES, ROUGH, Site, profiled_site, run, site

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.cards import Card

pytestmark = pytest.mark.mpi

ADDRESSED, WITH_OWN = "PingPong", "PingPongAnySource"
"""A benchmark whose ranks find each other in a communicator of all, and one that needs its own."""
MAKERS = ("MPI_Comm_split", "MPI_Comm_dup", "MPI_Intercomm_merge")


def cards_of_pairs(where: Site) -> list[Card]:
    return [card for card in where.cards if card.ranks == "pair" and card.suite not in OTHER_SUITES]


@pytest.mark.parametrize("form", ["all", "each"])
def test_every_benchmark_meets_every_pair(where: Site, form: str) -> None:
    """Of three ranks one rests in each round: the first, one between, the last."""
    cards = cards_of_pairs(where)
    without_size = [card for card in cards if card.only_bytes or card.unit == "none"]
    with_size = [card for card in cards if card not in without_size]
    for of, sizes in ((with_size, ("--sizes", 8)), (without_size, ())):
        names = ",".join(card.word for card in of)
        ended = run(where, 3, "--benchmarks", names, "--pairs", form, *sizes, *ROUGH)
        assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
        members = defaultdict[tuple[str, str], set[str]](set)
        for cell in ended.cells:
            members[cell.suite, cell.benchmark].add(cell.members)
        skipped = {(skip.key["suite"], skip.key["benchmark"]) for skip in ended.skips}
        every = {f"{a},{b}" for a, b in combinations(range(3), 2)}
        for card in of:
            name = (card.suite, card.name)
            assert members.get(name) == every or name in skipped - members.keys(), card.word


def communicators(ranks: int, benchmark: str, folder: Path) -> dict[str, int]:
    """How many communicators the first rank made in all rounds, by the call that makes them."""
    folder.mkdir()
    where = profiled_site(site("mpich"), folder)
    words = ("--benchmarks", benchmark, "--pairs", "all", "--sizes", 8, *ROUGH)
    assert run(where, ranks, *words).status == 0
    (first,) = (file for file in read_folder(folder) if file.rank == 0 and file.ranks == ranks)
    calls = dict.fromkeys(MAKERS, 0)
    for each in first.sites:
        if each.call in calls:
            calls[each.call] += each.calls
    return calls


@pytest.mark.parametrize("benchmark", [ADDRESSED, WITH_OWN])
def test_no_round_splits_all_ranks(benchmark: str, tmp_path: Path) -> None:
    """Of 4 ranks there are 3 rounds, of 8 there are 7; at most a communicator of two is made."""
    few, many = (communicators(ranks, benchmark, tmp_path / str(ranks)) for ranks in (4, 8))
    own = 0 if benchmark == ADDRESSED else 1
    assert many["MPI_Comm_split"] == few["MPI_Comm_split"]
    assert many["MPI_Comm_dup"] == few["MPI_Comm_dup"]
    assert (few["MPI_Intercomm_merge"], many["MPI_Intercomm_merge"]) == (3 * own, 7 * own)
