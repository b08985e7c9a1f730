# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A deadlock is named where the state of ranks proves one, and nowhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpigauge.products.profile.match import deadlock
from mpigauge.products.profile.match.deadlock import deadlock_in_words, deadlocked, tags_of
from mpigauge.products.profile.match.standing import standings
from mpigauge.products.profile.read.last_calls import LastCall, Need, Way
from mpigauge.products.profile.read.layout import (
    ANY_SOURCE,
    CELL,
    INSTANCE,
    NO_RANK,
    Counted,
)
from mpigauge.products.profile.read.rank_file import Channel, Comm, Ended, RankFile
from tests import profiles

RANKS = 3
WORLD = Comm(1, "MPI_COMM_WORLD", 0, RANKS, 0, tuple(range(RANKS)), 7, 1, 0, "")
PAIR = Comm(2, "pair", 0, 2, 0, (2, 0), 8, 1, 1, "MPI_Comm_split")
LONG_S = 2.0


def rank_file(rank: int, last: LastCall | None, ended: Ended = "killed") -> RankFile:
    site = profiles.site("MPI_Recv", "receive", [profiles.NORM], [1.0])
    return replace(
        profiles.rank_file(0),
        rank=rank,
        ranks=RANKS,
        ended=ended,
        comms={1: WORLD, 2: PAIR},
        sites=(site,),
        cells=np.empty(0, CELL),
        last_calls=(last,) if last else (),
    )


def call(
    *needs: Need, seconds: float = LONG_S, requests: int = 0, is_any: bool = False
) -> LastCall:
    name = "MPI_Waitall" if requests else needs[0].call
    return LastCall(0, 0, name, True, seconds, needs, requests, is_any)


def receive(peer: int, tag: int | None = 3, comm: int = 1) -> Need:
    return Need("from", "MPI_Recv", comm, peer, tag)


def send(peer: int, tag: int = 3) -> Need:
    return Need("to", "MPI_Send", 1, peer, tag)


def meeting(name: str, way: Way = "all", root: int = NO_RANK) -> Need:
    return Need(way, name, 1, root, None)


def outside() -> LastCall:
    return LastCall(0, 0, "MPI_Comm_rank", False, LONG_S, (), 0, False)


def stuck(calls: Mapping[int, LastCall | None]) -> tuple[int, ...]:
    return deadlocked([rank_file(rank, last) for rank, last in calls.items()])


def test_a_cycle_of_receives_is_a_deadlock() -> None:
    assert stuck({0: call(receive(1)), 1: call(receive(2)), 2: call(receive(0))}) == (0, 1, 2)
    assert stuck({0: call(receive(1)), 1: call(receive(0)), 2: outside()}) == (0, 1)


def test_a_state_that_changed_a_moment_ago_proves_nothing() -> None:
    assert stuck({0: call(receive(1)), 1: call(receive(0), seconds=0.5), 2: outside()}) == ()


def test_whoever_waits_for_a_rank_outside_mpi_may_go_on() -> None:
    assert stuck({0: call(receive(1)), 1: call(receive(2)), 2: outside()}) == ()
    assert stuck({0: call(receive(1)), 1: call(receive(2)), 2: None}) == ()


def test_ranks_of_a_communicator_are_those_of_the_world() -> None:
    assert stuck({0: call(receive(0, comm=2)), 1: outside(), 2: call(receive(0))}) == (0, 2)


def test_a_message_that_is_taken_now_is_no_deadlock() -> None:
    assert stuck({0: call(send(1)), 1: call(receive(0)), 2: outside()}) == ()
    assert stuck({0: call(send(1)), 1: call(receive(ANY_SOURCE, None)), 2: outside()}) == ()


def test_a_receive_with_another_tag_does_not_take_it() -> None:
    assert stuck({0: call(send(1, 3)), 1: call(receive(0, 4)), 2: outside()}) == (0, 1)


def test_sends_to_each_other_that_nobody_takes_are_a_deadlock() -> None:
    assert stuck({0: call(send(1)), 1: call(send(0)), 2: outside()}) == (0, 1)


