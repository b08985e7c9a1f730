# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The calls recorded on all ranks of a communicator are found in time linear in the ranks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpigauge.products.profile.match.kept import kept_calls
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.rank_file import Instances, RankFile
from tests.profiles import WORLD, rank_file, stored_records


class Members(tuple[int, ...]):
    """Members of a communicator that count how often all of them are hashed."""

    __slots__ = ()
    hashed = 0

    def __hash__(self) -> int:
        Members.hashed += 1
        return super().__hash__()


@pytest.fixture(autouse=True)
def _no_hashes() -> None:
    Members.hashed = 0


def barriers(number: int) -> Instances:
    """Calls of which none is recorded, of one size."""
    records = stored_records(np.zeros(0, layout.INSTANCE))
    return Instances(1, "MPI_Bcast", number, "at_root", 0, 10, 0.0, 0, records)


def files_of(ranks: int, kinds: int, *, shared: bool = True) -> list[RankFile]:
    """The files of a job whose ranks all made the same kinds of calls. `shared`: they share one
    list of all ranks, as files that are read do."""
    everyone = Members(range(ranks))
    calls = tuple(map(barriers, range(kinds)))
    made = []
    for rank in range(ranks):
        members = everyone if shared else Members(range(ranks))
        comm = replace(WORLD, rank=rank, size=ranks, members=members)
        file = replace(rank_file(0), rank=rank, ranks=ranks, comms={1: comm}, instances=calls)
        made.append(file)
    return made


@pytest.mark.parametrize(("ranks", "kinds"), [(4, 1), (64, 16)])
def test_the_members_of_a_communicator_are_hashed_once(ranks: int, kinds: int) -> None:
    kept = kept_calls(files_of(ranks, kinds), [[0]] * ranks)
    assert [list(group.order) for group in kept.groups] == [list(range(ranks))] * kinds
    assert Members.hashed == 1


def test_equal_lists_of_members_are_one_communicator() -> None:
    """Each list is hashed once, however many kinds of calls there are."""
    kept = kept_calls(files_of(4, 16, shared=False), [[0]] * 4)
    assert len(kept.groups) == 16
    assert Members.hashed == 4


def test_calls_that_a_rank_lacks_are_left_out() -> None:
    files = files_of(3, 2)
    files[1] = replace(files[1], instances=files[1].instances[:1])
    assert [group.first.bin for group in kept_calls(files, [[0]] * 3).groups] == [0]
