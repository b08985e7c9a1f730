# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What pattern.cpp and fortran.cpp do on a rank: a function for each of their sections, by the
same name.

Each says of the calls of its section how often they are made, and their messages: way, peer in the
world, how many, how much in all (bytes, or requests).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from mpigauge.products.profile.match.merge import Profile, Spot
from mpigauge.products.profile.read.layout import NO_RANK, NULL_PROCESS, Counted
from tests.profiled import functions

Message = tuple[Counted, int, int, int]
Line = tuple[str, int, tuple[Message, ...]]
Amounts = dict[tuple[Counted, int], tuple[int, int]]
Pattern = dict[tuple[str, str], tuple[int, Amounts]]
"""Calls, and count and amount of their messages by way and peer, by section and call."""


@dataclass(frozen=True)
class Here:
    rank: int
    ranks: int

    @property
    def right(self) -> int:
        return (self.rank + 1) % self.ranks

    @property
    def left(self) -> int:
        return (self.rank - 1) % self.ranks


SECTIONS: list[Callable[[Here], Iterator[Line]]] = []


def section(function: Callable[[Here], Iterator[Line]]) -> Callable[[Here], Iterator[Line]]:
    SECTIONS.append(function)
    return function


def pattern(rank: int, ranks: int, fortran: bool = False) -> Pattern:
    """All sections of a program together."""
    found: Pattern = {}
    for each in SECTIONS:
        if each.__name__ != "main" and each.__name__.startswith("fortran_") != fortran:
            continue
        for call, calls, messages in each(Here(rank, ranks)):
            key = (each.__name__.rstrip("_"), f"MPI_{call}")
            found[key] = added(found.get(key, (0, {})), calls, messages)
    return found


def sections_of(profile: Profile) -> dict[Spot, str]:
    """In which section of the program each spot is."""
    names = {each.__name__.rstrip("_") for each in SECTIONS}
    found = {}
    for file in profile.files:
        for site, inside in functions(file).items():
            spot = Spot(site.call, site.group, site.region, site.frames)
            found[spot] = next(name for name in inside if name in names)
    return found


def counted(profile: Profile, sections: Mapping[Spot, str], rank: int) -> Pattern:
    """What the profile has of a rank, by section and call."""
    keys = [(sections[spot], spot.call) for spot in profile.spots]
    found: Pattern = {}
    for row in profile.rows[profile.rows["rank"] == rank]:
        key = keys[row["site"]]
        found[key] = added(found.get(key, (0, {})), int(row["calls"]), ())
    for cell in profile.cells[profile.cells["rank"] == rank]:
        key, way = keys[cell["site"]], Counted(int(cell["way"]))
        message = (way, int(cell["world_peer"]), int(cell["count"]), int(cell["amount"]))
        found[key] = added(found[key], 0, (message,))
    return found


def differences(found: Pattern, wanted: Pattern) -> dict[tuple[str, str], object]:
    """Found and wanted, where they differ."""
    keys = sorted({*found, *wanted})
    return {k: (found.get(k), wanted.get(k)) for k in keys if found.get(k) != wanted.get(k)}


def added(
    known: tuple[int, Amounts], calls: int, messages: tuple[Message, ...]
) -> tuple[int, Amounts]:
    amounts = dict(known[1])
    for way, peer, count, amount in messages:
        before = amounts.get((way, peer), (0, 0))
        amounts[way, peer] = (before[0] + count, before[1] + amount)
    return known[0] + calls, amounts


def says(call: str, calls: int, *messages: Message) -> Line:
    return call, calls, messages


def sent(peer: int, count: int, each: float) -> Message:
    return Counted.SENT, peer, count, int(count * each)


def received(peer: int, count: int, each: float) -> Message:
    return Counted.RECEIVED, peer, count, int(count * each)


def about(requests: int, calls: int = 1) -> Message:
    return Counted.REQUESTS, NO_RANK, calls, requests * calls


def plain(calls: int = 1, each: int = 0, peer: int = NO_RANK) -> Message:
    return Counted.NONE, peer, calls, calls * each


@section
def messages(here: Here) -> Iterator[Line]:
    yield says("Irecv", 3, received(here.left, 3, 200))
    yield says("Send", 3, sent(here.right, 3, 100))
    yield says("Wait", 3, about(1, 3))
    yield says("Isend", 2, sent(here.right, 2, 64))
    yield says("Recv", 2, received(here.left, 2, 64))
    yield says("Waitall", 2, about(1, 2))