def test_thousands_of_ranks_that_wait_for_one_are_judged_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The ranks of a collective share the list of those that have not come."""
    asked = Counter[str]()
    has_come = deadlock._has_come

    def counted(*values: Any) -> bool:
        asked["ranks"] += 1
        return has_come(*values)

    monkeypatch.setattr(deadlock, "_has_come", counted)
    many = 2000
    world = replace(WORLD, size=many, members=tuple(range(many)))
    calls = [call(receive(1)), *(call(meeting("MPI_Barrier")) for _ in range(1, many))]
    files = [replace(rank_file(rank, last), comms={1: world}) for rank, last in enumerate(calls)]
    assert deadlocked(files) == tuple(range(many))
    assert many <= asked["ranks"] <= 2 * many
    files[0] = replace(files[0], last_calls=(outside(),))
    assert deadlocked(files) == ()


def test_a_receive_from_any_rank_needs_all_of_them_stuck() -> None:
    any_rank = call(receive(ANY_SOURCE))
    assert stuck({0: any_rank, 1: call(receive(0)), 2: outside()}) == ()
    assert stuck({0: any_rank, 1: call(receive(0)), 2: call(receive(1))}) == (0, 1, 2)


def test_of_several_requests_those_that_are_open_are_not_known() -> None:
    """The one of rank 1 may have ended, so that the one of rank 2 is waited for."""
    both = call(receive(1), receive(2), requests=2)
    assert stuck({0: both, 1: call(receive(0)), 2: outside()}) == ()
    assert stuck({0: both, 1: call(receive(0)), 2: call(receive(0))}) == (0, 1, 2)
    more = call(receive(1), receive(1), requests=9)
    assert stuck({0: more, 1: call(receive(0)), 2: call(receive(0))}) == ()


def test_ranks_in_different_collectives_are_a_deadlock() -> None:
    calls = {0: call(meeting("MPI_Allreduce"))}
    calls |= {rank: call(meeting("MPI_Barrier")) for rank in (1, 2)}
    files = [rank_file(rank, last) for rank, last in calls.items()]
    assert deadlocked(files) == (0, 1, 2)
    words = deadlock_in_words(files, deadlocked(files))
    assert words == "Deadlock: rank 0 is in MPI_Allreduce and ranks 1-2 are in MPI_Barrier."


def test_all_in_the_same_collective_are_none() -> None:
    assert stuck({rank: call(meeting("MPI_Barrier")) for rank in range(RANKS)}) == ()


def test_a_collective_waits_for_its_root_alone() -> None:
    leaf = call(meeting("MPI_Bcast", "for_root", 1))
    assert stuck({0: leaf, 1: outside(), 2: call(receive(0))}) == ()
    assert stuck({0: leaf, 1: call(receive(0)), 2: outside()}) == (0, 1)


def test_a_rank_that_has_left_the_collective_is_waited_for_no_more() -> None:
    """The root of a broadcast is in the next call already, and waits there."""
    leaf = call(meeting("MPI_Bcast", "for_root", 1))
    files = {rank: rank_file(rank, last) for rank, last in {0: leaf, 1: call(receive(0))}.items()}
    assert deadlocked([*files.values()]) == (0, 1)
    bcast = replace(files[1].sites[0], call="MPI_Bcast")
    cells = np.array([(0, 1, 1, Counted.NONE, 3, 0, 1, 4, 4, 4, 1, 0)], CELL)
    files[1] = replace(files[1], sites=(bcast,), cells=cells)
    assert deadlocked([*files.values()]) == ()


def channel(way: Counted, peer: int, count: int) -> Channel:
    return Channel(
        1, peer, way, tags_of(3), count, 0, profiles.stored_records(np.empty(0, INSTANCE))
    )


@pytest.mark.parametrize(("sent", "is_deadlock"), [(4, True), (5, False)])
def test_a_message_that_was_sent_is_on_its_way(sent: int, is_deadlock: bool) -> None:
    first = replace(rank_file(0, call(receive(1))), channels=(channel(Counted.RECEIVED, 1, 4),))
    second = replace(rank_file(1, call(receive(0))), channels=(channel(Counted.SENT, 0, sent),))
    assert bool(deadlocked([first, second])) is is_deadlock


def test_a_rank_that_has_finalized_never_comes() -> None:
    done = rank_file(1, outside(), "finalized")
    files = [rank_file(0, call(receive(1))), done, rank_file(2, outside())]
    assert deadlocked(files) == (0, 1)
    assert deadlock_in_words(files, (0, 1)) == (
        "Deadlock: rank 0 is in MPI_Recv from rank 1, tag 3 and rank 1 is after MPI_Finalize."
    )
    assert deadlocked([done, rank_file(0, outside())]) == ()


def test_threads_that_may_still_come_prove_nothing() -> None:
    two = replace(rank_file(0, None), last_calls=(call(receive(1)), call(receive(1))))
    assert deadlocked([two, rank_file(1, call(receive(0)))]) == ()


def words_of(last: LastCall) -> str:
    (standing,) = standings([rank_file(0, last)], [[0]])
    return standing.about


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (call(receive(1)), "from rank 1, tag 3"),
        (call(receive(ANY_SOURCE, None)), "from any rank"),
        (call(send(2)), "to rank 2, tag 3"),
        (call(receive(0, comm=2)), "from rank 2, tag 3"),
        (call(meeting("MPI_Barrier")), ""),
        (call(meeting("MPI_Reduce", "at_root", 1)), "root rank 1"),
        (call(receive(1), send(2), requests=2), "from rank 1, tag 3 and to rank 2, tag 3"),
        (call(receive(1), receive(1), requests=9), "from rank 1, tag 3 and 7 more requests"),
    ],
)
def test_what_a_call_waits_for_is_in_words(last: LastCall, words: str) -> None:
    assert words_of(last) == words


def test_a_file_has_the_groups_of_tags_of_the_profiler() -> None:
    assert [tags_of(tag) for tag in (0, 1, 15, 16, 17, 255, 0x12345)] == [0, 1, 15, 1, 0, 0, 1]
