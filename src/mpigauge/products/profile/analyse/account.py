# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The numbers of a profile: of the whole program, its call sites, ranks and messages.

Shares are of the run time: from the end of MPI_Init to the start of MPI_Finalize.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.analyse.entries import (
    Called,
    InRegion,
    Numbers,
    OnComm,
    Pair,
    Sizes,
    Waited,
    ratio,
    sum_of,
)
from mpigauge.products.profile.analyse.lateness import Last, last_of
from mpigauge.products.profile.analyse.place_names import METHOD, distinct_names, readable, short
from mpigauge.products.profile.match.merge import OUTSIDE, Spot
from mpigauge.products.profile.match.threads import in_wall_time
from mpigauge.products.profile.read.layout import Counted
from mpigauge.products.profile.read.rank_file import RankFile, ReturnAddress
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.site.mpi.query import name_and_version


class Account:
    """The numbers of one job of a profile."""

    def __init__(self, job: ProfiledJob, *, all_threads: bool = False) -> None:
        """`all_threads`: times are sums over the threads of a rank, which may exceed wall time."""
        self.job = job
        self.profile = job.profile if all_threads else in_wall_time(job.profile)
        self.ranks: list[RankFile] = list(self.profile.files)

    # --- the whole program
    @property
    def mpi(self) -> str:
        """The name and version of the MPI."""
        return " ".join(name_and_version(self.ranks[0].library))

    @cached_property
    def run_s(self) -> Numbers:
        """The run time of each rank in seconds, at least its time in MPI: in older runs the last
        timestamp of a killed rank may precede the end of its calls."""
        return np.maximum([file.run_s for file in self.ranks], self.mpi_s)

    @cached_property
    def mpi_s(self) -> Numbers:
        return np.asarray(self.profile.mpi_s)

    @cached_property
    def share(self) -> Numbers:
        """The share of MPI in the run time of each rank."""
        return np.asarray(ratio(self.mpi_s, self.run_s))

    @property
    def mean_share(self) -> float:
        return float(ratio(self.mpi_s.sum(), self.run_s.sum()))

    @property
    def own_s(self) -> Numbers:
        """The time of each rank outside MPI."""
        return self.run_s - self.mpi_s

    @property
    def imbalance(self) -> float:
        """The imbalance of the time outside MPI: the longest of a rank over the mean, minus 1."""
        return float(ratio(self.own_s.max(), self.own_s.mean())) - 1

    @cached_property
    def calls(self) -> int:
        return int(self.profile.rows["calls"].sum())

    @property
    def cost_s(self) -> float:
        """The overhead of the profiler per call, in seconds, in the median of ranks."""
        costs = [file.own_s for file in self.ranks if file.own_s > 0]
        if costs:
            return float(np.median(costs))
        return math.nan

    @property
    def clock_s(self) -> float:
        """The cost of the clock within the time of a call, in the median of ranks; 0: unknown. It
        is subtracted, so shorter times are not resolved."""
        costs = [file.inner_s for file in self.ranks if file.inner_s > 0]
        return float(np.median(costs)) if costs else 0.0

    @property
    def cost_share(self) -> float:
        """The overhead of the profiler, as a share of the run time of all ranks."""
        calls = self._by_rank("calls", inside=True)
        own = np.array([file.own_s for file in self.ranks])
        return float(ratio((calls * own).sum(), self.run_s.sum()))

    def _by_rank(self, column: str, inside: bool) -> Numbers:
        rows = self.profile.rows
        if inside and len(self.profile.spots):
            kept = np.array([spot.call not in OUTSIDE for spot in self.profile.spots])
            rows = rows[kept[rows["site"]]]
        sums = np.zeros(len(self.ranks))
        np.add.at(sums, rows["rank"], rows[column])
        return sums

    # --- call sites
    @cached_property
    def sites(self) -> list[Called]:
        """All call sites, longest first; calls outside the run time come last."""
        rows = self.profile.rows
        order = np.argsort(rows["site"], kind="stable")
        starts = np.searchsorted(rows["site"][order], np.arange(len(self.profile.spots) + 1))
        sent = self._sent
        call_sites = [
            self._called(number, rows[order[starts[number] : starts[number + 1]]], sent[number])
            for number in range(len(self.profile.spots))
        ]
        call_sites = [
            each for each in call_sites if each.calls or each.failures or each.total_s > 0
        ]
        call_sites.sort(key=lambda each: (each.outside, -each.total_s))
        return [
            replace(each, number=number, where=where)
            for number, (each, where) in enumerate(
                zip(call_sites, self._apart(call_sites), strict=True), 1
            )
        ]

    @cached_property
    def inside(self) -> list[Called]:
        """The call sites within the run time."""
        return [each for each in self.sites if not each.outside]

    @cached_property
    def waited(self) -> list[Waited]:
        """The split of each call site into its parts, the one with most waiting first."""
        sites = {each.spot: each for each in self.sites}
        rows = self.profile.waits
        splits = []
        for number in np.unique(rows["site"]):
            called = sites.get(self.profile.spots[int(number)])
            if called is not None:
                splits.append(_waited(called, rows[rows["site"] == number]))
        return sorted(splits, key=lambda each: -each.waiting.value)

    def last_to_come(self, called: Called) -> Last | None:
        """Returns the rank that arrives last most often at a collective. None: unknown."""
        for pattern in self.profile.arrivals:
            if self.profile.spots[pattern.spot] == called.spot:
                return last_of(pattern)
        return None

    def _called(self, number: int, rows: Any, sent: int) -> Called:
        spot = self.profile.spots[number]
        seconds, calls = np.zeros(len(self.ranks)), np.zeros(len(self.ranks), np.int64)
        seconds[rows["rank"]] = rows["seconds"]
        calls[rows["rank"]] = rows["calls"]
        return Called(
            number=number,
            spot=spot,
            where=self.where(spot),
            calls=int(calls.sum()),
            seconds=seconds,
            calls_of=calls,
            least_s=float(rows["least_s"].min(initial=math.inf)),
            median_s=float(np.median(rows["p50_s"])) if len(rows) else math.nan,
            late_s=float(rows["p99_s"].max(initial=0)),
            most_s=float(rows["most_s"].max(initial=0)),
            sent=int(sent),
            failures=int(rows["failures"].sum()),
            in_calls_s=float(self._in_calls_s[number]),
        )

    @cached_property
    def _in_calls_s(self) -> Numbers:
        """The time of all threads at each call site."""
        rows = self.job.profile.rows
        seconds = np.zeros(len(self.profile.spots))
        np.add.at(seconds, rows["site"], rows["seconds"])
        return seconds

    @cached_property
    def _sent(self) -> npt.NDArray[np.int64]:
        """The bytes of the own send buffers of ranks at each call site."""
        cells = self.profile.cells
        amounts = np.zeros(len(self.profile.spots), np.int64)
        np.add.at(amounts, cells["site"], cells["amount"].astype(np.int64) * cells["sends"])
        return amounts

    def where(self, spot: Spot) -> str:
        """Returns the innermost place of the program, in words."""
        return next(map(self.frame_in_words, self._from_place(spot)), "")

    def frame_of(self, spot: Spot) -> ReturnAddress | None:
        """Returns the frame of the innermost place of the program."""
        return next(iter(self._from_place(spot)), None)

    def functions(self, spot: Spot) -> tuple[str, ...]:
        """Returns the functions from that place outwards, without line numbers."""
        names: list[str] = []
        for frame in self._from_place(spot):
            places = self.job.places.get(frame, ())
            names += [readable(place.function) for place in places] or [self.frame_in_words(frame)]
        return tuple(names)

    def _from_place(self, spot: Spot) -> list[ReturnAddress]:
        """Returns the frames without the MPI library, and without mpi4py below its method, or
        below the line of Python that called it."""
        frames = list(spot.frames_of_program)
        if frames and _is_mpi4py(frames[0]):
            if _is_python(frames[-1]):
                return [frame for frame in frames if not _is_mpi4py(frame)]
            methods = (at for at, frame in enumerate(frames) if self._is_method(frame))
            return frames[next(methods, 0) :]
        return frames

    def _is_method(self, frame: ReturnAddress) -> bool:
        places = self.job.places.get(frame, ())
        return bool(places) and places[0].function.startswith(METHOD)

    def _apart(self, sites: list[Called]) -> list[str]:
        """Returns the places of call sites; ambiguous ones with the callers that differ."""
        alike: dict[tuple[str, str, str], list[int]] = {}
        for at, each in enumerate(sites):
            alike.setdefault((each.spot.call, each.spot.region, each.where), []).append(at)
        places = [each.where for each in sites]
        for group in alike.values():
            if len(group) > 1:
                stacks = [self.stack(sites[at].spot) for at in group]
                for at, place in zip(group, distinct_names(places[group[0]], stacks), strict=True):
                    places[at] = place
        return places

    def stack(self, spot: Spot) -> list[str]:
        """Returns the stack from inside out, including inlined functions."""
        lines = []
        for frame in spot.frames_of_program:
            places = self.job.places.get(frame, ())
            lines += list(map(short, places)) or [self.frame_in_words(frame)]
        return lines

    def frame_in_words(self, frame: ReturnAddress) -> str:
        """Returns a frame in words: its function and line, else its module and offset."""
        places = self.job.places.get(frame, ())
        if places:
            return short(places[0])
        if frame.module:
            return f"{Path(frame.module.path).name}+{frame.offset:#x}"
        return f"{frame.offset:#x}"

    # --- messages
    @cached_property
    def sizes(self) -> list[Sizes]:
        """The message sizes by call and power of two, the call with most bytes first."""
        moved = self._moved
        calls = list(dict.fromkeys(spot.call for spot in self.profile.spots))
        number = np.array([calls.index(spot.call) for spot in self.profile.spots], np.int64)
        keys = np.stack([number[moved["site"]], moved["way"], moved["bin"]], axis=1)
        made = [
            _sizes(calls[call], way, of_bin, moved[places])
            for (call, way, of_bin), places in _grouped(keys)
        ]
        whole: dict[str, int] = {}
        for each in made:
            whole[each.call] = whole.get(each.call, 0) + each.bytes
        made.sort(key=lambda each: (-whole[each.call], each.call, each.way, each.bin))
        return [each for each in made if whole[each.call]]

    @cached_property
    def _moved(self) -> npt.NDArray[np.void]:
        """The cells of messages, of which a collective sends one: its whole send buffer."""
        cells = self.profile.cells
        is_file = np.array([spot.is_file for spot in self.profile.spots], dtype=bool)
        once = (cells["way"] == Counted.RECEIVED) | is_file[cells["site"]]
        times = np.where(once, 1, cells["sends"]).astype(np.uint64)
        kept = (cells["way"] != Counted.REQUESTS) & (times > 0)
        moved: npt.NDArray[np.void] = cells[kept].copy()
        for name in ("amount", "least", "most"):
            moved[name] *= times[kept]
        return moved

    @cached_property
    def sent(self) -> list[Sizes]:
        """The message sizes that were sent or passed to a collective, without files."""
        return [
            each
            for each in self.sizes
            if each.way in (Counted.SENT, Counted.NONE) and each.call not in self._calls_of_files
        ]

    @cached_property
    def _calls_of_files(self) -> set[str]:
        return {spot.call for spot in self.profile.spots if spot.is_file}

    @cached_property
    def file_bytes(self) -> tuple[int, int]:
        """The bytes written to files and read from them through MPI."""
        sizes = [each for each in self.sizes if each.call in self._calls_of_files]
        read = sum(each.bytes for each in sizes if each.way == Counted.RECEIVED)
        return sum(each.bytes for each in sizes) - read, read

    @cached_property
    def pairs(self) -> list[Pair]:
        """The traffic between ranks of MPI_COMM_WORLD, most bytes first."""
        cells = self.profile.cells
        is_sent = (cells["way"] == Counted.SENT) & (cells["sends"] > 0)
        sent = cells[is_sent & (cells["world_peer"] >= 0)]
        keys = np.stack([sent["rank"].astype(np.int64), sent["world_peer"]], axis=1)
        pairs = []
        for (source, target), places in _grouped(keys):
            of = sent[places]
            seconds = self._pair_s.get((source, target), 0.0)
            numbers = int(of["count"].sum()), int(of["amount"].sum()), seconds
            pairs.append(Pair(source, target, *numbers))
        return sorted(pairs, key=lambda pair: (-pair.bytes, pair.source, pair.target))

    @cached_property
    def _pair_s(self) -> dict[tuple[int, int], float]:
        """The time of each rank with each peer, in seconds."""
        cells = self.profile.cells
        here = (cells["way"] == Counted.SENT) | (cells["way"] == Counted.RECEIVED)
        cells = cells[here & (cells["world_peer"] >= 0)]
        shares = self._shares_of_time(cells)
        seconds: dict[tuple[int, int], float] = {}
        for rank, peer, part in zip(cells["rank"], cells["world_peer"], shares, strict=True):
            pair = int(rank), int(peer)
            seconds[pair] = seconds.get(pair, 0.0) + float(part)
        return seconds

    def _shares_of_time(self, cells: Any) -> Numbers:
        """Returns the time of each cell: that of its call site on its rank, divided by counts."""
        shape = len(self.profile.spots), max(len(self.ranks), 1)
        counts, seconds = np.zeros(shape), np.zeros(shape)
        np.add.at(counts, (cells["site"], cells["rank"]), cells["count"])
        rows = self.profile.rows
        np.add.at(seconds, (rows["site"], rows["rank"]), rows["seconds"])
        each = np.divide(seconds, counts, out=np.zeros(shape), where=counts > 0)
        return np.asarray(cells["count"] * each[cells["site"], cells["rank"]])

    @cached_property
    def communicators(self) -> list[OnComm]:
        """The traffic by communicator, the one with most time first."""
        cells = self.profile.cells
        cells = cells[(cells["way"] != Counted.REQUESTS) & (cells["comm"] > 0)]
        shares = self._shares_of_time(cells)
        sent = cells["way"] != Counted.RECEIVED
        made = []
        for number in np.unique(cells["comm"]):
            comm, here = self.profile.comms[int(number)], cells["comm"] == number
            made.append(
                OnComm(
                    name=comm.name or "unnamed",
                    size=comm.size + comm.remote_size,
                    maker=comm.maker,
                    calls=int(cells["count"][here & sent].sum()),
                    bytes=int((cells["amount"] * cells["sends"])[here & sent].sum()),
                    seconds=float(shares[here].sum()) / max(len(self.ranks), 1),
                )
            )
        return sorted(made, key=lambda each: -each.seconds)

    # --- over the run
    @cached_property
    def regions(self) -> list[InRegion]:
        """The regions in the order in which ranks entered them."""
        paths = dict.fromkeys(each.path for file in self.ranks for each in file.regions)
        return [self._in_region(path) for path in paths]

    def _in_region(self, path: str) -> InRegion:
        """Returns the times of a region, including nested ones."""
        own = []
        for file in self.ranks:
            for each in file.regions:
                if each.path == path:
                    own.append(each)
        within = [each for each in self.inside if is_within(each.spot.region, path)]
        return InRegion(
            path,
            sum(each.entered for each in own),
            sum(each.seconds for each in own),
            sum(each.total_s for each in within),
        )

    def over_time(self, steps: int) -> tuple[Numbers, Numbers]:
        """Returns `steps` times after the first MPI call, and the share of MPI in the step before
        each, in the mean of ranks. MPI_Init and MPI_Finalize are included."""
        end = max(max(file.on_s, file.run_s) for file in self.ranks)
        edges = np.linspace(0.0, end, steps + 1)
        shares = []
        for file in self.ranks:
            if file.timelines:
                shares.append(share_between(file, edges))
        return edges[1:], np.mean(shares, axis=0) if shares and end > 0 else np.zeros(steps)

    def sent_between(self, edges: Numbers) -> Numbers:
        """Returns the bytes that all ranks sent between edges."""
        return np.asarray(sum(sent_between(file, edges) for file in self.ranks))

    def of_rank(self, rank: int) -> Iterator[tuple[Called, Any]]:
        """Yields the call sites of a rank with its rows."""
        by_spot = {each.spot: each for each in self.sites}
        rows = self.profile.rows[self.profile.rows["rank"] == rank]
        for row in rows:
            yield by_spot[self.profile.spots[row["site"]]], row


