# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Splits the time in collectives into waiting for others, the operation, and disturbance.

Some calls are recorded with the times at which each rank entered and left them, the same calls on
all ranks (profiler/instances.hpp). All ranks wait for the last one in synchronizing collectives, or
for the root if it distributes data; the root waits for all ranks if it collects data. The rest is
the operation; rare times far longer than usual are disturbance, such as by a rank that lost its
core. totals.py extrapolates to calls that were not recorded; if all calls of a call site are of
collectives that could be split, its parts add up to its time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.clocks import Clocks
from mpigauge.products.profile.match.totals import (
    RARE,
    STEP_S,
    AllCalls,
    SampledCalls,
    Times,
    by_time,
    shared_out,
)
from mpigauge.products.profile.read.rank_file import Instances, RankFile, Site, Waits

WAIT = np.dtype(
    [
        *(("site", "u4"), ("rank", "u4"), ("calls", "f8"), ("kept", "u4"), ("seconds", "f8")),
        *((f"{part}{edge}_s", "f8")
          for part in ("waiting", "moving", "disturbed") for edge in ("", "_low", "_high")),
        *(("usual_s", "f8"), ("resolved", "?")),
    ]
)  # fmt: skip
"""The time of a spot on a rank in calls that could be split: the numbers of all and recorded calls,
their time and its three parts with 95 % intervals, the median of the operation alone, and whether
waiting is significantly longer than that."""
_Key = tuple[int, int, int, str, int]
"""The key of calls on all ranks: world, communicator (family and number of its list of members),
call, bin of sizes."""
LONG = 10.0
"""The factor over the usual operation, or waiting, above which rare times are disturbance."""
FLOOR_S = 20e-6
"""The least time of a disturbance."""
MOST_EARLY = 0.05
"""The maximum share of calls that a rank may leave before the last one arrives."""


@dataclass(frozen=True)
class CallGroup:
    """The recorded calls of one collective on one communicator and of one size, a row for each."""

    call: str
    comm: int
    """The number of the communicator in the file of its first rank."""
    bin: int
    """The bin of sizes, as in cells; layout.OTHER_SIZES: any."""
    calls: int
    waits: Waits
    ranks: npt.NDArray[np.int64]
    """The ranks of the profile, by their rank in the communicator."""
    spots: npt.NDArray[np.int64]
    """The spots by call and rank."""
    roots: npt.NDArray[np.int64]
    entered: Times
    left: Times
    seconds: Times
    """The seconds of all calls, by rank."""


@dataclass(frozen=True)
class Parts:
    """The parts of time by call and rank."""

    waiting: Times
    moving: Times
    disturbed: Times
    usual_s: float
    rare_s: Times
    """The time above which a call was disturbed, for its call site and rank."""


Split = tuple[CallGroup, Parts]
Place = tuple[int, int]
"""A spot and a rank."""
Joined = tuple[Sequence[int], Mapping[int, Instances]]
"""The ranks of the profile by rank in a communicator, and the calls recorded on all of them."""


@dataclass(frozen=True)
class KeptCalls:
    """The calls recorded on all ranks of a job, with one clock."""

    files: Sequence[RankFile]
    numbers: Sequence[Sequence[int]]
    """The numbers of spots, by rank and index in its sites."""
    joined: Sequence[Joined]
    clocks: Clocks


def kept_calls(files: Sequence[RankFile], numbers: Sequence[Sequence[int]]) -> KeptCalls:
    joined = list(_joined(files))
    shared = []
    for order, rows in joined:
        if rows[order[0]].waits == "all" and not rows[order[0]].is_later:
            shared.append((order, *_times(order, rows)))
    return KeptCalls(files, numbers, joined, Clocks.of(files, shared))


def split_calls(kept: KeptCalls) -> list[Split]:
    """Returns the groups of blocking collectives with their parts."""
    return [(kind, parts) for kind in kinds(kept) if (parts := split(kind))]


def waits(kept: KeptCalls, splits: Sequence[Split]) -> npt.NDArray[np.void]:
    """Returns the waits of all recorded calls, as records of WAIT."""
    samples: dict[Place, list[SampledCalls]] = defaultdict(list)
    for kind, parts in splits:
        for place, rank in enumerate(kind.ranks):
            for spot in np.unique(kind.spots[:, place]):
                samples[int(spot), int(rank)].append(_sample(kind, parts, place, int(spot)))
    whole = _all_calls(kept, [kind for kind, _ in splits])
    return np.array([wait(at, samples[at], whole.get(at)) for at in sorted(samples)], dtype=WAIT)


def _sample(kind: CallGroup, parts: Parts, place: int, spot: int) -> SampledCalls:
    """Returns the calls of the rank at this index; those of other spots have no parts."""
    here = kind.spots[:, place] == spot
    took = kind.left[:, place] - kind.entered[:, place]
    several = (parts.waiting, parts.moving, parts.disturbed)
    return SampledCalls(
        parts=np.stack([each[:, place] * here for each in several], axis=1),
        took=took,
        here=here,
        weight=np.full(len(took), kind.calls / len(took)),
        calls=kind.calls,
        seconds=float(kind.seconds[place]),
        usual_s=parts.usual_s,
        rare_s=float(parts.rare_s[here, place][0]),
    )


def wait(at: Place, samples: Sequence[SampledCalls], whole: AllCalls | None) -> tuple[float, ...]:
    """Returns the wait at a spot, as a record of WAIT. `whole`: all calls of the spot on the rank,
    if they are known separately."""
    total = by_time(samples, whole) if whole else shared_out(samples)
    kept = [int(each.here.sum()) for each in samples]
    usual = float(np.average([each.usual_s for each in samples], weights=kept))
    edges = np.stack([total.parts, total.low, total.high], axis=1)
    resolved = total.low[0] > usual * total.calls
    return (*at, total.calls, sum(kept), total.seconds, *edges.ravel(), usual, resolved)


