# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Separates waiting for others in receives, and in calls that wait for requests.

Both sides of a message number it independently (profiler/messages.hpp), and record the same ones:
the sender the time of sending, the receiver its call that waited. A message that was sent before
the receiver waits causes no waiting; the rest of the call is the operation. A nonblocking
collective is ready when the last rank has started it.

A call may wait for several of these. It is split by the last, if all of them are recorded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.kept import CallGroup, KeptCalls, OwnCalls, Starts, is_kept
from mpigauge.products.profile.match.totals import STEP_S, AllCalls, SampledCalls
from mpigauge.products.profile.match.waiting import (
    MOST_EARLY,
    WAIT,
    most_usual,
    wait,
    without_rare,
)
from mpigauge.products.profile.read.layout import Counted
from mpigauge.products.profile.read.rank_file import Channel, RankFile

NEED = np.dtype(
    [
        *(("thread", "u4"), ("spot", "u4"), ("needs", "u4"), ("weight", "f8")),
        *(("at", "u8"), ("entered", "f8"), ("left", "f8"), ("ready", "f8")),
    ]
)
"""One thing that a call waited for: the call (by its thread and counter at entry), the number of
such things, the calls it represents, its entry and exit, and when the thing was started."""
LEAST_CALLS = 8
"""The least number of recorded calls for a result."""
NEARLY_ALL = 0.9
"""The share of a site's calls that recorded ones must represent to stand for all."""
_ChannelKey = tuple[int, int, int, int, int]
"""The world, the family of the communicator, the ranks of sender and receiver in it, and tags."""


@dataclass(frozen=True)
class OthersCalls:
    """The calls of other ranks that calls wait for which complete messages or requests."""

    kept: KeptCalls
    sent: Mapping[_ChannelKey, tuple[int, Channel]]
    """The sides of senders, with their ranks."""
    started: Mapping[int, Sequence[tuple[int, CallGroup, Starts]]]
    """The nonblocking collectives by rank of the profile, with its ranks in communicators."""


def others_calls(kept: KeptCalls) -> OthersCalls:
    sent = {}
    for rank, file in enumerate(kept.files):
        for key, channel in _channels(file, Counted.SENT):
            sent[key] = rank, channel
    started: dict[int, list[tuple[int, CallGroup, Starts]]] = defaultdict(list)
    for group in kept.groups:
        starts = _started(kept, group)
        if starts is not None:
            for place, rank in enumerate(group.order):
                started[rank].append((place, group, starts))
    return OthersCalls(kept, sent, started)


def completing_calls(own: OwnCalls, others: OthersCalls) -> npt.NDArray[np.void]:
    """Returns the recorded calls of a rank that complete messages or requests, as records of NEED,
    in the order of thread and entry."""
    messages, collectives = _of_messages(own, others), _of_collectives(own, others)
    return _calls(np.concatenate([np.empty(0, NEED), *messages, *collectives]))


