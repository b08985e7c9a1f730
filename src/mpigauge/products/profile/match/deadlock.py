# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Proves a deadlock: ranks of which each waits for others of them, for a second without a change.

A rank that waits for one other rank is stuck if that one is stuck. A rank that waits for any of
several, or for several requests of which some may have ended, is stuck if all of them are. Ranks
after MPI_Finalize count as stuck, ranks outside MPI do not. A message that was sent, and a
collective that another rank has left, are no reason to wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mpigauge.model.units import listed
from mpigauge.products.profile.match.standing import needs_in_words, ranks_in_words, world_rank
from mpigauge.products.profile.read.last_calls import LastCall, Need
from mpigauge.products.profile.read.layout import ANY_SOURCE, Counted
from mpigauge.products.profile.read.rank_file import Comm, RankFile

UNCHANGED_S = 1.0
"""The time for which a state has to last: messages may be under way before."""


@dataclass(frozen=True)
class _Rank:
    """A rank and the call that it is in."""

    file: RankFile
    last: LastCall | None
    """The call of its only thread, if it goes on for long enough."""

    @property
    def rank(self) -> int:
        return self.file.rank or 0

    @property
    def has_ended(self) -> bool:
        return self.file.ended == "finalized"

    @property
    def needs(self) -> tuple[Need, ...]:
        return self.last.needs if self.last else ()

    def comm(self, need: Need) -> Comm | None:
        return self.file.comms.get(need.comm)

    def family(self, need: Need) -> int:
        comm = self.comm(need)
        return comm.family if comm else 0

    @cached_property
    def collectives(self) -> Counter[tuple[int, str]]:
        """The number of collectives that have ended, by family of communicators and call."""
        counts: Counter[tuple[int, str]] = Counter()
        for cell in self.file.cells[self.file.cells["way"] == Counted.NONE]:
            comm = self.file.comms.get(int(cell["comm"]))
            if comm is not None:
                call = self.file.sites[int(cell["site"])].call
                counts[comm.family, call] += int(cell["count"])
        return counts


@dataclass(frozen=True)
class _Job:
    """All ranks by their number, and the ranks that collectives wait for."""

    ranks: Mapping[int, _Rank]
    _absent: dict[tuple[object, ...], frozenset[int]] = field(default_factory=dict)

    def awaited(self, rank: _Rank, need: Need) -> Collection[int]:
        """Returns the ranks that have not done yet what a rank waits for."""
        if need.way in ("to", "from"):
            return [
                other
                for other in _senders(rank, need)
                if not _is_met(rank, need, self.ranks.get(other))
            ]
        absent = self._absent_of(rank, need)
        root = world_rank(rank.comm(need), need.peer)
        if need.way in ("for_root", "at_root") and root not in (None, rank.rank):
            return [root] if root in absent else []
        return absent

    def _absent_of(self, rank: _Rank, need: Need) -> frozenset[int]:
        """Returns the members that have not come to this collective, the same set for all ranks in
        it."""
        comm = rank.comm(need)
        if comm is None:
            return frozenset()
        done = rank.collectives[comm.family, need.call]
        key = comm.family, comm.members[:1], len(comm.members), need.call, done
        if key not in self._absent:
            self._absent[key] = frozenset(
                member
                for member in comm.members
                if not _has_come(comm.family, need.call, done, self.ranks.get(member))
            )
        return self._absent[key]


def deadlocked(files: Sequence[RankFile]) -> tuple[int, ...]:
    """Returns the ranks of a deadlock, those that have ended as well; empty: none is proved."""
    ranks = {file.rank: _Rank(file, _blocked(file)) for file in files if file.rank is not None}
    job = _Job(ranks)
    stuck = {
        number: rank
        for number, rank in ranks.items()
        if rank.has_ended or (rank.last is not None and _is_known(rank))
    }
    while True:
        free = [number for number, rank in stuck.items() if not _is_stuck(rank, stuck, job)]
        if not free:
            break
        for number in free:
            del stuck[number]
    if all(rank.has_ended for rank in stuck.values()):
        return ()
    return tuple(sorted(_involved(stuck, job)))


def _blocked(file: RankFile) -> LastCall | None:
    """Returns the call of the only thread that calls MPI, if it goes on for long enough."""
    if len(file.last_calls) != 1:
        return None
    last = file.last_calls[0]
    return last if last.goes_on and last.seconds >= UNCHANGED_S else None


