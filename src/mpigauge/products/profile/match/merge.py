# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Joins the files of all ranks, with one site for the same call on all of them.

Sites are the same if call, region and stack are, by module and offset, so neither the layout of
addresses nor the order of sites on ranks matters. Numbers are kept by rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.arriving import arrivals
from mpigauge.products.profile.match.deadlock import deadlock_in_words, deadlocked
from mpigauge.products.profile.match.kept import KeptCalls, OwnCalls, kept_calls
from mpigauge.products.profile.match.later import completing_calls, later_waits, others_calls
from mpigauge.products.profile.match.standing import Standing, standings
from mpigauge.products.profile.match.timeline import (
    MOST_BYTES,
    LongestCalls,
    TimedCalls,
    timed_calls,
)
from mpigauge.products.profile.match.waiting import (
    WAIT,
    Split,
    own_splits,
    places_of,
    split_calls,
    waits,
)
from mpigauge.products.profile.read.rank_file import (
    Comm,
    RankFile,
    ReturnAddress,
    Site,
    Type,
    bin_edges,
)
from mpigauge.runs.store.arrivals import ArrivalPattern
from mpigauge.site.mpi.programs.abi import family_of

Value = TypeVar("Value")

OUTSIDE = (
    *("MPI_Init", "MPI_Init_thread", "MPI_Finalize"),
    *("MPI_Session_init", "MPI_Session_finalize"),
)
"""The calls that begin and end the run time, and are not part of it."""

ROW = np.dtype(
    [
        *(("site", "u4"), ("rank", "u4"), ("calls", "u8"), ("seconds", "f8"), ("failures", "u8")),
        *((name, "f8") for name in ("least_s", "p50_s", "p99_s", "most_s")),
    ]
)
CELL = np.dtype(
    [
        *(("site", "u4"), ("rank", "u4"), ("comm", "u4"), ("peer", "i4"), ("world_peer", "i4")),
        *(("way", "u1"), ("bin", "u1"), ("type", "u2"), ("count", "u8"), ("amount", "u8")),
        *(("least", "u8"), ("most", "u8"), ("sends", "u4")),
    ]
)
_NUMBERS = {"count": np.add, "amount": np.add, "least": np.minimum, "most": np.maximum}
"""The numbers of a cell, and how they are combined over threads."""
NOWHERE = -4
"""The value of an unknown peer in MPI_COMM_WORLD."""


@dataclass(frozen=True)
class Spot:
    """A call of MPI at one place of the program."""

    call: str
    group: str
    region: str
    frames: tuple[ReturnAddress, ...]

    @property
    def is_file(self) -> bool:
        """True for a call of MPI-IO, which sends no messages."""
        return self.group == "file"

    @cached_property
    def frames_of_program(self) -> tuple[ReturnAddress, ...]:
        """The stack from inside out, without frames of MPI libraries."""
        kept = []
        for frame in self.frames:
            if frame.module is None or not _is_of_mpi(frame.module.path):
                kept.append(frame)
        return tuple(kept)


def spot_of(site: Site) -> Spot:
    """Returns the spot of a site of one rank."""
    return Spot(site.call, site.group, site.region, site.frames)


@cache
def _is_of_mpi(path: str) -> bool:
    """True if this file is an MPI library, by its name."""
    return family_of(Path(path).name) is not None


@dataclass(frozen=True)
class Profile:
    """The joined files of a job. Ranks are indices in `files`."""

    files: tuple[RankFile, ...]
    spots: tuple[Spot, ...]
    rows: npt.NDArray[np.void]
    """The rows, as ROW: the times of a spot on a rank, over its threads."""
    cells: npt.NDArray[np.void]
    """The cells, as CELL: messages by spot, rank, communicator, peer (local, and in the world), way
    (layout.Counted), bin of their size and type; least and most are of one message. `sends`: the
    number of times that the rank sends the amount: 0 of what others send, the number of ranks if
    the amount is the part of one of them."""
    comms: tuple[Comm, ...]
    """The communicators, each as on the first rank that has it."""
    types: tuple[Type, ...]
    """The types; the first one means none."""
    waits: npt.NDArray[np.void] = field(default_factory=lambda: np.empty(0, WAIT))
    """The waits, as waiting.WAIT: the time spent waiting for others, by spot and rank."""
    arrivals: tuple[ArrivalPattern, ...] = ()
    """The arrival patterns of collectives, longest first; `spot` is the index in `spots`, whose
    names are not resolved yet."""
    timeline: TimedCalls = field(default_factory=TimedCalls)
    """The recorded calls of all ranks on one time axis."""
    standings: tuple[Standing, ...] = ()
    """The place of each rank at its end, by rank and thread."""
    deadlock: str = ""
    """A sentence about a deadlock that these prove; empty: they prove none."""

    @cached_property
    def mpi_s(self) -> npt.NDArray[np.float64]:
        """The time in MPI by rank, without MPI_Init and MPI_Finalize."""
        inside = np.array([spot.call not in OUTSIDE for spot in self.spots], dtype=bool)
        kept = self.rows[inside[self.rows["site"]]] if len(self.spots) else self.rows
        seconds = np.zeros(len(self.files))
        np.add.at(seconds, kept["rank"], kept["seconds"])
        return seconds