SIZES = (100, 127, 64, 90, 90)


@section
def sizes(here: Here) -> Iterator[Line]:
    mean = sum(SIZES) / len(SIZES)
    yield says("Sendrecv", 5, sent(here.right, 5, mean), received(here.left, 5, mean))
    yield says("Allreduce", 5, (Counted.NONE, NO_RANK, 5, sum(SIZES)))


@section
def edges(here: Here) -> Iterator[Line]:
    yield says("Send", 1, sent(NULL_PROCESS, 1, 0))
    yield says("Recv", 1, received(NULL_PROCESS, 1, 0))
    yield says("Sendrecv", 4, sent(here.right, 4, 0), received(here.left, 4, 0))
    yield says("Sendrecv_replace", 1, sent(here.right, 1, 12), received(here.left, 1, 12))


@section
def derived_types(here: Here) -> Iterator[Line]:
    size = 2 * 4 * (4 + 8 + 12) / 3
    yield says("Sendrecv", 3, sent(here.right, 3, size), received(here.left, 3, size))
    for call in ("Type_vector", "Type_commit", "Type_free"):
        yield says(call, 3)


@section
def probes(here: Here) -> Iterator[Line]:
    yield says("Iprobe", 5, plain(5, peer=here.right))
    yield says("Isend", 1, sent(here.right, 1, 24))
    yield says("Mprobe", 1, plain(peer=here.left))
    yield says("Mrecv", 1, received(here.left, 1, 24))
    yield says("Wait", 1, about(1))


@section
def requests(here: Here) -> Iterator[Line]:
    yield says("Irecv", 3, received(here.left, 3, 64))
    yield says("Isend", 3, sent(here.right, 3, 64))
    yield says("Testall", 1, about(6))
    yield says("Waitall", 1, about(6))


@section
def persistent(here: Here) -> Iterator[Line]:
    yield says("Recv_init", 1, plain(peer=here.left))
    yield says("Send_init", 1, plain(peer=here.right))
    yield says("Start", 10, about(1, 10), sent(here.right, 5, 1000), received(here.left, 5, 1000))
    yield says("Startall", 2, about(2, 2), sent(here.right, 2, 1000), received(here.left, 2, 1000))
    yield says("Waitall", 7, about(2, 7))
    yield says("Request_free", 2)


@section
def collectives(here: Here) -> Iterator[Line]:
    mine, everybody = here.rank + 1, sum(range(1, here.ranks + 1))
    yield says("Barrier", 1, plain())
    yield says("Bcast", 1, plain(1, 80, here.ranks - 1))
    yield says("Reduce", 1, plain(1, 88, 0))
    yield says("Allreduce", 2, plain(1, 96), plain(1, 104))
    yield says("Scan", 1, plain(1, 112))
    yield says("Allgather", 2, plain(1, 120), plain(1, 128))
    yield says("Alltoall", 1, plain(1, 136))
    yield says("Gather", 1, plain(1, 144, 0))
    yield says("Scatter", 1, plain(1, 152, 0))
    yield says("Gatherv", 1, plain(1, 8 * mine, 0))
    yield says("Scatterv", 1, plain(1, 8 * (everybody if here.rank == 0 else mine), 0))
    yield says("Allgatherv", 1, plain(1, 8 * mine))
    yield says("Reduce_scatter", 1, plain(1, 8 * everybody))
    yield says("Reduce_scatter_block", 1, plain(1, 160))
    yield says("Alltoallv", 1, plain(1, 8 * everybody))
    yield says("Alltoallw", 1, plain(1, 8 * everybody))
    yield says("Ibarrier", 1, plain())
    yield says("Iallreduce", 1, plain(1, 168))
    yield says("Wait", 2, about(1, 2))


@section
def communicators(here: Here) -> Iterator[Line]:
    yield says("Comm_dup", 10, plain(10))
    yield says("Comm_split", 2, plain(2))
    yield says("Allreduce", 11, plain(10, 4), plain(1, 8))
    yield says("Comm_free", 12)
    yield says("Comm_set_name", 1, plain())
    yield says("Comm_rank", 1, plain())
    yield says("Sendrecv", 1, sent(here.left, 1, 7), received(here.right, 1, 7))