def _is_known(rank: _Rank) -> bool:
    """True if all that the call waits for is known."""
    if not rank.last or not rank.needs or rank.last.requests > len(rank.needs):
        return False
    return all(
        need.way != "unknown" and (comm := rank.comm(need)) and comm.members for need in rank.needs
    )


def _is_stuck(rank: _Rank, stuck: Mapping[int, _Rank], job: _Job) -> bool:
    if rank.has_ended:
        return True
    if len(rank.needs) == 1 and rank.needs[0].peer != ANY_SOURCE:
        return any(other in stuck for other in job.awaited(rank, rank.needs[0]))
    for need in rank.needs:
        others = job.awaited(rank, need)
        if not others or not all(other in stuck for other in others):
            return False
    return True


def _senders(rank: _Rank, need: Need) -> list[int]:
    comm = rank.comm(need)
    if need.peer == ANY_SOURCE:
        return [member for member in comm.members if member != rank.rank] if comm else []
    peer = world_rank(comm, need.peer)
    return [] if peer is None else [peer]


def _is_met(rank: _Rank, need: Need, other: _Rank | None) -> bool:
    """True if the other side of a message is there, or the message was sent."""
    if other is None:
        return False
    if need.way == "from" and _was_sent(rank, need, other):
        return True
    back = "to" if need.way == "from" else "from"
    for their in other.needs:
        is_theirs = their.way == back and other.family(their) == rank.family(need)
        peers = (world_rank(other.comm(their), their.peer), None)
        is_mine = rank.rank in peers or their.peer == ANY_SOURCE
        tags_match = None in (their.tag, need.tag) or their.tag == need.tag
        if is_theirs and is_mine and tags_match:
            return True
    return False


def _was_sent(rank: _Rank, need: Need, other: _Rank) -> bool:
    """True if more messages of this kind were sent than received."""
    if need.tag is None or need.peer == ANY_SOURCE:
        return False
    here = _messages(rank, rank.family(need), Counted.RECEIVED, other.rank, need.tag)
    there = _messages(other, rank.family(need), Counted.SENT, rank.rank, need.tag)
    if here is None or there is None:
        return False
    if rank.last and rank.last.requests:  # counted when they were posted
        here -= sum(each.way == "from" for each in rank.needs)
    return there > here


def _messages(rank: _Rank, family: int, way: int, peer: int, tag: int) -> int | None:
    """Returns the number of messages to or from a rank; None: they are not counted apart."""
    for channel in rank.file.channels:
        comm = rank.file.comms.get(channel.comm)
        alike = channel.way == way and channel.tags == tags_of(tag)
        if comm and comm.family == family and alike and world_rank(comm, channel.peer) == peer:
            return channel.count
    return None


def tags_of(tag: int) -> int:
    """Returns the group of a tag, as in profiler/messages.hpp."""
    for bits in (16, 8, 4):
        tag ^= tag >> bits
    return tag & 15


def _has_come(family: int, call: str, done: int, other: _Rank | None) -> bool:
    """True if another rank is in this collective, after `done` of its kind, or has left it."""
    if other is None:
        return False
    if any((other.family(their), their.call) == (family, call) for their in other.needs):
        return True
    return other.collectives[family, call] > done


def _involved(stuck: Mapping[int, _Rank], job: _Job) -> set[int]:
    """Returns the stuck ranks that wait, and those that they wait for."""
    involved = {number for number, rank in stuck.items() if not rank.has_ended}
    awaited = {
        frozenset(job.awaited(stuck[number], need))
        for number in involved
        for need in stuck[number].needs
    }
    return involved | {other for others in awaited for other in others if other in stuck}


def deadlock_in_words(files: Sequence[RankFile], ranks: Sequence[int]) -> str:
    """Returns a sentence about a deadlock of these ranks."""
    together: dict[str, list[int]] = {}
    members = set(ranks)
    for file in files:
        if file.rank is not None and file.rank in members:
            together.setdefault(_stands(file), []).append(file.rank)
    parts = []
    for stands, of in list(together.items())[:_MOST_PARTS]:
        parts.append(f"{ranks_in_words(of)} {'is' if len(of) == 1 else 'are'} {stands}")
    if len(together) > _MOST_PARTS:
        parts.append("others wait for these")
    return f"Deadlock: {listed(parts)}."


_MOST_PARTS = 4


def _stands(file: RankFile) -> str:
    last = next((each for each in file.last_calls if each.goes_on), None)
    if last is None:
        return "after MPI_Finalize"
    return f"in {last.call} {needs_in_words(file, last)}".strip()