def merged(files: Sequence[RankFile], timeline_bytes: int = MOST_BYTES) -> Profile:
    """Joins the files of a job, with so many bytes of recorded calls in its timeline."""
    spots, types, comms = Numbers[Spot](), Numbers[Type](), _Comms()
    types.of(Type("", "", 0))
    rows, cells = [np.empty(0, ROW)], [np.empty(0, CELL)]
    numbers_of = []
    for rank, file in enumerate(files):
        numbers = [spots.of(spot_of(site)) for site in file.sites]
        numbers_of.append(numbers)
        rows.append(np.array([*_rows(rank, file, numbers)], dtype=ROW))
        cells.append(_cells(rank, file, numbers, comms.of(file), types))
    kept = kept_calls(files, numbers_of)
    splits, patterns = _split_groups(kept)
    waited, timeline = _by_rank(kept, splits, timeline_bytes)
    stuck = deadlocked(files)
    return Profile(
        files=tuple(files),
        spots=tuple(spots.numbers),
        rows=np.concatenate(rows),
        cells=np.concatenate(cells),
        comms=tuple(comms.kept),
        types=tuple(types.numbers),
        waits=waited,
        arrivals=tuple(sorted(patterns, key=lambda each: -each.seconds)),
        timeline=timeline,
        standings=standings(files, numbers_of),
        deadlock=deadlock_in_words(files, stuck) if stuck else "",
    )


def _split_groups(kept: KeptCalls) -> tuple[list[Split], list[ArrivalPattern]]:
    """Splits the groups of blocking collectives, and returns their arrival patterns."""
    splits: list[Split] = []
    patterns: list[ArrivalPattern] = []
    for group in kept.groups:
        if (both := split_calls(kept, group)) is not None:
            split, entered = both
            splits.append(split)
            patterns += arrivals(kept, split, entered)
            del both, entered  # the times of the next group take their place
    return splits, patterns


def _by_rank(
    kept: KeptCalls, splits: Sequence[Split], timeline_bytes: int
) -> tuple[npt.NDArray[np.void], TimedCalls]:
    """Returns the waits, as WAIT, and the timeline, from the recorded calls of each rank."""
    places, others = places_of(splits), others_calls(kept)
    blocking, later = [np.empty(0, WAIT)], [np.empty(0, WAIT)]
    longest = LongestCalls(kept, timeline_bytes)
    for rank in range(len(kept.files)):
        own = OwnCalls(kept, rank)
        calls, completing = own_splits(own, places), completing_calls(own, others)
        blocking.append(waits(own, calls))
        later.append(later_waits(own, completing))
        longest.add(timed_calls(own, calls, completing))
    by_rank = np.concatenate(blocking)
    by_spot = by_rank[np.argsort(by_rank["site"], kind="stable")]
    return np.concatenate([by_spot, *later]), longest.timeline()


def standing_profile(files: Sequence[RankFile]) -> Profile:
    """Returns a profile of processes that still run, with nothing but where they stand."""
    spots = Numbers[Spot]()
    numbers_of = []
    for file in files:
        last = {each.site for each in file.last_calls}
        numbers_of.append([
            spots.of(spot_of(site)) if number in last else 0
            for number, site in enumerate(file.sites)
        ])  # fmt: skip
    stuck = deadlocked(files)
    return Profile(
        files=tuple(files),
        spots=tuple(spots.numbers),
        rows=np.empty(0, ROW),
        cells=np.empty(0, CELL),
        comms=(),
        types=(),
        standings=standings(files, numbers_of),
        deadlock=deadlock_in_words(files, stuck) if stuck else "",
    )


