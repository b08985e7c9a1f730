# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes the mix of a profile's calls, from which its program is replayed.

Collectives are replayed as they are, those of disjoint communicators concurrently. Of messages the
profile has the numbers by sender and receiver: a step has those of one call site, size, number and
distance, or all nonblocking ones of one size and number, which are in flight together. The time of
calls that receive, wait or probe counts for the messages; nonblocking collectives and the waits
for them are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.products.profile.match.merge import OUTSIDE, spot_of
from mpigauge.products.profile.match.threads import in_wall_time
from mpigauge.products.profile.read.layout import Counted
from mpigauge.runs.store.replays import Group, MixStep, ReplayMix, save_replay

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from mpigauge.products.profile.read.rank_file import Comm
    from mpigauge.products.profile.store.stored import ProfiledJob

MOST_VECTORS = 64
"""The maximum number of lateness vectors of a step."""
_BYTES_OF_LATENCY = 4096
"""The message size that takes about twice as long as an empty message."""
_COLLECTIVES = {
    f"MPI_{name}": name.lower()
    for name in (
        *("Barrier", "Bcast", "Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block"),
        *("Scan", "Exscan", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather"),
        *("Allgatherv", "Alltoall", "Alltoallv"),
    )
}
_ROOTED = ("bcast", "reduce", "gather", "gatherv", "scatter", "scatterv")
_EXCHANGES = ("MPI_Sendrecv", "MPI_Sendrecv_replace")
_SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend")
_POSTED_SENDS = ("MPI_Isend", "MPI_Issend", "MPI_Ibsend", "MPI_Irsend", "MPI_Start", "MPI_Startall")
_COMPLETIONS = (
    *("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"),
    *("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome"),
)
_RECEIVES = (
    *("MPI_Recv", "MPI_Irecv", "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe"),
    *("MPI_Mrecv", "MPI_Imrecv"),
)
_WAITS = ("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome")
_MOST_WINDOW = 1024
"""The maximum number of messages in flight between two ranks, each with its own buffer."""
_MOST_BYTES = (1 << 31) - 1
"""The maximum size of a replayed message, which is an int."""


class _Messages(NamedTuple):
    """The messages from one rank of the program to another, of one site and size."""

    site: int
    call: str
    bin: int
    source: int
    target: int
    number: int
    amount: int


def replay_of(job: ProfiledJob) -> ReplayMix | None:
    """Returns the mix of a job; None: the file of a rank is missing, or no rank called MPI."""
    files = job.profile.files
    if not job.expected or sorted(file.rank for file in files if file.rank is not None) != list(
        range(job.expected)
    ):
        return None
    return _Making(job).mix()


def save_mix(job: ProfiledJob, folder: Path) -> None:
    """Stores the mix of a complete job in a run folder. RunError: it cannot be written."""
    mix = replay_of(job)
    if mix is not None:
        save_replay(folder, job.launch, job.number, mix)


class _Making:
    """A builder of mixes, which divides the time of call sites among their steps; the remaining
    time is reported as left out."""

    def __init__(self, job: ProfiledJob) -> None:
        self.profile = in_wall_time(job.profile)
        self.ranks = job.expected
        self.rank_of = np.array([file.rank for file in self.profile.files])
        self.calls = [spot.call for spot in self.profile.spots]
        self.seconds = np.zeros(len(self.calls))
        rows = self.profile.rows
        np.add.at(self.seconds, rows["site"], rows["seconds"] / self.ranks)
        self.groups: dict[Group, int] = {}
        self.world = self._group((tuple(range(self.ranks)),))

    def mix(self) -> ReplayMix:
        sent = self._sent()
        steps = [*self._collectives(), *self._exchanges(sent), *self._messages(sent)]
        order = np.argsort(self.rank_of)
        run_s = np.array([file.run_s for file in self.profile.files])
        mpi_s = np.asarray(self.profile.mpi_s)
        return ReplayMix(
            run="",
            ranks=self.ranks,
            run_s=tuple(map(float, np.maximum(run_s, mpi_s)[order])),
            mpi_s=tuple(map(float, mpi_s[order])),
            groups=tuple(self.groups),
            steps=tuple(steps),
            left_out=self._left_out(),
        )

    def _group(self, group: Group) -> int:
        return self.groups.setdefault(group, len(self.groups))

    def _left_out(self) -> tuple[tuple[str, float], ...]:
        left: dict[str, float] = defaultdict(float)
        for call, seconds in zip(self.calls, self.seconds, strict=True):
            if call not in OUTSIDE and seconds > 0:
                left[call] += float(seconds)
        return tuple(sorted(left.items(), key=lambda each: -each[1]))

    def _shared(self, sites: Sequence[int], steps: Sequence[MixStep]) -> list[MixStep]:
        """Returns the steps with the time of these sites, divided by numbers and bytes. The time of
        very large messages stays with the sites."""
        weights = np.array([_weight(step) for step in steps])
        if not weights.sum():
            return []
        whole = self.seconds[list(sites)].sum()
        shares = weights / weights.sum()
        large = np.array([step.message_bytes > _MOST_BYTES for step in steps])
        self.seconds[list(sites)] *= shares[large].sum()
        shared: list[MixStep] = []
        for step, share in zip(steps, shares, strict=True):
            if step.message_bytes <= _MOST_BYTES:
                shared.append(replace(step, seconds=float(whole * share)))
        return shared

    # --- collectives
    def _collectives(self) -> Iterator[MixStep]:
        for site, call in enumerate(self.calls):
            if call in _COLLECTIVES:
                yield from self._shared([site], list(self._steps_of(site, _COLLECTIVES[call])))

    def _steps_of(self, site: int, call: str) -> Iterator[MixStep]:
        """Yields the steps of a call site: one for each size, root and set of disjoint groups."""
        cells = self.profile.cells
        own = cells[(cells["site"] == site) & (cells["way"] == Counted.NONE)]
        names = ["comm", "bin", "type", "peer"]
        alike: dict[tuple[int, int, int], list[tuple[int, ...]]] = defaultdict(list)
        for key in np.unique(own[names]):
            members = _members(self.profile.comms[int(key["comm"])])
            if len(members) < 2:
                continue
            group = own[own[names] == key]
            ranks = len(members)
            if call == "scatterv" and (own["sends"] == 0).any():
                group = group[group["sends"] == 0]  # the root has the parts of all together
                ranks -= 1
            if not len(group):
                continue
            calls = round(int(group["count"].sum()) / ranks)
            size = round(int(group["amount"].sum()) / max(1, int(group["count"].sum())))
            size = round(size / len(members)) if call == "alltoallv" else size
            root = max(int(key["peer"]), 0) if call in _ROOTED else 0
            alike[calls, size, root].append(members)
        for (calls, size, root), comms in alike.items():
            for group in _side_by_side(comms):
                step = MixStep(call, size, self._group(group), calls, 0.0, root)
                if calls:
                    yield replace(step, lateness_s=self._lateness(site, group, size))

    def _lateness(self, site: int, group: Group, size: int) -> tuple[tuple[float, ...], ...]:
        """Returns the lateness vectors by rank; empty unless all ranks took part."""
        for pattern in self.profile.arrivals:
            alike = pattern.spot == site and pattern.least_bytes <= size <= pattern.most_bytes
            if alike and group == (tuple(pattern.members),) and pattern.ranks == self.ranks:
                order = np.argsort(pattern.members)
                step = max(1, -(-len(pattern.lateness_s) // MOST_VECTORS))
                kept = pattern.lateness_s[::step, order]
                return tuple(tuple(map(float, row)) for row in kept)
        return ()

    # --- messages
    def _exchanges(self, sent: Sequence[_Messages]) -> list[MixStep]:
        steps = []
        for site, call in enumerate(self.calls):
            if call in _EXCHANGES:
                own = [each for each in sent if each.site == site]
                steps += self._shared([site], list(self._paired("sendrecv", own)))
        return steps

    def _messages(self, sent: Sequence[_Messages]) -> list[MixStep]:
        """Returns the steps of calls that only send, with the time of receives and waits."""
        blocking = [each for each in sent if each.call in _SENDS]
        posted = [each for each in sent if each.call in _POSTED_SENDS]
        way = "posted" if self._times(("MPI_Irecv",)) > self._times(("MPI_Recv",)) else "send"
        steps = [*self._paired(way, blocking), *self._together(posted)]
        timed: tuple[str, ...] = (*_SENDS, *_POSTED_SENDS, *_RECEIVES)
        if posted or way == "posted":
            timed = (*timed, *_COMPLETIONS)
        sites = [site for site, call in enumerate(self.calls) if call in timed]
        of_others = self.seconds * (1 - self.of_messages)
        self.seconds -= of_others
        shared = self._shared(sites, steps)
        self.seconds += of_others
        return shared

    @cached_property
    def of_messages(self) -> npt.NDArray[np.float64]:
        """The share of messages in the requests that calls of each site wait for; the others are
        collectives, estimated from recorded ones."""
        cells = self.profile.cells
        asked_for = cells[cells["way"] == Counted.REQUESTS]
        requests = np.zeros(len(self.calls))
        np.add.at(requests, asked_for["site"], asked_for["amount"])
        of_collectives = np.zeros(len(self.calls))
        numbers = {spot: number for number, spot in enumerate(self.profile.spots)}
        for file in self.profile.files:
            for each in file.instances:
                if each.is_later and len(records := each.records()):
                    places = np.array([numbers[spot_of(site)] for site in file.sites])
                    np.add.at(of_collectives, places[records["site"]], 2.0**each.level)
        return np.clip(1 - of_collectives / np.maximum(requests, 1), 0, 1)

    def _times(self, calls: Sequence[str]) -> int:
        """Returns the number of these calls of all ranks, without waits for collectives."""
        rows = self.profile.rows
        selected = np.array([call in calls for call in self.calls], dtype=bool)
        times = rows["calls"] * self.of_messages[rows["site"]]
        return round(float(times[selected[rows["site"]]].sum()))

    def _sent(self) -> list[_Messages]:
        """Returns the sent messages by site, size, source and target, without MPI_PROC_NULL."""
        cells = self.profile.cells
        own = cells[(cells["way"] == Counted.SENT) & (cells["world_peer"] >= 0)]
        totals: dict[tuple[int, int, int, int], list[int]] = defaultdict(lambda: [0, 0])
        for cell in own:
            source = int(self.rank_of[cell["rank"]])
            key = int(cell["site"]), int(cell["bin"]), source, int(cell["world_peer"])
            totals[key][0] += int(cell["count"])
            totals[key][1] += int(cell["amount"])
        return [
            _Messages(site, self.calls[site], size, source, target, count, amount)
            for (site, size, source, target), (count, amount) in totals.items()
        ]

    def _paired(self, way: str, messages: Sequence[_Messages]) -> Iterator[MixStep]:
        """Yields steps in which each rank sends and receives at most one message."""
        alike: dict[tuple[int, ...], list[_Messages]] = defaultdict(list)
        for each in messages:
            distance = (each.target - each.source) % self.ranks
            alike[each.site, each.bin, each.number, distance].append(each)
        for of in alike.values():
            yield self._step(way, of)

    def _together(self, messages: Sequence[_Messages]) -> Iterator[MixStep]:
        """Yields steps of concurrent messages, several per pair if calls wait for several."""
        alike: dict[tuple[int, int], list[_Messages]] = defaultdict(list)
        for each in messages:
            alike[each.bin, each.number].append(each)
        waits = self._times(_WAITS) / self.ranks
        for of in alike.values():
            step = self._step("nonblocking", of)
            window = min(max(1, round(step.calls / waits)), _MOST_WINDOW) if waits else 1
            yield replace(step, window=window, calls=max(1, round(step.calls / window)))

    def _step(self, way: str, alike: Sequence[_Messages]) -> MixStep:
        number = alike[0].number
        size = round(sum(each.amount for each in alike) / (number * len(alike)))
        pairs = tuple(sorted((each.source, each.target) for each in alike))
        return MixStep(way, size, self.world, number, 0.0, messages=pairs)


def _weight(step: MixStep) -> float:
    return step.calls * step.window * (1 + step.message_bytes / _BYTES_OF_LATENCY)


def _members(comm: Comm) -> tuple[int, ...]:
    """Returns the ranks of a communicator in the world; none if it cannot be recreated."""
    complete = len(comm.members) == comm.size and min(comm.members, default=-1) >= 0
    if complete and not comm.remote_size:
        return comm.members
    return ()


def _side_by_side(comms: Sequence[tuple[int, ...]]) -> list[Group]:
    """Groups communicators that have no rank in common."""
    groups: list[list[tuple[int, ...]]] = []
    for members in comms:
        for group in groups:
            if not any(set(members) & set(other) for other in group):
                group.append(members)
                break
        else:
            groups.append([members])
    return [tuple(group) for group in groups]