def is_within(region: str, outer: str) -> bool:
    """True if a region is this one or nested in it; all are in the whole program."""
    return not outer or f"{region}/".startswith(f"{outer}/")


def _grouped(
    keys: npt.NDArray[np.int64],
) -> Iterator[tuple[tuple[int, ...], npt.NDArray[np.int64]]]:
    """Yields each distinct row with its indices."""
    if not len(keys):
        return
    order = np.lexsort(keys.T[::-1])
    ordered = keys[order]
    starts = np.flatnonzero(np.any(np.diff(ordered, axis=0, prepend=ordered[:1] - 1), axis=1))
    for start, places in zip(starts, np.split(order, starts[1:]), strict=True):
        yield tuple(ordered[start].tolist()), places


def _sizes(call: str, way: int, number: int, cells: Any) -> Sizes:
    return Sizes(
        call=call,
        way=Counted(way),
        bin=number,
        count=int(cells["count"].sum()),
        bytes=int(cells["amount"].sum()),
        least=int(cells["least"].min()),
        most=int(cells["most"].max()),
    )


def sent_between(file: RankFile, edges: Numbers) -> Numbers:
    """Returns the bytes of own send buffers between edges, in seconds after the first MPI call,
    when their calls returned. All zero: unknown, as in older runs."""
    sent = np.zeros(len(edges) - 1)
    for line in file.timelines:
        if len(line.sent_bytes):
            times = line.start_s + line.step_s * np.arange(len(line.sent_bytes) + 1)
            until = np.concatenate([[0.0], np.cumsum(line.sent_bytes)])
            sent += np.diff(np.interp(edges, times, until))
    return sent


def share_between(file: RankFile, edges: Numbers) -> Numbers:
    """Returns the share of MPI between edges, for the thread with most time in MPI."""
    of = max(file.timelines, key=lambda line: float(line.mpi_s.sum()))
    times = of.start_s + of.step_s * np.arange(len(of.mpi_s) + 1)
    until = np.interp(edges, times, np.concatenate([[0.0], np.cumsum(of.mpi_s)]))
    return np.asarray(np.clip(np.diff(until) / np.diff(edges), 0.0, 1.0))


def _is_mpi4py(frame: ReturnAddress) -> bool:
    return frame.module is not None and "mpi4py" in Path(frame.module.path).parts


def _is_python(frame: ReturnAddress) -> bool:
    return frame.module is not None and bool(frame.module.function)


def _waited(called: Called, rows: Any) -> Waited:
    return Waited(
        called=called,
        waiting=sum_of(rows, "waiting"),
        moving=sum_of(rows, "moving"),
        disturbed=sum_of(rows, "disturbed"),
        rank=int(rows["rank"][rows["waiting_s"].argmax()]),
        resolved=bool(rows["resolved"].any()),
    )
