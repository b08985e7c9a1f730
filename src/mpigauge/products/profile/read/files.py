# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads the files of a profiled job: one per process, however it ended."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mpigauge.model.errors import UserError
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.blocks import Blocks, shared, text_of
from mpigauge.products.profile.read.last_calls import Arguments, LastCall, needs_of
from mpigauge.products.profile.read.layout import BlockKind, Takes
from mpigauge.products.profile.read.rank_file import (
    Channel,
    Ended,
    Instances,
    Lost,
    RankFile,
    ReturnAddress,
    Site,
    Timeline,
    Usage,
    Waits,
    bin_edges,
    histogram_of,
)

SUFFIX = ".mpiprof"
Places = dict[tuple[int, int], int]
"""The indices of sites in the list of sites, by thread and number in the thread."""
_WAITS: dict[int, Waits] = {1: "all", 2: "for_root", 3: "at_root"}
_ABIS = {1: "mpich", 2: "ompi", 3: "std"}
_LOSSES = {layout.Loss.LIMIT: "limit", layout.Loss.DISK: "disk"}


def read_folder(folder: Path, ended_utc_s: float | None = None) -> tuple[RankFile, ...]:
    """Reads all files of a folder, ordered by job and rank; processes without a rank come last."""
    paths = sorted(folder.glob(f"*{SUFFIX}"))
    files = numbered([read_rank(path, ended_utc_s) for path in paths])
    return tuple(sorted(files, key=lambda each: (each.rank is None, each.job, each.rank or 0)))


_APART_S = 0.05
"""The maximum difference between ranks of one world leaving MPI_Init, and between clocks of hosts:
a rank may end before another begins. No launcher starts the next job sooner."""


def numbered(files: Iterable[RankFile]) -> list[RankFile]:
    """Returns the files with the numbers of their worlds, in the order in which worlds began.

    Some launchers pass no unique identifier to ranks. Then a world is formed by ranks that were in
    MPI at the same time and agree on their number.
    """
    worlds: list[_World] = []
    alone = []
    for file in sorted(files, key=lambda each: each.began_utc_s):
        if file.rank is None:
            alone.append(replace(file, job=0))
            continue
        world = next((world for world in worlds if world.has_place_for(file)), None)
        if world is None:
            worlds.append(world := _World(file.job, file.ranks))
        world.add(file, file.rank)
    return [
        *(
            replace(file, job=number)
            for number, world in enumerate(worlds, 1)
            for file in world.files.values()
        ),
        *alone,
    ]


@dataclass
class _World:
    """The files of the ranks that see each other, by rank."""

    job: int
    size: int
    files: dict[int, RankFile] = field(default_factory=dict)
    ended_s: float = math.inf
    """The first end of a rank, since 1970."""

    def has_place_for(self, file: RankFile) -> bool:
        """True if the file may be of this world."""
        if (file.job, file.ranks) != (self.job, self.size) or file.rank in self.files:
            return False
        return file.job != 0 or file.began_utc_s <= self.ended_s + _APART_S

    def add(self, file: RankFile, rank: int) -> None:
        self.files[rank] = file
        self.ended_s = min(self.ended_s, file.began_utc_s + file.run_s)


def read_rank(path: Path, ended_utc_s: float | None = None) -> RankFile:
    """Reads the file of one process; incomplete parts are left out. `ended_utc_s`: the moment up to
    which a process that did not end in order has run, in seconds since 1970; None: unknown.
    UserError: a wrong file."""
    data = np.fromfile(path, dtype=np.uint8)
    if data.size < layout.PAGE or data[:8].tobytes() != layout.MAGIC:
        raise UserError(f"{path} is not a file of the profiler (*{SUFFIX})")
    head = data[: layout.HEAD.itemsize].view(layout.HEAD)[0]
    if head["version"] != layout.VERSION:
        raise UserError(
            f"{path} is a file of version {head['version']} of the profiler; "
            f"this mpigauge reads version {layout.VERSION}"
        )
    return _Reader(path, data, head, ended_utc_s).rank_file()