def later_waits(own: OwnCalls, calls: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Returns the waits of a rank in these calls, which complete messages or requests, as records
    of WAIT."""
    rows = []
    for spot in np.unique(calls["spot"]):
        calls_of_spot = calls[calls["spot"] == spot]
        if len(calls_of_spot) >= LEAST_CALLS:
            rows.append(_row(own, int(spot), calls_of_spot))
    return np.array(rows, dtype=WAIT)


def _row(own: OwnCalls, spot: int, calls: npt.NDArray[np.void]) -> tuple[float, ...]:
    """Returns the wait of a call site, by the parts of its recorded calls."""
    took = calls["left"] - calls["entered"]
    waiting = np.clip(calls["ready"] - calls["entered"], 0, took)
    alone = took - waiting
    usual = float(np.median(alone))
    moving, long_moving = without_rare(alone, usual)
    waited, long_waited = without_rare(waiting, usual)
    sites = []
    for site, number in zip(own.file.sites, own.numbers, strict=True):
        if number == spot:
            sites.append(site)
    whole = AllCalls.of(sites, own.file.hz)
    stands_for = float(calls["weight"].sum())
    is_whole = stands_for >= NEARLY_ALL * whole.calls  # the others waited for what was sent
    sample = SampledCalls(
        parts=np.stack([waited, moving, long_moving + long_waited], axis=1),
        took=took,
        here=np.ones(len(calls), dtype=bool),
        weight=calls["weight"],
        calls=stands_for,
        seconds=min(whole.seconds, float((took * calls["weight"]).sum())),
        usual_s=usual,
        rare_s=most_usual(alone, usual) + most_usual(waiting, usual),
    )
    return wait((spot, own.rank), [sample], whole if is_whole else None)


def _calls(needs: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Returns a row for each call all of whose needs are recorded; it is ready with the last."""
    if not len(needs):
        return needs
    needs = needs[np.lexsort([needs["at"], needs["thread"]])]
    is_first = np.ones(len(needs), dtype=bool)
    is_first[1:] = needs["at"][1:] != needs["at"][:-1]
    is_first[1:] |= needs["thread"][1:] != needs["thread"][:-1]
    starts = np.flatnonzero(is_first)
    calls = needs[starts]
    calls["ready"] = np.maximum.reduceat(needs["ready"], starts)
    calls["weight"] = np.maximum.reduceat(needs["weight"], starts)
    counts = np.diff(starts, append=len(needs))
    return np.asarray(calls[counts == calls["needs"]])


# --- messages --------------------------------------------------------------------------------


def _of_messages(own: OwnCalls, others: OthersCalls) -> Iterator[npt.NDArray[np.void]]:
    for key, channel in _channels(own.file, Counted.RECEIVED):
        if key in others.sent:
            yield _of_channel(own, channel, others, *others.sent[key])


def _channels(file: RankFile, way: Counted) -> Iterator[tuple[_ChannelKey, Channel]]:
    for channel in file.channels:
        comm = file.comms.get(channel.comm)
        if comm is None or channel.way != way:
            continue
        ends = (comm.rank, channel.peer)
        sender, receiver = ends if way == Counted.SENT else ends[::-1]
        yield (file.job, comm.family, sender, receiver, channel.tags), channel


def _of_channel(
    own: OwnCalls, into: Channel, others: OthersCalls, sender: int, out: Channel
) -> npt.NDArray[np.void]:
    """Returns the needs of a channel; none if its two sides disagree in counts, tags or times."""
    none = np.empty(0, NEED)
    if out.count != into.count:
        return none
    level = max(out.level, into.level)
    theirs, received = _on_level(out.records(), level), _on_level(own.records(into), level)
    places = np.searchsorted(theirs["index"], received["index"])
    there = places < len(theirs)
    there[there] = theirs["index"][places[there]] == received["index"][there]
    received, theirs = received[there], theirs[places[there]]
    if not len(received) or (received["root"] != theirs["root"]).any():
        return none
    clocks = others.kept.clocks
    needs = _needs(own, received, level)
    needs["ready"] = clocks.seconds(sender, theirs["posted"])
    if (needs["left"] < needs["ready"] - STEP_S).mean() > MOST_EARLY:
        return none
    low, high = clocks.span(sender, own.rank)
    return np.asarray(needs[(needs["left"] >= low) & (needs["left"] <= high)])


def _on_level(records: npt.NDArray[np.void], level: int) -> npt.NDArray[np.void]:
    return np.asarray(records[is_kept(records["index"], level)])


def _needs(own: OwnCalls, records: npt.NDArray[np.void], level: int) -> npt.NDArray[np.void]:
    """Returns the needs of a rank's records, without `ready`."""
    needs = np.zeros(len(records), NEED)
    needs["spot"] = own.numbers[records["site"]]
    needs["weight"] = 2.0**level
    needs["at"] = records["entered"]
    for name in ("thread", "needs"):
        needs[name] = records[name]
    for name in ("entered", "left"):
        needs[name] = own.seconds(records[name])
    return needs


# --- collectives -----------------------------------------------------------------------------


def _started(kept: KeptCalls, group: CallGroup) -> Starts | None:
    """Returns the starts of a nonblocking collective. None: it is a blocking one, or too many calls
    ended before the last rank started."""
    if not group.first.is_later or not len(group.indices):
        return None
    posted, left = kept.times(group, "posted")
    starts = Starts.of(group, posted)
    early = np.zeros(len(group.indices), dtype=bool)
    for place, own in enumerate(posted):
        early |= left[place] < starts.ready(place, own) - STEP_S
    return starts if early.mean() <= MOST_EARLY else None


def _of_collectives(own: OwnCalls, others: OthersCalls) -> Iterator[npt.NDArray[np.void]]:
    """Yields the needs of nonblocking collectives."""
    for place, group, starts in others.started.get(own.rank, ()):
        records = group.common(own.records(group.rows[own.rank]))
        needs = _needs(own, records, group.level)
        needs["ready"] = starts.ready(place, own.seconds(records["posted"]))
        yield needs
