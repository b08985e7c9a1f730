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

from mpigauge.products.profile.match.kept import KeptCalls, OwnCalls
from mpigauge.products.profile.match.totals import Times
from mpigauge.products.profile.match.waiting import OwnSplit
from mpigauge.products.profile.read.rank_file import Channel, Instances

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


class LongestCalls:
    """Collects the recorded calls of one rank after another, and keeps the longest of all."""

    def __init__(self, kept: KeptCalls, most_bytes: int) -> None:
        starts = [np.array([file.start_ticks], dtype=np.uint64) for file in kept.files]
        begins = [kept.clocks.seconds(rank, ticks)[0] for rank, ticks in enumerate(starts)]
        self._zero = min(begins, default=0.0)
        self._begins_s = np.array(begins) - self._zero
        self._most = max(most_bytes // TIMED_CALL.itemsize, 0)
        self._least_s = -np.inf
        """The time of the shortest call that can be among the longest."""
        self._calls = [np.empty(0, TIMED_CALL)]
        self._count = 0

    def add(self, calls: npt.NDArray[np.void]) -> None:
        """Adds the calls of a rank, as TIMED_CALL by entry."""
        calls = calls[calls["took_s"] >= self._least_s]
        calls["entered_s"] -= self._zero
        self._calls.append(calls)
        self._count += len(calls)
        if self._count > 2 * self._most:
            self._keep_longest()

    def timeline(self) -> TimedCalls:
        """Returns the longest calls of all ranks."""
        self._keep_longest()
        return TimedCalls(self._calls[0], self._begins_s)

    def _keep_longest(self) -> None:
        calls = np.concatenate(self._calls)
        self._calls.clear()
        calls = calls[np.argsort(calls["entered_s"], kind="stable")]
        if len(calls) > self._most:
            longest = np.argsort(-calls["took_s"], kind="stable")[: self._most]
            calls = calls[np.sort(longest)]
            self._least_s = calls["took_s"].min(initial=np.inf)
        self._calls, self._count = [calls], len(calls)


def timed_calls(
    own: OwnCalls, splits: Sequence[OwnSplit], completing: npt.NDArray[np.void]
) -> npt.NDArray[np.void]:
    """Returns the recorded calls of a rank by entry, with the waiting of those in `splits`, and
    of `completing` ones (later.NEED)."""
    rows = np.concatenate([
        *(_rows(own, each.spots, each.entered, each.took, each.waiting) for each in splits),
        _of_completions(own, completing),
        *_of_records(own),
    ])  # fmt: skip
    _, first = np.unique(rows["entered_s"], return_index=True)
    return rows[first]


def _of_completions(own: OwnCalls, calls: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Returns calls that complete messages or requests, whose waiting is known."""
    took = calls["left"] - calls["entered"]
    waiting = np.clip(calls["ready"] - calls["entered"], 0, took)
    return _rows(own, calls["spot"], calls["entered"], took, waiting)


def _of_records(own: OwnCalls) -> Iterator[npt.NDArray[np.void]]:
    """Yields all other recorded calls, without their waiting."""
    recorded: list[Instances | Channel] = [*own.file.instances, *own.file.channels]
    for each in recorded:
        records = own.records(each)
        records = records[records["left"] > records["entered"]]
        entered, left = own.seconds(records["entered"]), own.seconds(records["left"])
        spots = own.numbers[records["site"]]
        yield _rows(own, spots, entered, left - entered, np.zeros(len(records)))


def _rows(
    own: OwnCalls, spots: npt.NDArray[np.integer], entered: Times, took: Times, waiting: Times
) -> npt.NDArray[np.void]:
    rows = np.zeros(len(entered), TIMED_CALL)
    rows["rank"], rows["site"] = own.rank, spots
    rows["entered_s"], rows["took_s"], rows["waiting_s"] = entered, took, waiting
    return rows