class _Reader(Blocks):
    """A reader of everything that is not a table of names."""

    def __init__(
        self, path: Path, data: npt.NDArray[np.uint8], head: Any, ended_utc_s: float | None
    ) -> None:
        super().__init__(data, head, ended_utc_s)
        self.path = path

    def rank_file(self) -> RankFile:
        head = self.head
        texts = self._texts()
        regions = self._regions()
        sites, places = self._sites({number: region.path for number, region in regions.items()})
        rank = int(head["rank"])
        return RankFile(
            host=text_of(head["host"]),
            pid=int(head["pid"]),
            job=int(head["job"]),
            rank=None if rank < 0 else rank,
            ranks=int(head["ranks"]),
            words=shared(tuple(texts.get(layout.About.WORDS, "").split("\0")[:-1])),
            executable=text_of(head["executable"]),
            library=texts.get(layout.About.LIBRARY, "").strip(),
            abi=_ABIS.get(int(head["abi"]), ""),
            thread_level=int(head["thread_level"]),
            started=_utc(int(head["start"]["utc_ns"])),
            hz=self.hz,
            instances=tuple(self._instances(places)),
            channels=tuple(self._channels(places)),
            last_calls=tuple(self._last_calls(places)),
            start_ticks=int(head["start"]["ticks"]),
            launched=int(head["launched"]),
            start_utc_s=int(head["start"]["utc_ns"]) / 1e9,
            began_utc_s=self._utc_s(self._begin()),
            run_s=self._seconds(self._end() - self._begin()),
            on_s=self._on_s(),
            ended=_ended(int(head["ended"])),
            usage=self._usage(),
            cpus=self._cpus(),
            own_s=self._seconds(int(head["own_ticks"])),
            inner_s=self._seconds(int(head["inner_ticks"])),
            cut=int(head["cut"]),
            nested=int(head["nested"]),
            lost=self._lost(),
            comms=self._comms(),
            types=self._types(),
            regions=tuple(regions.values()),
            timelines=self._timelines(),
            sites=sites,
            cells=self._cells(places),
        )

    def _lost(self) -> Lost:
        calls, cells = int(self.head["lost_calls"]), int(self.head["lost_cells"])
        return Lost(calls, cells, _LOSSES.get(self.head["loss"], ""))

    def _begin(self) -> int:
        return int(self.head["init_ticks"]) or int(self.head["start"]["ticks"])

    def _last_sign(self) -> int:
        latest = [int(part["latest"]) for part, _ in self._each(BlockKind.THREAD, layout.THREAD)]
        return max([*latest, int(self.head["latest"]["ticks"]), self._begin()])

    def _end_of_process(self) -> int:
        """Returns the last moment of the process; of one that was killed as far as known."""
        end = self._last_sign()
        if self.ended_utc_s is None or _ended(int(self.head["ended"])) != "killed":
            return end
        start = self.head["start"]
        seconds = self.ended_utc_s - int(start["utc_ns"]) / 1e9
        return max(end, int(start["ticks"]) + int(seconds * self.hz))

    def _utc_s(self, ticks: int) -> float:
        start = self.head["start"]
        return int(start["utc_ns"]) / 1e9 + self._seconds(ticks - int(start["ticks"]))

    def _end(self) -> int:
        return int(self.head["finalize_ticks"]) or self._end_of_process()

    def _on_s(self) -> float:
        since = int(self.head["on_since"])
        running = self._end_of_process() - since if since else 0
        return self._seconds(int(self.head["on_ticks"]) + max(running, 0))

    def _usage(self) -> Usage:
        first, last = self.head["usage_start"], self.head["usage"]
        taken = {name: int(last[name]) - int(first[name]) for name in layout.USAGE.names or ()}
        return Usage(
            user_s=taken["user_us"] / 1e6,
            system_s=taken["system_us"] / 1e6,
            peak_bytes=int(last["peak_kib"]) * 1024,
            minor_faults=taken["minor_faults"],
            major_faults=taken["major_faults"],
            voluntary_switches=taken["voluntary_switches"],
            involuntary_switches=taken["involuntary_switches"],
        )

    def _timelines(self) -> tuple[Timeline, ...]:
        start = int(self.head["start"]["ticks"])
        timelines = []
        for part, _ in self._each(BlockKind.THREAD, layout.THREAD):
            if int(part["thread"]) not in self.outdated:
                timelines.append(
                    Timeline(
                        thread=int(part["thread"]),
                        start_s=self._seconds(int(part["start"]) - start),
                        step_s=self._seconds(int(part["step_ticks"])),
                        mpi_s=part["step"] / self.hz,
                        memory_bytes=part["memory"] * 1024.0,
                        sent_bytes=self._sent(part),
                    )
                )
        return tuple(timelines)

    def _sent(self, part: Any) -> npt.NDArray[np.float64]:
        """Returns the bytes sent in each step. The profiler counts when a step ends, so the
        rest of the cells belongs to the latest step."""
        sent = part["sent"].astype(np.float64)
        ticks = max(int(part["latest"]) - int(part["start"]), 0)
        last = min(ticks // max(int(part["step_ticks"]), 1), layout.MOST_STEPS - 1)
        rest = self._sent_by_thread.get(int(part["thread"]), 0) - float(sent.sum())
        sent[last] += max(rest, 0.0)
        return np.asarray(sent)

    @cached_property
    def _sent_by_thread(self) -> dict[int, float]:
        """The bytes of own send buffers by thread."""
        bytes_of: dict[int, float] = defaultdict(float)
        for part, at in self._each(BlockKind.CELLS, layout.CELLS):
            size = layout.CELL.itemsize * int(part["used"])
            chunk = self.data[at : at + size].view(layout.CELL)
            bytes_of[int(part["thread"])] += float(
                (chunk["amount"].astype(np.float64) * chunk["sends"]).sum()
            )
        return bytes_of

    def _sites(self, regions: dict[int, str]) -> tuple[tuple[Site, ...], Places]:
        """Returns the sites with calls, and their indices by thread and number. A call that goes
        on is one of them, which lasts until the end of the process."""
        calls, modules, lines = self._calls(), self._modules(), self._lines()
        last = dict(self._pending())
        sites: list[Site] = []
        places: Places = {}
        for stored, at in self._each(BlockKind.SITE, layout.SITE):
            key = int(stored["thread"]), int(stored["site"])
            part = with_pending(stored, last.get(key))
            count = int(part["times"].sum())
            if count == 0 or int(part["thread"]) in self.outdated:
                continue
            places[key] = len(sites)
            call, group = calls.get(int(part["call"]), ("", ""))
            frames = self.data[at : at + layout.FRAME.itemsize * int(part["frames"])]
            stack = tuple(
                lines.get(int(frame["offset"]), ReturnAddress(None, 0))
                if frame["module"] == layout.PYTHON_LINE
                else ReturnAddress(modules.get(int(frame["module"])), int(frame["offset"]))
                for frame in frames.view(layout.FRAME)
            )
            sites.append(
                Site(
                    thread=int(part["thread"]),
                    call=call,
                    group=group,
                    region=regions.get(int(part["region"]), ""),
                    frames=shared(stack),
                    calls=count,
                    seconds=self._seconds(int(part["ticks"])),
                    least_s=self._seconds(int(part["least"])),
                    most_s=self._seconds(int(part["most"])),
                    failures=int(part["failures"]),
                    histogram=histogram_of(part["times"]),
                )
            )
        return tuple(sites), places

    def _pending(self) -> Iterator[tuple[tuple[int, int], int]]:
        """Yields the sites of calls that go on, by thread and number, and their ticks until now."""
        for part, _ in self._each(BlockKind.THREAD, layout.THREAD):
            since = int(part["pending"]["since"])
            if since > int(part["latest"]):
                key = int(part["thread"]), int(part["pending"]["site"])
                yield key, max(self._end_of_process() - since, 0)

    def _last_calls(self, places: Places) -> Iterator[LastCall]:
        given = self._arguments()
        calls = {key: int(part["call"]) for key, part in self._site_parts()}
        goes_on = dict(self._pending())
        for part, _ in self._each(BlockKind.THREAD, layout.THREAD):
            pending = part["pending"]
            key = int(part["thread"]), int(pending["site"])
            if key not in places:
                continue
            lasts = key in goes_on
            outside = max(self._end_of_process() - int(part["latest"]), 0)
            name, takes = given.calls.get(calls[key], ("", Takes(0)))
            needs = needs_of(calls[key], pending, given) if lasts else ()
            yield LastCall(
                thread=key[0],
                site=places[key],
                call=name,
                goes_on=lasts,
                seconds=self._seconds(goes_on.get(key, outside)),
                needs=needs,
                requests=max(int(pending["requests"]), 0) if takes & Takes.REQUESTS else 0,
                is_any=bool(takes & Takes.ANY_REQUEST),
            )

    def _site_parts(self) -> Iterator[tuple[tuple[int, int], Any]]:
        for part, _ in self._each(BlockKind.SITE, layout.SITE):
            yield (int(part["thread"]), int(part["site"])), part

    def _arguments(self) -> Arguments:
        calls = {}
        for part, _ in self._each(BlockKind.CALL, layout.CALL):
            calls[int(part["call"])] = text_of(part["name"]), Takes(int(part["takes"]))
        comms, world = {}, 0
        for part, _ in self._each(BlockKind.COMM, layout.COMM):
            comms[int(part["handle"])] = int(part["comm"])
            if text_of(part["name"]) == "MPI_COMM_WORLD":
                world = int(part["comm"])
        comms.pop(0, None)
        return Arguments(self.head, comms, world, calls)

    def _cells(self, places: Places) -> npt.NDArray[np.void]:
        chunks = []
        for part, at in self._each(BlockKind.CELLS, layout.CELLS):
            size = layout.CELL.itemsize * int(part["used"])
            chunk = self.data[at : at + size].view(layout.CELL).copy()
            chunk = chunk[chunk["count"] > 0]
            thread = int(part["thread"])
            has_site = np.array(
                [(thread, int(site)) in places for site in chunk["site"]], dtype=bool
            )
            chunk = chunk[has_site] if chunk.size else chunk
            chunk["site"] = [places[thread, int(site)] for site in chunk["site"]]
            chunks.append(chunk)
        if chunks:
            return np.concatenate(chunks)
        return np.empty(0, layout.CELL)

    def _instances(self, places: Places) -> Iterator[Instances]:
        calls = self._calls()
        for part, _ in self._each(BlockKind.INSTANCES, layout.INSTANCES):
            yield Instances(
                comm=int(part["comm"]),
                call=calls.get(int(part["call"]), ("", ""))[0],
                bin=int(part["bin"]),
                waits=_WAITS[int(part["waits"])],
                first=int(part["from"]),
                count=int(part["count"]) - int(part["from"]),
                seconds=self._seconds(int(part["ticks"])),
                level=int(part["level"]),
                records=self._records(part, places),
            )

    @cached_property
    def _kept(self) -> dict[int, list[int]]:
        """The offsets of the records of each collective and channel, by its number: a block after
        the other, up to the first missing one."""
        blocks: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for part, end in self._each(BlockKind.KEPT, layout.KEPT):
            start = end - layout.KEPT_PLACES * layout.INSTANCE.itemsize
            blocks[int(part["of"])].append((int(part["part"]), start))
        return {
            number: [start for place, (part, start) in enumerate(sorted(of)) if part == place]
            for number, of in blocks.items()
        }

    def _records(self, part: Any, places: Places) -> StoredRecords:
        starts = tuple(self._kept.get(int(part["kept"]), ()))
        return StoredRecords(self.path, starts, int(part["used"]), int(part["from"]), places)

    def _channels(self, places: Places) -> Iterator[Channel]:
        for part, _ in self._each(BlockKind.CHANNEL, layout.CHANNEL):
            yield Channel(
                comm=int(part["comm"]),
                peer=int(part["peer"]),
                way=int(part["way"]),
                tags=int(part["tags"]),
                count=int(part["count"]),
                level=int(part["level"]),
                records=self._records(part, places),
            )


def with_pending(part: Any, ticks: int | None) -> Any:
    """Returns a site as layout.SITE with a call that goes on for so many ticks; None: none does."""
    if ticks is None:
        return part
    part = part.copy()
    place = np.searchsorted(bin_edges(), ticks, side="right") - 1
    part["times"][min(int(place), layout.BINS - 1)] += 1
    part["ticks"] += np.uint64(ticks)
    part["least"] = min(int(part["least"]), ticks)
    part["most"] = max(int(part["most"]), ticks)
    return part


@dataclass(frozen=True)
class StoredRecords:
    """Reads the records of one collective or channel from a file each time it is called."""

    path: Path
    starts: tuple[int, ...]
    """The offsets of blocks of records."""
    used: int
    first: int
    """The index of the first record that counts."""
    places: Places

    def __call__(self) -> npt.NDArray[np.void]:
        """Returns the records that count, by index; `site` is the index in the list of sites."""
        size = layout.KEPT_PLACES * layout.INSTANCE.itemsize
        with self.path.open("rb", buffering=0) as file:
            content = b"".join(os.pread(file.fileno(), size, start) for start in self.starts)
        records = np.frombuffer(content, layout.INSTANCE)[: self.used]
        words = records["thread"].astype(np.uint64) << np.uint64(32) | records["site"]
        keys, of_key = np.unique(words, return_inverse=True)
        indices = [self.places.get((int(key) >> 32, int(key) & 0xFFFFFFFF)) for key in keys]
        has_site = np.array([index is not None for index in indices], dtype=bool)[of_key]
        is_counted = has_site & (records["index"] >= self.first)
        records = records[is_counted]
        sites = np.array([index or 0 for index in indices], dtype=np.uint32)
        records["site"] = sites[of_key[is_counted]]
        return np.asarray(records[np.argsort(records["index"], kind="stable")])


def _utc(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ended(bits: int) -> Ended:
    if bits & layout.Ended.FINALIZED:
        return "finalized"
    if bits & layout.Ended.EXITED:
        return "exited"
    return "killed"
