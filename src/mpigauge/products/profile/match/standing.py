# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The place of each rank at the end: its call, for how long, and for whom it waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.units import listed, many
from mpigauge.products.profile.read.last_calls import LastCall, Need
from mpigauge.products.profile.read.layout import ANY_SOURCE
from mpigauge.products.profile.read.rank_file import Comm, RankFile

State = Literal["in", "outside", "finalized", "exited"]
"""in: a call of MPI goes on; outside: the last one has ended; finalized: MPI_Finalize has ended;
exited: the process ended without it."""


@dataclass(frozen=True)
class Standing:
    """The last call of one thread of a rank."""

    rank: int
    """The rank in MPI_COMM_WORLD."""
    thread: int
    state: State
    call: str
    """The call that goes on, or the last one."""
    site: int
    """The number of its call site in the profile."""
    seconds: float
    """The time since the call began, or since it ended, at the end of the process."""
    communicator: str
    """The name of the communicator; empty: none, or unknown."""
    peers: tuple[int, ...]
    """The ranks of MPI_COMM_WORLD that it waits for, as far as its arguments name them."""
    about: str
    """The same in words, such as from rank 1, tag 3; empty: all ranks, or unknown."""

    @property
    def goes_on(self) -> bool:
        return self.state == "in"


def standings(files: Sequence[RankFile], sites: Sequence[Sequence[int]]) -> tuple[Standing, ...]:
    """Returns where each rank stands. `sites`: the numbers of call sites of each file in the
    profile."""
    places = []
    for file, numbers in zip(files, sites, strict=True):
        if file.rank is None:
            continue
        for last in file.last_calls:
            places.append(_standing(file, last, numbers[last.site]))
    return tuple(places)


def _standing(file: RankFile, last: LastCall, site: int) -> Standing:
    first = next(iter(last.needs), None)
    return Standing(
        rank=file.rank or 0,
        thread=last.thread,
        state=_state(file, last),
        call=last.call,
        site=site,
        seconds=last.seconds,
        communicator=_comm_name(file, first),
        peers=tuple(dict.fromkeys(_peers(file, last.needs))),
        about=needs_in_words(file, last),
    )


def _state(file: RankFile, last: LastCall) -> State:
    if last.goes_on:
        return "in"
    return "outside" if file.ended == "killed" else file.ended


def _comm_name(file: RankFile, need: Need | None) -> str:
    comm = file.comms.get(need.comm) if need else None
    if comm is None:
        return ""
    return comm.name or f"a communicator of {many(comm.size, 'rank')} by {comm.maker}"


def world_rank(comm: Comm | None, peer: int) -> int | None:
    """Returns a rank of a communicator in MPI_COMM_WORLD. None: unknown, or no rank."""
    if comm is None or not 0 <= peer < len(comm.members):
        return None
    member = comm.members[peer]
    return member if member >= 0 else None


def _peers(file: RankFile, needs: Sequence[Need]) -> Iterator[int]:
    for need in needs:
        peer = world_rank(file.comms.get(need.comm), need.peer)
        if peer is not None and need.way != "at_root":
            yield peer


def needs_in_words(file: RankFile, last: LastCall) -> str:
    """Returns the messages or the root that a call waits for; empty: all ranks, or unknown."""
    if not last.requests:
        words = [*filter(None, (_need_in_words(file, need) for need in last.needs))]
        return listed(words) if words else ""
    described = dict.fromkeys(filter(None, (_need_in_words(file, need) for need in last.needs)))
    more = last.requests - len(last.needs)
    parts = [*described, *([f"{many(more, 'more request')}"] if more > 0 else [])]
    if not parts:
        return many(last.requests, "request")
    return listed(parts, "or" if last.is_any else "and")


def _need_in_words(file: RankFile, need: Need) -> str:
    if need.way in ("to", "from"):
        tag = f", tag {need.tag}" if need.tag is not None else ""
        peer = "any rank" if need.peer == ANY_SOURCE else _rank_in_words(file, need)
        return f"{need.way} {peer}{tag}"
    if need.way in ("for_root", "at_root") and need.peer >= 0:
        return f"root {_rank_in_words(file, need)}"
    return ""


def _rank_in_words(file: RankFile, need: Need) -> str:
    """Returns a peer as a rank of MPI_COMM_WORLD, else as one of its communicator."""
    peer = world_rank(file.comms.get(need.comm), need.peer)
    return f"rank {need.peer} of its communicator" if peer is None else f"rank {peer}"


def ranks_in_words(ranks: Sequence[int]) -> str:
    """Returns ranks as the beginning of a sentence."""
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {as_list(ranks)}"
