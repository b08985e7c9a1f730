# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How much of receives, and of calls that wait for requests, was waiting for others.

Both sides of a message number it by themselves (profiler/messages.hpp), and keep the same ones: the
sender when it sent them, the receiver when it was in the call that waited for them. What is begun
before the receiver waits was not waited for; the rest of the call is the operation. A collective
that is waited for by its request is begun when the last rank has begun it.

A call may wait for several of them. It is split where all of them are kept, by the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mpigauge.features.profile.files import Channel, Instances, RankFile
from mpigauge.features.profile.layout import Counted
from mpigauge.features.profile.totals import STEP_S, AllCalls, SampledCalls, Times
from mpigauge.features.profile.waiting import (
    MOST_EARLY,
    WAIT,
    KeptCalls,
    is_kept,
    most_usual,
    wait,
    without_rare,
)

NEED = np.dtype(
    [
        *(("rank", "u4"), ("thread", "u4"), ("spot", "u4"), ("needs", "u4"), ("weight", "f8")),
        *(("at", "u8"), ("entered", "f8"), ("left", "f8"), ("ready", "f8")),
    ]
)
"""What a call waited for: the call, by the counter at its entry, of how many such, for how many
calls it stands; when the call was entered and left, and when what it waited for had been begun."""
LEAST_CALLS = 8
"""Of fewer kept ones nothing is said."""
NEARLY_ALL = 0.9
"""Of the calls of a site: where the kept ones stand for fewer, the others are not like them."""
_ChannelKey = tuple[int, int, int, int]
"""Family of the communicator, ranks of the sender and the receiver in it, tags."""


def later_waits(kept: KeptCalls) -> npt.NDArray[np.void]:
    """Waits that ended in a later call, as records of WAIT."""
    needs = np.concatenate([np.empty(0, NEED), *_of_messages(kept), *_of_collectives(kept)])
    calls = _calls(needs)
    groups = (own for own in _apart(calls, "spot", "rank") if len(own) >= LEAST_CALLS)
    return np.array([_row(kept, own) for own in groups], dtype=WAIT)


def _row(kept: KeptCalls, own: npt.NDArray[np.void]) -> tuple[float, ...]:
    """Of one call site on one rank: its time in the parts that the kept calls have."""
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
    """A row for each call of which all is known that it waited for, ready when the last was."""
    if not len(needs):
        return needs
    needs, starts = _sorted(needs, "at", "thread", "rank")
    calls = needs[starts]
    calls["ready"] = np.maximum.reduceat(needs["ready"], starts)
    calls["weight"] = np.maximum.reduceat(needs["weight"], starts)
    known = np.diff(starts, append=len(needs))
    return np.asarray(calls[known == calls["needs"]])


def _apart(rows: npt.NDArray[np.void], *names: str) -> list[npt.NDArray[np.void]]:
    """Those that are alike in these columns, together."""
    if not len(rows):
        return []
    ordered, starts = _sorted(rows, *names)
    return np.split(ordered, starts[1:])


def _sorted(
    rows: npt.NDArray[np.void], *names: str
) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
    """By these columns, and where others begin."""
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
    """None where counts, tags or times show that the two do not mean the same messages."""
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
    """Of the records of a rank, but for when what they wait for was begun."""
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
    """Those that one call begins and another waits for."""
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
    """When those had begun it for whom a rank has to wait, by call and rank."""
    if first.waits == "all":
        return np.broadcast_to(posted.max(axis=1, keepdims=True), posted.shape)
    calls = np.arange(len(posted))
    roots = first.records["root"].astype(np.int64)
    if first.waits == "for_root":
        return np.broadcast_to(posted[calls, roots][:, None], posted.shape)
    ready = posted.copy()
    ready[calls, roots] = posted.max(axis=1)
    return ready