def _all_calls(kept: KeptCalls, call_groups: Sequence[CallGroup]) -> dict[Place, AllCalls]:
    """Returns all calls of the spots on ranks that only have calls of these groups.

    The spots of calls in a group are only known for recorded calls. Connected spots and groups have
    the same number of calls if these spots have no other calls.
    """
    whole = {}
    for rank, file in enumerate(kept.files):
        sites: dict[int, list[Site]] = defaultdict(list)
        for spot, site in zip(kept.numbers[rank], file.sites, strict=True):
            sites[spot].append(site)
        for spots, calls in _connected(call_groups, rank):
            if sum(site.calls for spot in spots for site in sites[spot]) == calls:
                for spot in spots:
                    whole[spot, rank] = AllCalls.of(sites[spot], file.hz)
    return whole


def _connected(call_groups: Sequence[CallGroup], rank: int) -> list[tuple[set[int], int]]:
    """Returns connected spots of a rank, which share groups, and the calls of these groups."""
    groups: list[tuple[set[int], int]] = []
    for kind in call_groups:
        places = np.flatnonzero(kind.ranks == rank)
        if not len(places):
            continue
        spots, calls = set(map(int, kind.spots[:, places[0]])), kind.calls
        apart = []
        for others, theirs in groups:
            if spots & others:
                spots, calls = spots | others, calls + theirs
            else:
                apart.append((others, theirs))
        groups = [*apart, (spots, calls)]
    return groups


# --- from files to kinds -------------------------------------------------------------------


def kinds(kept: KeptCalls) -> Iterator[CallGroup]:
    """Yields blocking collectives with calls recorded on all ranks of the communicator."""
    for order, rows in kept.joined:
        first = rows[order[0]]
        if len(first.records) and not first.is_later:
            yield _kind(kept, order, rows)


def _joined(files: Sequence[RankFile]) -> Iterator[Joined]:
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
            yield order, _common(by_rank)


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


def _common(by_rank: Mapping[int, Instances]) -> dict[int, Instances]:
    """Returns the calls that are recorded on all ranks."""
    level = max(each.level for each in by_rank.values())
    first = max(each.first for each in by_rank.values())
    indices = None
    for each in by_rank.values():
        own = each.records["index"]
        own = own[(own >= first) & is_kept(own, level)]
        indices = own if indices is None else np.intersect1d(indices, own)
    return {rank: each.only(indices) for rank, each in by_rank.items()}


def _times(
    order: Sequence[int], rows: Mapping[int, Instances]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Returns the ticks of entry and exit, by call and rank."""
    entered = np.stack([rows[rank].records["entered"] for rank in order], axis=1)
    return entered, np.stack([rows[rank].records["left"] for rank in order], axis=1)


def _kind(kept: KeptCalls, order: Sequence[int], rows: Mapping[int, Instances]) -> CallGroup:
    first = rows[order[0]]
    entered, left = _times(order, rows)
    sites = {rank: rows[rank].records["site"] for rank in order}
    return CallGroup(
        call=first.call,
        comm=first.comm,
        bin=first.bin,
        calls=first.count,
        waits=first.waits,
        ranks=np.array(order),
        spots=np.stack([np.asarray(kept.numbers[rank])[sites[rank]] for rank in order], axis=1),
        roots=first.records["root"].astype(np.int64),
        entered=kept.clocks.seconds(order, entered),
        left=kept.clocks.seconds(order, left),
        seconds=np.array([rows[rank].seconds for rank in order]),
    )


def is_kept(indices: npt.NDArray[np.integer], level: int) -> npt.NDArray[np.bool_]:
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


# --- the parts of a call -------------------------------------------------------------------


def split(kind: CallGroup) -> Parts | None:
    """Splits a group; None: the times are inconsistent, as if ranks recorded different calls."""
    entered, took = kind.entered, kind.left - kind.entered
    waiting = np.clip(lateness(kind), 0, took)
    if kind.waits == "all":
        early = kind.left < entered.max(axis=1, keepdims=True) - STEP_S
        if early.any(axis=1).mean() > MOST_EARLY:
            return None
    alone = took - waiting
    usual = float(np.median(alone))
    waited, moving, rare_s = (np.zeros_like(took) for _ in range(3))
    for place, spots in enumerate(kind.spots.T):
        for spot in np.unique(spots):
            at = spots == spot, place
            moving[at] = without_rare(alone[at], usual)[0]
            waited[at] = without_rare(waiting[at], usual)[0]
            rare_s[at] = most_usual(alone[at], usual) + most_usual(waiting[at], usual)
    return Parts(waited, moving, took - moving - waited, usual, rare_s)


def lateness(kind: CallGroup) -> Times:
    """Returns how much later than each rank the ranks arrived for which it waits."""
    entered = kind.entered
    rows = np.arange(len(entered))
    if kind.waits == "all":
        return np.asarray(entered.max(axis=1, keepdims=True) - entered)
    if kind.waits == "for_root":
        return np.asarray(entered[rows, kind.roots][:, None] - entered)
    late = np.zeros_like(entered)
    late[rows, kind.roots] = entered.max(axis=1) - entered[rows, kind.roots]
    return late


def without_rare(times: Times, usual: float) -> tuple[Times, Times]:
    """Returns times of one call site on one rank without disturbance, and the disturbance."""
    kept = np.where(times > most_usual(times, usual), np.median(times), times)
    return kept, times - kept


def most_usual(times: Times, usual: float) -> float:
    """Returns the time above which a rare time is disturbance."""
    return float(LONG * np.quantile(times, 1 - RARE)) + max(LONG * usual, FLOOR_S)
