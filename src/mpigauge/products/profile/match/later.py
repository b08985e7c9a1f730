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

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.totals import STEP_S, AllCalls, SampledCalls, Times
from mpigauge.products.profile.match.waiting import (
    MOST_EARLY,
    WAIT,
    KeptCalls,
    is_kept,
    most_usual,
    wait,
    without_rare,
)
from mpigauge.products.profile.read.layout import Counted
from mpigauge.products.profile.read.rank_file import Channel, Instances, RankFile

NEED = np.dtype(
    [
        *(("rank", "u4"), ("thread", "u4"), ("spot", "u4"), ("needs", "u4"), ("weight", "f8")),
        *(("at", "u8"), ("entered", "f8"), ("left", "f8"), ("ready", "f8")),
    ]
)
"""One thing that a call waited for: the call (by its rank, thread and counter at entry), the number
of such things, the calls it represents, its entry and exit, and when the thing was started."""
LEAST_CALLS = 8
"""The least number of recorded calls for a result."""
NEARLY_ALL = 0.9
"""The share of a site's calls that recorded ones must represent to stand for all."""
_ChannelKey = tuple[int, int, int, int]
"""The family of the communicator, the ranks of sender and receiver in it, and tags."""


def later_waits(kept: KeptCalls) -> npt.NDArray[np.void]:
    """Returns the waits in calls that complete messages or requests, as records of WAIT."""
    calls = completing_calls(kept)
    groups = (own for own in _apart(calls, "spot", "rank") if len(own) >= LEAST_CALLS)
    return np.array([_row(kept, own) for own in groups], dtype=WAIT)


def completing_calls(kept: KeptCalls) -> npt.NDArray[np.void]:
    """Returns the recorded calls that complete messages or requests, as records of NEED."""
    needs = np.concatenate([np.empty(0, NEED), *_of_messages(kept), *_of_collectives(kept)])
    return _calls(needs)


def _row(kept: KeptCalls, own: npt.NDArray[np.void]) -> tuple[float, ...]:
    """Returns the wait of a call site on one rank, by the parts of its recorded calls."""
    spot, rank = int(own["spot"][0]), int(own["rank"][0])
    took = own["left"] - own["entered"]
    waiting = np.clip(own["ready"] - own["entered"], 0, took)
    alone = took - waiting
    usual = float(np.median(alone))
    moving, long_moving = without_rare(alone, usual)
    waited, long_waited = without_rare(waiting, usual)
    sites = []
    for site, number in zip(kept.files[rank].sites, kept.numbers[rank], strict=True):
        if number == spot:
            sites.append(site)
    whole = AllCalls.of(sites, kept.files[rank].hz)
    stands_for = float(own["weight"].sum())
    is_whole = stands_for >= NEARLY_ALL * whole.calls  # the others waited for what was sent
    sample = SampledCalls(
        parts=np.stack([waited, moving, long_moving + long_waited], axis=1),
        took=took,
        here=np.ones(len(own), dtype=bool),
        weight=own["weight"],
        calls=stands_for,
        seconds=min(whole.seconds, float((took * own["weight"]).sum())),
        usual_s=usual,
        rare_s=most_usual(alone, usual) + most_usual(waiting, usual),
    )
    return wait((spot, rank), [sample], whole if is_whole else None)


