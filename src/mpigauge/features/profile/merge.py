# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Joins the files of all ranks: one site for what is the same call on all of them.

Sites are the same where call, region and stack are, by files of code and places in them, so neither
the layout of addresses nor the order in which ranks saw them matters. Numbers stay apart by rank.
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

from mpigauge.features.profile.arriving import arrivals
from mpigauge.features.profile.files import Comm, RankFile, ReturnAddress, Site, Type, bin_edges
from mpigauge.features.profile.later import later_waits
from mpigauge.features.profile.waiting import WAIT, kept_calls, split_calls, waits
from mpigauge.runs.store.arrivals import ArrivalPattern
from mpigauge.site.mpi.programs.abi import family_of

Value = TypeVar("Value")

OUTSIDE = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
"""They begin and end the time that shares are of, so they are in none."""

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
        *(("least", "u8"), ("most", "u8")),
    ]
)
_NUMBERS = {"count": np.add, "amount": np.add, "least": np.minimum, "most": np.maximum}
"""Of a cell, and how those of several threads become one."""
NOWHERE = -4
"""A peer in the world that is not known."""


@dataclass(frozen=True)
class Spot:
    """A call of MPI at one place of the program."""

    call: str
    group: str
    region: str
    frames: tuple[ReturnAddress, ...]

    @cached_property
    def frames_of_program(self) -> tuple[ReturnAddress, ...]:
        """The stack from inside out, without what is of an MPI library itself."""
        found = []
        for frame in self.frames:
            if frame.module is None or not _is_of_mpi(frame.module.path):
                found.append(frame)
        return tuple(found)


def spot_of(site: Site) -> Spot:
    """The spot of a site of one rank."""
    return Spot(site.call, site.group, site.region, site.frames)


@cache
def _is_of_mpi(path: str) -> bool:
    """Whether this file is a library of an MPI, by its name."""
    return family_of(Path(path).name) is not None


@dataclass(frozen=True)
class Profile:
    """The files of a job, joined. Ranks are places in `files`."""

    files: tuple[RankFile, ...]
    spots: tuple[Spot, ...]
    rows: npt.NDArray[np.void]
    """Of ROW: what a spot took on a rank, of all its threads."""
    cells: npt.NDArray[np.void]
    """Of CELL: messages by spot, rank, communicator, peer (its rank there, and in the world), way
    (layout.Counted), bin of their size and type; least and most are of one message."""
    comms: tuple[Comm, ...]
    """As the first rank that had it saw it."""
    types: tuple[Type, ...]
    """The first stands for none."""
    waits: npt.NDArray[np.void] = field(default_factory=lambda: np.empty(0, WAIT))
    """Of waiting.WAIT: how much was waiting for others, by spot and rank."""
    arrivals: tuple[ArrivalPattern, ...] = ()
    """How late ranks came to their collectives, the one that takes longest first; `spot` is the
    place in `spots`, whose name is not known yet."""

    @cached_property
    def mpi_s(self) -> npt.NDArray[np.float64]:
        """Time in MPI by rank, without its beginning and its end."""
        inside = np.array([spot.call not in OUTSIDE for spot in self.spots], dtype=bool)
        kept = self.rows[inside[self.rows["site"]]] if len(self.spots) else self.rows
        seconds = np.zeros(len(self.files))
        np.add.at(seconds, kept["rank"], kept["seconds"])
        return seconds


def merged(files: Sequence[RankFile]) -> Profile:
    spots, types, comms = Numbers[Spot](), Numbers[Type](), _Comms()
    types.of(Type("", "", 0))
    rows: list[tuple[float, ...]] = []
    cells = [np.empty(0, CELL)]
    numbers_of = []
    for rank, file in enumerate(files):
        numbers = [spots.of(spot_of(site)) for site in file.sites]
        numbers_of.append(numbers)
        rows += _rows(rank, file, numbers)
        cells.append(_cells(rank, file, numbers, comms.of(file), types))
    kept = kept_calls(files, numbers_of)
    split = split_calls(kept)
    return Profile(
        files=tuple(files),
        spots=tuple(spots.known),
        rows=np.array(rows, dtype=ROW),
        cells=np.concatenate(cells),
        comms=comms.kept,
        types=tuple(types.known),
        waits=np.concatenate([waits(kept, split), later_waits(kept)]),
        arrivals=arrivals(files, numbers_of, split),
    )


