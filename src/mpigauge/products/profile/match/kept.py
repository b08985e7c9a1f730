# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the calls that are recorded on all ranks of a communicator, on one clock.

Records are most of the files of ranks, and stay there: they are read for the calls of one group on
all its ranks, or for all calls of one rank, and dropped before the next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.clocks import Clocks, Left
from mpigauge.products.profile.match.totals import Times
from mpigauge.products.profile.read.rank_file import Channel, Instances, RankFile, Waits

Indices = npt.NDArray[np.integer]
_Key = tuple[int, int, int, str, int]
"""The key of calls on all ranks: world, communicator (family and number of its list of members),
call, bin of sizes."""


@dataclass(frozen=True)
class CallGroup:
    """Calls of one collective on one communicator and of one size, made by all its ranks."""

    order: Sequence[int]
    """The ranks of the profile, by their rank in the communicator."""
    rows: Mapping[int, Instances]
    """The calls of each of these ranks."""
    level: int
    """The highest sampling level of a rank."""
    indices: Indices
    """The indices of the calls that are recorded on all ranks."""

    @property
    def first(self) -> Instances:
        """The calls of the first rank."""
        return self.rows[self.order[0]]

    def common(self, records: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        """Returns the records of a rank of calls that are recorded on all ranks."""
        return records[np.isin(records["index"], self.indices)]

    def read(self, rank: int) -> npt.NDArray[np.void]:
        """Reads the records of a rank of calls that are recorded on all ranks."""
        return self.common(self.rows[rank].records())


@dataclass(frozen=True)
class KeptCalls:
    """The calls recorded on all ranks of a job, with one clock."""

    files: Sequence[RankFile]
    numbers: Sequence[Sequence[int]]
    """The numbers of spots, by rank and index in its sites."""
    groups: Sequence[CallGroup]
    clocks: Clocks

    def times(self, group: CallGroup, start: Literal["entered", "posted"]) -> tuple[Times, Times]:
        """Reads the starts and the ends of a group's calls, in seconds by rank and call."""
        starts, ends = (np.empty((len(group.order), len(group.indices))) for _ in range(2))
        for place, rank in enumerate(group.order):
            records = group.read(rank)
            starts[place] = self.clocks.seconds(rank, records[start])
            ends[place] = self.clocks.seconds(rank, records["left"])
        return starts, ends


@dataclass(frozen=True)
class Starts:
    """The starts of each call of a group on the ranks for which others wait."""

    waits: Waits
    roots: npt.NDArray[np.int64]
    last_s: Times
    """The start of the last rank."""
    root_s: Times
    """The start of the root; of a collective without one the start of the last rank."""

    @classmethod
    def of(cls, group: CallGroup, starts_s: Times) -> Starts:
        """`starts_s`: the starts by rank and call."""
        waits, roots = group.first.waits, group.read(group.order[0])["root"].astype(np.int64)
        last_s = starts_s.max(axis=0)
        root_s = last_s if waits == "all" else starts_s[roots, np.arange(len(roots))]
        return cls(waits, roots, last_s, root_s)

    def ready(self, place: int, own_s: Times) -> Times:
        """Returns when all had started for which a rank waits. `place`: its rank in the
        communicator, and `own_s` its own starts."""
        if self.waits == "all":
            return self.last_s
        if self.waits == "for_root":
            return self.root_s
        return np.where(self.roots == place, self.last_s, own_s)


class OwnCalls:
    """The recorded calls of one rank, each read once."""

    def __init__(self, kept: KeptCalls, rank: int) -> None:
        self.rank, self.file, self._clocks = rank, kept.files[rank], kept.clocks
        self.numbers = np.asarray(kept.numbers[rank], dtype=np.int64)
        """The numbers of spots, by index in the sites of the file."""
        self._records: dict[int, npt.NDArray[np.void]] = {}

    def records(self, each: Instances | Channel) -> npt.NDArray[np.void]:
        """Returns the records of calls of the rank's file."""
        if id(each) not in self._records:
            self._records[id(each)] = each.records()
        return self._records[id(each)]

    def seconds(self, ticks: npt.NDArray[np.uint64]) -> Times:
        return self._clocks.seconds(self.rank, ticks)


def kept_calls(files: Sequence[RankFile], numbers: Sequence[Sequence[int]]) -> KeptCalls:
    groups = list(_groups(files))
    shared = (
        _left(each) for each in groups if each.first.waits == "all" and not each.first.is_later
    )
    return KeptCalls(files, numbers, groups, Clocks.of(files, shared))


def _left(group: CallGroup) -> Left:
    return group.order, np.stack([group.read(rank)["left"] for rank in group.order], axis=1)


def _groups(files: Sequence[RankFile]) -> Iterator[CallGroup]:
    together: dict[_Key, dict[int, Instances]] = defaultdict(dict)
    lists = _MemberLists()
    for rank, file in enumerate(files):
        for each in file.instances:
            comm = file.comms.get(each.comm)
            if comm is not None and comm.members:
                key = (file.job, comm.family, lists.number(comm.members), each.call, each.bin)
                together[key][rank] = each
    for by_rank in together.values():
        order = _ranks_of(files, by_rank)
        rank, each = next(iter(by_rank.items()))
        if len(order) == len(by_rank) == len(files[rank].comms[each.comm].members):
            level = max(each.level for each in by_rank.values())
            yield CallGroup(order, by_rank, level, _common_indices(by_rank, level))


class _MemberLists:
    """The lists of members of communicators, equal ones by one number. A list that files share is
    hashed once, not for each rank and each kind of call, since all ranks list all ranks."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {}
        self._by_identity: dict[int, tuple[tuple[int, ...], int]] = {}
        """Numbers by the identity of a list, which is kept, as another one could get it."""

    def number(self, members: tuple[int, ...]) -> int:
        """Returns the number of a list."""
        entry = self._by_identity.get(id(members))
        if entry is None:
            entry = members, self._numbers.setdefault(members, len(self._numbers))
            self._by_identity[id(members)] = entry
        return entry[1]


def _ranks_of(files: Sequence[RankFile], by_rank: Mapping[int, Instances]) -> list[int]:
    """Returns the ranks of the profile by their rank in the communicator."""
    places = {files[rank].comms[each.comm].rank: rank for rank, each in by_rank.items()}
    return [places[place] for place in sorted(places)]


def _common_indices(by_rank: Mapping[int, Instances], level: int) -> Indices:
    """Returns the indices of the calls that are recorded on all ranks."""
    first = max(each.first for each in by_rank.values())
    indices: Indices | None = None
    for each in by_rank.values():
        own = each.records()["index"]
        if indices is None:
            indices = own[(own >= first) & is_kept(own, level)]
        elif not np.array_equal(indices, own):
            indices = np.intersect1d(indices, own)
    return np.empty(0, np.uint32) if indices is None else indices


def is_kept(indices: Indices, level: int) -> npt.NDArray[np.bool_]:
    """Returns a mask of calls that are recorded at a level, as in profiler/instances.hpp."""
    block = indices.astype(np.uint64) >> np.uint64(level)
    for step in range(level, 0, -1):
        drawn = _mixed(_mixed(block + np.uint64(1)) ^ np.uint64(step))
        block = block * np.uint64(2) + ((drawn >> np.uint64(20)) & np.uint64(1))
    return np.asarray(block == indices)


def _mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        words = words * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(words ^ (words >> np.uint64(32)), dtype=np.uint64)
