# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The last call of each thread, with its arguments, as it was stored on entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.layout import Takes

Way = Literal["to", "from", "all", "for_root", "at_root", "unknown"]
"""Whom a thread waits for: the rank it sends to, or receives from; in a collective all ranks, the
root, or at the root all ranks."""


@dataclass(frozen=True)
class Need:
    """An event that a call waits for: a message, or a collective with all its ranks."""

    way: Way
    call: str
    """The call that began it: the call itself, or the one that made its request."""
    comm: int
    """The number of the communicator; 0: unknown."""
    peer: int
    """The rank in the communicator, or a special value of layout; NO_RANK: none."""
    tag: int | None
    """The tag; None: any tag, or none."""


@dataclass(frozen=True)
class LastCall:
    """The last call of a thread."""

    thread: int
    site: int
    """The index in the sites of the file."""
    call: str
    goes_on: bool
    """False if the call has ended: the thread is outside MPI since then."""
    seconds: float
    """The time since the call began, or since it ended, at the end of the process."""
    needs: tuple[Need, ...]
    """The events that the call waits for; none: it waits for nothing that is known."""
    requests: int
    """The number of requests that it waits for, of which only the first are known; 0: none."""
    is_any: bool
    """True if one of the requests is enough."""


@dataclass(frozen=True)
class Arguments:
    """The meaning of arguments in one file."""

    head: Any
    comms: Mapping[int, int]
    """The numbers of communicators by their handles."""
    world: int
    """The number of MPI_COMM_WORLD; 0: unknown."""
    calls: Mapping[int, tuple[str, Takes]]

    def comm(self, handle: Any) -> int:
        return self.comms.get(int(handle) & int(self.head["handle_bits"]), 0)

    def peer(self, stored: Any) -> int:
        rank = int(stored)
        if rank >= 0:
            return rank
        special = {
            int(self.head["any_source"]): layout.ANY_SOURCE,
            int(self.head["null_process"]): layout.NULL_PROCESS,
        }
        return special.get(rank, layout.NO_RANK)

    def tag(self, tag: Any) -> int | None:
        return None if int(tag) == int(self.head["any_tag"]) else int(tag)


def needs_of(call: int, pending: Any, given: Arguments) -> tuple[Need, ...]:
    """Returns the events that a call with these arguments waits for."""
    name, takes = given.calls.get(call, ("", Takes(0)))
    if takes & Takes.REQUESTS:
        count = min(int(pending["requests"]), layout.MOST_AWAITED)
        return tuple(_awaited(each, given) for each in pending["awaited"][:count])
    comm = given.world if name == "MPI_Finalize" else 0
    if takes & Takes.COMM:
        comm = given.comm(pending["comm"])
    needs = []
    if takes & Takes.TO:
        tag = given.tag(pending["tag"]) if takes & Takes.TO_TAG else None
        needs.append(Need("to", name, comm, given.peer(pending["peer"]), tag))
    if takes & Takes.FROM:
        tag = given.tag(pending["source_tag"]) if takes & Takes.FROM_TAG else None
        needs.append(Need("from", name, comm, given.peer(pending["source"]), tag))
    if way := _meets(takes):
        root = given.peer(pending["peer"]) if takes & Takes.ROOT else layout.NO_RANK
        needs.append(Need(way, name, comm, root, None))
    return tuple(need for need in needs if need.peer != layout.NULL_PROCESS)


def _awaited(request: Any, given: Arguments) -> Need:
    """Returns the event that a request waits for. Of one that sends and receives, only one side is
    stored, and either may have ended."""
    name, takes = given.calls.get(int(request["call"]), ("", Takes(0)))
    comm, peer = given.comm(request["comm"]), given.peer(request["peer"])
    if takes & Takes.TO and takes & Takes.FROM:
        return Need("unknown", name, comm, layout.NO_RANK, None)
    if takes & (Takes.TO | Takes.FROM):
        has_tag = takes & (Takes.TO_TAG | Takes.FROM_TAG)
        tag = given.tag(request["tag"]) if has_tag else None
        return Need("to" if takes & Takes.TO else "from", name, comm, peer, tag)
    if way := _meets(takes):
        return Need(way, name, comm, peer if takes & Takes.ROOT else layout.NO_RANK, None)
    return Need("unknown", name, comm, layout.NO_RANK, None)


def _meets(takes: Takes) -> Way | None:
    if takes & Takes.WAITS_FOR_ALL:
        return "all"
    if takes & Takes.WAITS_FOR_ROOT:
        return "for_root"
    return "at_root" if takes & Takes.WAITS_AT_ROOT else None