class Numbers(Generic[Value]):
    """A numbering of values in their order of appearance."""

    def __init__(self) -> None:
        self.numbers: dict[Value, int] = {}

    def of(self, value: Value) -> int:
        return self.numbers.setdefault(value, len(self.numbers))


class _Comms:
    """A numbering of communicators over all ranks. Those of a single rank share a number."""

    def __init__(self) -> None:
        self._numbers = Numbers[tuple[object, ...]]()
        self.kept = [Comm(0, "", -1, 0, 0, (), 0, 0, 0, "")]
        self._numbers.of(())  # none

    def of(self, file: RankFile) -> dict[int, int]:
        """Returns the new numbers by those in the file."""
        numbers = {0: 0}
        for number, comm in file.comms.items():
            alone = comm.size == 1 and comm.remote_size == 0
            key = (comm.name, comm.maker) if alone else (file.job, comm.family)
            numbers[number] = self._numbers.of(key)
            if numbers[number] == len(self.kept):
                self.kept.append(replace(comm, members=()) if alone else comm)
        return numbers


# --- times ---------------------------------------------------------------------------------


def _rows(rank: int, file: RankFile, numbers: Sequence[int]) -> Iterator[tuple[float, ...]]:
    """Yields a row for each spot, summed over threads."""
    together: dict[int, list[Site]] = defaultdict(list)
    for number, site in zip(numbers, file.sites, strict=True):
        together[number].append(site)
    for number, sites in together.items():
        least, most = min(s.least_s for s in sites), max(s.most_s for s in sites)
        times = np.sum([s.times for s in sites], axis=0)
        median, late = (quantile(times, file.hz, part, least, most) for part in (0.5, 0.99))
        yield (
            *(number, rank, sum(s.calls for s in sites), sum(s.seconds for s in sites)),
            *(sum(s.failures for s in sites), least, median, late, most),
        )


def quantile(
    times: npt.NDArray[np.uint64], hz: float, part: float, least_s: float, most_s: float
) -> float:
    """Returns a quantile of call times, accurate to a bin, which is an eighth of the time."""
    below = np.concatenate([[0], np.cumsum(times)]).astype(float)
    if below[-1] == 0:
        return float("nan")
    time_s = np.interp(part * below[-1], below, bin_edges() / hz)
    return float(np.clip(time_s, least_s, most_s))


# --- messages ------------------------------------------------------------------------------


def _cells(
    rank: int,
    file: RankFile,
    numbers: Sequence[int],
    comms: Mapping[int, int],
    types: Numbers[Type],
) -> npt.NDArray[np.void]:
    """Returns the cells of a rank with global numbers, summed over threads."""
    old = file.cells
    new = np.zeros(len(old), CELL)
    type_numbers = {0: 0} | {number: types.of(each) for number, each in file.types.items()}
    new["site"] = np.asarray(numbers, dtype="u4")[old["site"]] if len(old) else 0
    new["rank"] = rank
    new["comm"] = _looked_up(comms, old["comm"])
    new["type"] = _looked_up(type_numbers, old["type"])
    for name in ("peer", "way", "bin", "sends", *_NUMBERS):
        new[name] = old[name]
    new["world_peer"] = _in_world(file, old)
    return _summed(new)


def _looked_up(table: Mapping[int, int], keys: npt.NDArray[np.integer[Any]]) -> Any:
    values = np.zeros(max(table) + 1, dtype="u4")
    values[list(table)] = list(table.values())
    return values[keys]


def _in_world(file: RankFile, cells: npt.NDArray[np.void]) -> npt.NDArray[np.int32]:
    """Returns the peers as ranks of MPI_COMM_WORLD; special values stay."""
    world = np.where(cells["peer"] >= 0, NOWHERE, cells["peer"]).astype(np.int32)
    for place, (number, peer) in enumerate(cells[["comm", "peer"]].tolist()):
        comm = file.comms.get(number)
        if comm is not None and 0 <= peer < len(comm.members):
            world[place] = comm.members[peer]
    return world


def _summed(cells: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Combines cells that only differ in their numbers."""
    if len(cells) == 0:
        return cells
    keys = [name for name in CELL.names or () if name not in _NUMBERS]
    _, first, back = np.unique(cells[keys], return_index=True, return_inverse=True)
    summed = cells[first]
    others = np.setdiff1d(np.arange(len(cells)), first)
    for name, joined in _NUMBERS.items():
        joined.at(summed[name], back[others], cells[name][others])
    return summed