class Numbers(Generic[Value]):
    """Gives each value a number, in the order in which they come."""

    def __init__(self) -> None:
        self.known: dict[Value, int] = {}

    def of(self, value: Value) -> int:
        return self.known.setdefault(value, len(self.known))


class _Comms:
    """One number for a communicator on all its ranks. Those of one rank each are one, too."""

    def __init__(self) -> None:
        self._numbers = Numbers[tuple[object, ...]]()
        self.kept: tuple[Comm, ...] = (Comm(0, "", -1, 0, 0, (), 0, 0, 0, ""),)
        self._numbers.of(())  # none

    def of(self, file: RankFile) -> dict[int, int]:
        """The new numbers by those in the file."""
        found = {0: 0}
        for number, comm in file.comms.items():
            alone = comm.size == 1 and comm.remote_size == 0
            key = (comm.name, comm.maker) if alone else (file.job, comm.family)
            found[number] = self._numbers.of(key)
            if found[number] == len(self.kept):
                self.kept += (replace(comm, members=()) if alone else comm,)
        return found


# --- times ---------------------------------------------------------------------------------


def _rows(rank: int, file: RankFile, numbers: Sequence[int]) -> Iterator[tuple[float, ...]]:
    """A row for each spot, of all threads together."""
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
    """The time that this part of calls did not exceed: to within a bin, an eighth of itself."""
    below = np.concatenate([[0], np.cumsum(times)]).astype(float)
    if below[-1] == 0:
        return float("nan")
    found = np.interp(part * below[-1], below, bin_edges() / hz)
    return float(np.clip(found, least_s, most_s))


# --- messages ------------------------------------------------------------------------------


def _cells(
    rank: int,
    file: RankFile,
    numbers: Sequence[int],
    comms: Mapping[int, int],
    types: Numbers[Type],
) -> npt.NDArray[np.void]:
    """The cells of a rank with the numbers that all ranks share. Cells of threads become one."""
    old = file.cells
    new = np.zeros(len(old), CELL)
    type_numbers = {0: 0} | {number: types.of(each) for number, each in file.types.items()}
    new["site"] = np.asarray(numbers, dtype="u4")[old["site"]] if len(old) else 0
    new["rank"] = rank
    new["comm"] = _looked_up(comms, old["comm"])
    new["type"] = _looked_up(type_numbers, old["type"])
    for name in ("peer", "way", "bin", *_NUMBERS):
        new[name] = old[name]
    new["world_peer"] = _in_world(file, old)
    return _summed(new)


def _looked_up(table: Mapping[int, int], keys: npt.NDArray[np.integer[Any]]) -> Any:
    values = np.zeros(max(table) + 1, dtype="u4")
    values[list(table)] = list(table.values())
    return values[keys]


def _in_world(file: RankFile, cells: npt.NDArray[np.void]) -> npt.NDArray[np.int32]:
    """The peers as ranks of the world; ranks that are none stay as they are."""
    world = np.where(cells["peer"] >= 0, NOWHERE, cells["peer"]).astype(np.int32)
    for number in np.unique(cells["comm"]):
        comm = file.comms.get(int(number))
        if comm is None or not comm.members:
            continue
        members = np.array(comm.members, dtype=np.int32)
        here = (cells["comm"] == number) & (cells["peer"] >= 0) & (cells["peer"] < len(members))
        world[here] = members[cells["peer"][here]]
    return world


def _summed(cells: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """One cell for each that differs by more than its numbers."""
    if len(cells) == 0:
        return cells
    keys = [name for name in CELL.names or () if name not in _NUMBERS]
    _, first, back = np.unique(cells[keys], return_index=True, return_inverse=True)
    summed = cells[first]
    others = np.setdiff1d(np.arange(len(cells)), first)
    for name, joined in _NUMBERS.items():
        joined.at(summed[name], back[others], cells[name][others])
    return summed
