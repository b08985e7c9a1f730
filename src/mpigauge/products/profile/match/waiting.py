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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.kept import CallGroup, KeptCalls, OwnCalls, Starts
from mpigauge.products.profile.match.totals import (
    RARE,
    STEP_S,
    AllCalls,
    SampledCalls,
    Times,
    by_time,
    shared_out,
)
from mpigauge.products.profile.read.rank_file import Site

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
LONG = 10.0
"""The factor over the usual operation, or waiting, above which rare times are disturbance."""
FLOOR_S = 20e-6
"""The least time of a disturbance."""
MOST_EARLY = 0.05
"""The maximum share of calls that a rank may leave before the last one arrives."""


@dataclass(frozen=True)
class Split:
    """A group of blocking collectives whose time can be split."""

    group: CallGroup
    starts: Starts
    """The entries of ranks."""
    usual_s: float
    """The median of the operation alone."""


@dataclass(frozen=True)
class OwnSplit:
    """The recorded calls of a group on one rank."""

    split: Split
    spots: npt.NDArray[np.int64]
    entered: Times
    took: Times
    waiting: Times
    seconds: float
    """The seconds of all calls of the group."""


Place = tuple[int, int]
"""A spot and a rank."""
Places = Mapping[int, Sequence[tuple[int, Split]]]
"""The groups by rank of the profile, with its rank in the communicator of each."""


def places_of(splits: Sequence[Split]) -> Places:
    """Returns the places of ranks in these groups."""
    places: dict[int, list[tuple[int, Split]]] = defaultdict(list)
    for split in splits:
        for place, rank in enumerate(split.group.order):
            places[rank].append((place, split))
    return places


def own_splits(own: OwnCalls, places: Places) -> list[OwnSplit]:
    """Returns the recorded calls of a rank whose time is split."""
    calls = []
    for place, split in places.get(own.rank, ()):
        instances = split.group.rows[own.rank]
        records = split.group.common(own.records(instances))
        entered = own.seconds(records["entered"])
        took = own.seconds(records["left"]) - entered
        waiting = np.clip(split.starts.ready(place, entered) - entered, 0, took)
        spots = own.numbers[records["site"]]
        calls.append(OwnSplit(split, spots, entered, took, waiting, instances.seconds))
    return calls


def waits(own: OwnCalls, calls: Sequence[OwnSplit]) -> npt.NDArray[np.void]:
    """Returns the waits of a rank in these calls, as records of WAIT."""
    samples: dict[int, list[SampledCalls]] = defaultdict(list)
    for each in calls:
        for spot in np.unique(each.spots):
            samples[int(spot)].append(_sample(each, int(spot)))
    whole = _all_calls(own, calls)
    rows = [wait((spot, own.rank), samples[spot], whole.get(spot)) for spot in sorted(samples)]
    return np.array(rows, dtype=WAIT)


def _sample(calls: OwnSplit, spot: int) -> SampledCalls:
    """Returns the calls of a group; those of other spots have no parts."""
    here = calls.spots == spot
    usual, took = calls.split.usual_s, calls.took
    alone = took - calls.waiting
    waited, moving = np.zeros_like(took), np.zeros_like(took)
    waited[here] = without_rare(calls.waiting[here], usual)[0]
    moving[here] = without_rare(alone[here], usual)[0]
    disturbed = (took - moving - waited) * here
    count = calls.split.group.first.count
    return SampledCalls(
        parts=np.stack([waited, moving, disturbed], axis=1),
        took=took,
        here=here,
        weight=np.full(len(took), count / len(took)),
        calls=count,
        seconds=calls.seconds,
        usual_s=usual,
        rare_s=most_usual(alone[here], usual) + most_usual(calls.waiting[here], usual),
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


def _all_calls(own: OwnCalls, calls: Sequence[OwnSplit]) -> dict[int, AllCalls]:
    """Returns all calls of the spots that only have calls of these groups.

    The spots of calls in a group are only known for recorded calls. Connected spots and groups have
    the same number of calls if these spots have no other calls.
    """
    sites: dict[int, list[Site]] = defaultdict(list)
    for spot, site in zip(own.numbers, own.file.sites, strict=True):
        sites[int(spot)].append(site)
    whole = {}
    for spots, count in _connected(calls):
        if sum(site.calls for spot in spots for site in sites[spot]) == count:
            for spot in spots:
                whole[spot] = AllCalls.of(sites[spot], own.file.hz)
    return whole


def _connected(calls: Sequence[OwnSplit]) -> list[tuple[set[int], int]]:
    """Returns connected spots, which share groups, and the calls of these groups."""
    groups: list[tuple[set[int], int]] = []
    for each in calls:
        spots, count = set(np.unique(each.spots).tolist()), each.split.group.first.count
        apart = []
        for others, theirs in groups:
            if spots & others:
                spots, count = spots | others, count + theirs
            else:
                apart.append((others, theirs))
        groups = [*apart, (spots, count)]
    return groups


# --- the parts of a call -------------------------------------------------------------------


def split_calls(kept: KeptCalls, group: CallGroup) -> tuple[Split, Times] | None:
    """Splits a group of blocking collectives. Returns it with the entries by rank and call, which
    are too large to be kept for all groups. None: no call is recorded on all ranks, or the times
    are inconsistent, as if ranks recorded different calls."""
    if group.first.is_later or not len(group.indices):
        return None
    entered, left = kept.times(group, "entered")
    starts = Starts.of(group, entered)
    if starts.waits == "all":
        early = left < starts.last_s - STEP_S
        if early.any(axis=0).mean() > MOST_EARLY:
            return None
    alone = left
    for place, own in enumerate(entered):
        took = left[place] - own
        alone[place] = took - np.clip(starts.ready(place, own) - own, 0, took)
    return Split(group, starts, float(np.median(alone, overwrite_input=True))), entered


def without_rare(times: Times, usual: float) -> tuple[Times, Times]:
    """Returns times of one call site on one rank without disturbance, and the disturbance."""
    kept = np.where(times > most_usual(times, usual), np.median(times), times)
    return kept, times - kept


def most_usual(times: Times, usual: float) -> float:
    """Returns the time above which a rare time is disturbance."""
    return float(LONG * np.quantile(times, 1 - RARE)) + max(LONG * usual, FLOOR_S)
