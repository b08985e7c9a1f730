# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Places recorded calls on one time axis for all ranks, with the waiting in each.

Time 0 is when the first rank began its profile. The number of calls is bounded whatever the length
of the run: the longest calls stay, since they cover most of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.later import completing_calls
from mpigauge.products.profile.match.totals import Times
from mpigauge.products.profile.match.waiting import KeptCalls, Split, lateness

TIMED_CALL = np.dtype(
    [("rank", "u4"), ("site", "u4"), ("entered_s", "f8"), ("took_s", "f4"), ("waiting_s", "f4")]
)
"""A recorded call: its rank (an index of the files), its spot, its entry, and its time, of which it
waited for others so long."""
MOST_BYTES = 20 << 20
"""The most that the calls of one run may take when stored."""


@dataclass(frozen=True)
class TimedCalls:
    """The recorded calls of a job, in the order of their entry."""

    calls: npt.NDArray[np.void] = field(default_factory=lambda: np.empty(0, TIMED_CALL))
    """The calls, as TIMED_CALL."""
    begins_s: Times = field(default_factory=lambda: np.empty(0))
    """The moment at which each rank began its profile; empty: no timeline is stored."""

    def within(self, most_bytes: int) -> TimedCalls:
        """Returns the longest calls that fit into so many bytes."""
        most = max(most_bytes // TIMED_CALL.itemsize, 0)
        if len(self.calls) <= most:
            return self
        longest = np.argsort(-self.calls["took_s"], kind="stable")[:most]
        return TimedCalls(self.calls[np.sort(longest)], self.begins_s)


def timed_calls(kept: KeptCalls, splits: Sequence[Split]) -> TimedCalls:
    """Returns all recorded calls of a job."""
    begins = [
        kept.clocks.seconds([rank], np.array([[file.start_ticks]], dtype=np.uint64))[0, 0]
        for rank, file in enumerate(kept.files)
    ]
    if not begins:
        return TimedCalls()
    zero = min(begins)
    rows = np.concatenate(
        [np.empty(0, TIMED_CALL), *_of_splits(splits), *_of_completions(kept), *_of_records(kept)]
    )
    _, first = np.unique(rows[["rank", "entered_s"]], return_index=True)
    calls = rows[first]
    calls["entered_s"] -= zero
    calls = calls[np.argsort(calls["entered_s"], kind="stable")]
    return TimedCalls(calls, np.array(begins) - zero)


def _of_splits(splits: Sequence[Split]) -> Iterator[npt.NDArray[np.void]]:
    """Yields blocking collectives, whose waiting is known."""
    for kind, _ in splits:
        took = kind.left - kind.entered
        waiting = np.clip(lateness(kind), 0, took)
        for place, rank in enumerate(kind.ranks):
            yield _rows(
                int(rank),
                kind.spots[:, place],
                kind.entered[:, place],
                took[:, place],
                waiting[:, place],
            )


def _of_completions(kept: KeptCalls) -> Iterator[npt.NDArray[np.void]]:
    """Yields calls that complete messages or requests, whose waiting is known."""
    calls = completing_calls(kept)
    took = calls["left"] - calls["entered"]
    waiting = np.clip(calls["ready"] - calls["entered"], 0, took)
    rows = _rows(0, calls["spot"], calls["entered"], took, waiting)
    rows["rank"] = calls["rank"]
    yield rows


def _of_records(kept: KeptCalls) -> Iterator[npt.NDArray[np.void]]:
    """Yields all other recorded calls, without their waiting."""
    for rank, file in enumerate(kept.files):
        numbers = np.asarray(kept.numbers[rank], dtype=np.int64)
        recorded = [*(each.records for each in file.instances)]
        recorded += [each.records for each in file.channels]
        for every in recorded:
            records = every[every["left"] > every["entered"]]
            if len(records):
                entered = kept.clocks.seconds([rank], records["entered"][:, None])[:, 0]
                left = kept.clocks.seconds([rank], records["left"][:, None])[:, 0]
                waiting = np.zeros(len(records))
                yield _rows(rank, numbers[records["site"]], entered, left - entered, waiting)


def _rows(
    rank: int, spots: npt.NDArray[np.integer], entered: Times, took: Times, waiting: Times
) -> npt.NDArray[np.void]:
    rows = np.zeros(len(entered), TIMED_CALL)
    rows["rank"], rows["site"] = rank, spots
    rows["entered_s"], rows["took_s"], rows["waiting_s"] = entered, took, waiting
    return rows