def _calls(needs: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Returns a row for each call all of whose needs are recorded; it is ready with the last."""
    if not len(needs):
        return needs
    needs, starts = _sorted(needs, "at", "thread", "rank")
    calls = needs[starts]
    calls["ready"] = np.maximum.reduceat(needs["ready"], starts)
    calls["weight"] = np.maximum.reduceat(needs["weight"], starts)
    counts = np.diff(starts, append=len(needs))
    return np.asarray(calls[counts == calls["needs"]])


def _apart(rows: npt.NDArray[np.void], *names: str) -> list[npt.NDArray[np.void]]:
    """Returns groups of rows that are equal in these columns."""
    if not len(rows):
        return []
    ordered, starts = _sorted(rows, *names)
    return np.split(ordered, starts[1:])


def _sorted(
    rows: npt.NDArray[np.void], *names: str
) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
    """Returns the rows sorted by these columns, and the starts of groups."""
    ordered = rows[np.lexsort([rows[name] for name in names])]
    changes = np.zeros(len(rows), dtype=bool)
    changes[:1] = True
    for name in names:
        changes[1:] |= ordered[name][1:] != ordered[name][:-1]
    return ordered, np.flatnonzero(changes)


# --- messages --------------------------------------------------------------------------------


def _of_messages(kept: KeptCalls) -> Iterator[npt.NDArray[np.void]]:
    sent = dict(_channels(kept.files, Counted.SENT))
    for key, (rank, channel) in _channels(kept.files, Counted.RECEIVED):
        if key in sent:
            yield _of_channel(kept, sent[key], (rank, channel))


def _channels(
    files: Sequence[RankFile], way: Counted
) -> Iterator[tuple[tuple[int, _ChannelKey], tuple[int, Channel]]]:
    for rank, file in enumerate(files):
        for channel in file.channels:
            comm = file.comms.get(channel.comm)
            if comm is None or channel.way != way:
                continue
            ends = (comm.rank, channel.peer)
            sender, receiver = ends if way == Counted.SENT else ends[::-1]
            yield (file.job, (comm.family, sender, receiver, channel.tags)), (rank, channel)


def _of_channel(
    kept: KeptCalls, sent: tuple[int, Channel], received: tuple[int, Channel]
) -> npt.NDArray[np.void]:
    """Returns the needs of a channel; none if its two sides disagree in counts, tags or times."""
    none = np.empty(0, NEED)
    (sender, out), (receiver, into) = sent, received
    if out.count != into.count:
        return none
    level = max(out.level, into.level)
    theirs, own = _on_level(out.records, level), _on_level(into.records, level)
    places = np.searchsorted(theirs["index"], own["index"])
    there = places < len(theirs)
    there[there] = theirs["index"][places[there]] == own["index"][there]
    own, theirs = own[there], theirs[places[there]]
    if not len(own) or (own["root"] != theirs["root"]).any():
        return none
    made = _needs(kept, receiver, own, level)
    made["ready"] = kept.clocks.seconds([sender], theirs["posted"][:, None])[:, 0]
    if (made["left"] < made["ready"] - STEP_S).mean() > MOST_EARLY:
        return none
    low, high = kept.clocks.span(sender, receiver)
    return np.asarray(made[(made["left"] >= low) & (made["left"] <= high)])


def _on_level(records: npt.NDArray[np.void], level: int) -> npt.NDArray[np.void]:
    return np.asarray(records[is_kept(records["index"], level)])


def _needs(
    kept: KeptCalls, rank: int, records: npt.NDArray[np.void], level: int
) -> npt.NDArray[np.void]:
    """Returns the needs of a rank's records, without `ready`."""
    made = np.zeros(len(records), NEED)
    made["rank"] = rank
    made["spot"] = np.asarray(kept.numbers[rank])[records["site"]]
    made["weight"] = 2.0**level
    made["at"] = records["entered"]
    for name in ("thread", "needs"):
        made[name] = records[name]
    for name in ("entered", "left"):
        made[name] = kept.clocks.seconds([rank], records[name][:, None])[:, 0]
    return made


# --- collectives -----------------------------------------------------------------------------


def _of_collectives(kept: KeptCalls) -> Iterator[npt.NDArray[np.void]]:
    """Yields the needs of nonblocking collectives."""
    for order, rows in kept.joined:
        if rows[order[0]].is_later and len(rows[order[0]].records):
            yield from _of_collective(kept, order, rows)


def _of_collective(
    kept: KeptCalls, order: Sequence[int], rows: Mapping[int, Instances]
) -> Iterator[npt.NDArray[np.void]]:
    posted = kept.clocks.seconds(
        order, np.stack([rows[rank].records["posted"] for rank in order], axis=1)
    )
    ready = _ready(rows[order[0]], posted)
    level = max(rows[rank].level for rank in order)
    made = [_needs(kept, rank, rows[rank].records, level) for rank in order]
    for place, each in enumerate(made):
        each["ready"] = ready[:, place]
    left = np.stack([each["left"] for each in made], axis=1)
    if (left < ready - STEP_S).any(axis=1).mean() <= MOST_EARLY:
        yield from made


def _ready(first: Instances, posted: Times) -> Any:
    """Returns when all ranks for which a rank waits had started, by call and rank."""
    if first.waits == "all":
        return np.broadcast_to(posted.max(axis=1, keepdims=True), posted.shape)
    calls = np.arange(len(posted))
    roots = first.records["root"].astype(np.int64)
    if first.waits == "for_root":
        return np.broadcast_to(posted[calls, roots][:, None], posted.shape)
    ready = posted.copy()
    ready[calls, roots] = posted.max(axis=1)
    return ready