@section
def between_groups(here: Here) -> Iterator[Line]:
    """Rank 0 is the root, and says MPI_ROOT; the others on its side say MPI_PROC_NULL."""
    if here.ranks < 2:
        return
    beside = here.rank % 2 == 0 and here.rank > 0
    root = NULL_PROCESS if beside else NO_RANK if here.rank == 0 else 0
    yield says("Comm_split", 1, plain())
    yield says("Intercomm_create", 1, plain())
    yield says("Bcast", 1, plain(1, 0 if beside else 30, root))
    yield says("Gather", 1, plain(1, 0 if beside else 31, root))
    yield says("Comm_free", 2)


@section
def neighbours(_: Here) -> Iterator[Line]:
    yield says("Cart_create", 1, plain())
    yield says("Neighbor_allgather", 1, plain(1, 16))
    yield says("Neighbor_alltoall", 1, plain(1, 20))
    yield says("Neighbor_alltoallv", 1, plain(1, 20))
    yield says("Comm_free", 1)


@section
def one_sided(here: Here) -> Iterator[Line]:
    yield says("Win_allocate", 1, plain())
    yield says("Win_fence", 3, plain(3))
    yield says("Put", 3, sent(here.right, 3, 40))
    yield says("Get", 1, received(here.right, 1, 16))
    yield says("Accumulate", 1, sent(here.right, 1, 8))
    yield says("Fetch_and_op", 1, sent(here.right, 1, 4))
    yield says("Win_lock", 1, plain(peer=here.right))
    yield says("Win_unlock", 1, plain(peer=here.right))
    yield says("Win_free", 1)


@section
def files(_: Here) -> Iterator[Line]:
    yield says("File_open", 1, plain())
    yield says("File_write_at", 4, sent(NO_RANK, 4, 100))
    yield says("File_sync", 1, plain())
    yield says("File_read_at_all", 2, received(NO_RANK, 2, 50))
    yield says("File_close", 1)


@section
def recursion(_: Here) -> Iterator[Line]:
    yield says("Barrier", 8, plain(8))


@section
def in_variable_frame(_: Here) -> Iterator[Line]:
    yield says("Barrier", 500, plain(500))


@section
def by_pointer(_: Here) -> Iterator[Line]:
    yield says("Comm_rank", 10, plain(10))
    yield says("Comm_size", 10, plain(10))


@section
def failures(_: Here) -> Iterator[Line]:
    yield says("Comm_set_errhandler", 1, plain())
    yield says("Send", 3)


@section
def fortran_messages(here: Here) -> Iterator[Line]:
    yield says("Irecv", 3, received(here.left, 3, 200))
    yield says("Send", 4, sent(here.right, 3, 100), sent(here.right, 1, 64))
    yield says("Wait", 3, about(1, 3))
    yield says("Recv", 1, received(here.left, 1, 64))


@section
def fortran_persistent(here: Here) -> Iterator[Line]:
    yield says("Recv_init", 1, plain(peer=here.left))
    yield says("Send_init", 1, plain(peer=here.right))
    yield says("Startall", 2, about(2, 2), sent(here.right, 2, 1000), received(here.left, 2, 1000))
    yield says("Waitall", 2, about(2, 2))
    yield says("Request_free", 2)


@section
def fortran_collectives(here: Here) -> Iterator[Line]:
    yield says("Allreduce", 1, plain(1, 96))
    yield says("Alltoallw", 1, plain(1, 24 * here.ranks))


@section
def fortran_communicators(_: Here) -> Iterator[Line]:
    yield says("Comm_dup", 1, plain())
    yield says("Comm_set_name", 1, plain())
    yield says("Barrier", 5, plain(5))
    yield says("Comm_free", 1)


@section
def fortran_attributes(_: Here) -> Iterator[Line]:
    yield says("Comm_create_keyval", 1)
    yield says("Comm_set_attr", 1, plain())
    yield says("Comm_get_attr", 2, plain(2))
    yield says("Comm_free_keyval", 1)


@section
def fortran_operations(_: Here) -> Iterator[Line]:
    yield says("Op_create", 1)
    yield says("Allreduce", 1, plain(1, 4))
    yield says("Op_free", 1)


@section
def fortran_control(_: Here) -> Iterator[Line]:
    yield says("Barrier", 1, plain(1))


@section
def main(_: Here) -> Iterator[Line]:
    yield says("Init", 1)
    yield says("Comm_rank", 1, plain())
    yield says("Comm_size", 1, plain())
    yield says("Finalize", 1)
