# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads the files of a profiled job: one per process, however it ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mpigauge.model.errors import UserError
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.last_calls import Arguments, LastCall, needs_of
from mpigauge.products.profile.read.layout import BlockKind, Takes

SUFFIX = ".mpiprof"
Ended = Literal["finalized", "exited", "killed"]
Places = dict[tuple[int, int], int]
"""The indices of sites in the list of sites, by thread and number in the thread."""
Waits = Literal["all", "for_root", "at_root"]
_WAITS: dict[int, Waits] = {1: "all", 2: "for_root", 3: "at_root"}
_ABIS = {1: "mpich", 2: "ompi", 3: "std"}
_LOSSES = {layout.Loss.LIMIT: "limit", layout.Loss.DISK: "disk"}


@dataclass(frozen=True)
class Module:
    """A file of machine code, the program or a library; or a function in a file of Python."""

    path: str
    build_id: str
    """The build ID in hexadecimal digits; empty if there is none."""
    function: str = ""
    """The function of Python, within which offsets are lines; empty: machine code."""


@dataclass(frozen=True)
class ReturnAddress:
    """A return address: the call is just before it. Or a line of Python."""

    module: Module | None
    """The file of the code; None: code without a file, such as from a JIT compiler."""
    offset: int


@dataclass(frozen=True)
class Comm:
    number: int
    name: str
    rank: int
    """The own rank."""
    size: int
    remote_size: int
    """The remote size of an intercommunicator, whose peers are the remote ranks; else 0."""
    members: tuple[int, ...]
    """The rank in MPI_COMM_WORLD of each (remote) rank; -1: none. Empty: unknown."""
    family: int
    """An identifier, the same on all ranks, of communicators made alike for the same ranks."""
    births: int
    """The number of such communicators, one after another."""
    parent: int
    """The number of the communicator it was made from; 0: unknown."""
    maker: str
    """The call that made the communicator."""


@dataclass(frozen=True)
class Type:
    name: str
    operation: str
    size: int


@dataclass(frozen=True)
class Region:
    path: str
    """The names of enclosing regions and its own, separated by slashes."""
    entered: int
    seconds: float


@dataclass(frozen=True)
class Usage:
    """The resource usage of a process while profiled; the peak is over its whole life."""

    user_s: float
    system_s: float
    peak_bytes: int
    minor_faults: int
    major_faults: int
    voluntary_switches: int
    involuntary_switches: int


@dataclass(frozen=True)
class Timeline:
    """The time of one thread in MPI, by steps of time."""

    thread: int
    start_s: float
    """The start of the timeline, in seconds after the start of the profile."""
    step_s: float
    mpi_s: npt.NDArray[np.float64]
    memory_bytes: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """The memory of the process, sampled at most once in each step; 0: not sampled. Empty: it is
    unknown, as in older runs."""
    sent_bytes: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """The bytes of own send buffers in each step. Empty: they are unknown, as in older runs."""


@dataclass(frozen=True)
class Site:
    """A call site: one call, stack, region and thread."""

    thread: int
    call: str
    group: str
    region: str
    """The path of the region; empty: none."""
    frames: tuple[ReturnAddress, ...]
    calls: int
    seconds: float
    least_s: float
    most_s: float
    failures: int
    times: npt.NDArray[np.uint64] = field(repr=False, compare=False)
    """The number of calls by bins of time; see `bin_edges`."""


@dataclass(frozen=True)
class Instances:
    """Calls of one collective on one communicator and of one size, some of them recorded."""

    comm: int
    call: str
    bin: int
    """The bin of sizes as in cells; layout.OTHER_SIZES: all sizes."""
    waits: Waits
    """The direction of waiting: all for all, all for the root, or the root for all."""
    first: int
    """The index of the first call that counts."""
    count: int
    """The number of calls from the first one on."""
    seconds: float
    level: int
    """The sampling level: one of 2 ** level calls is recorded."""
    records: npt.NDArray[np.void] = field(repr=False, compare=False)
    """The records, as layout.INSTANCE, by index; `site` is the index in the sites of the file."""

    @property
    def is_later(self) -> bool:
        """True if one call starts the collective and another waits for it."""
        return self.call.startswith("MPI_I")

    def only(self, indices: npt.NDArray[np.integer[Any]] | None) -> Instances:
        """Returns these calls with only the records of these indices."""
        kept = np.isin(self.records["index"], [] if indices is None else indices)
        return replace(self, records=self.records[kept])


@dataclass(frozen=True)
class Channel:
    """Messages to or from one other rank on a communicator, with tags of one group, some of them
    recorded."""

    comm: int
    peer: int
    way: int
    """The direction: layout.Counted.SENT or RECEIVED."""
    tags: int
    count: int
    """The number of all messages, recorded or not."""
    level: int
    records: npt.NDArray[np.void] = field(repr=False, compare=False)
    """The records, as in Instances; `root` is the tag."""


@dataclass(frozen=True)
class Lost:
    """The numbers of events that were lost for lack of space."""

    calls: int
    cells: int
    reason: str
    """The reason: limit or disk; empty: nothing was lost."""


@dataclass(frozen=True)
class RankFile:
    """The contents of the file of one process."""

    host: str
    pid: int
    job: int
    """The identifier of the job, in a single file from its launcher. `read_folder` numbers worlds
    from 1; 0: the process has none, as it did not complete MPI_Init."""
    rank: int | None
    ranks: int
    words: tuple[str, ...]
    executable: str
    library: str
    """The version string of the MPI library."""
    abi: str
    thread_level: int
    started: str
    hz: float
    """The ticks per second of the profiler's clock."""
    run_s: float
    """The time from the end of MPI_Init or the first call to MPI_Finalize or the end."""
    on_s: float
    """The time during which the profile was on."""
    ended: Ended
    usage: Usage
    cpus: Mapping[int, tuple[int, int]]
    """The NUMA node and the number of samples for each processor on which it was seen."""
    own_s: float
    """The overhead of the profiler per call."""
    inner_s: float
    """The part of the overhead within measured times, which was subtracted."""
    cut: int
    nested: int
    lost: Lost
    comms: Mapping[int, Comm]
    types: Mapping[int, Type]
    regions: tuple[Region, ...]
    timelines: tuple[Timeline, ...]
    sites: tuple[Site, ...]
    cells: npt.NDArray[np.void]
    """The cells, as layout.CELL; `site` is the index in `sites`."""
    instances: tuple[Instances, ...] = field(default=(), repr=False)
    channels: tuple[Channel, ...] = field(default=(), repr=False)
    last_calls: tuple[LastCall, ...] = field(default=(), repr=False)
    start_ticks: int = 0
    """The start of the profile in ticks of the processor, which ranks of a host share."""
    start_utc_s: float = 0.0
    launched: int = 0
    """The number of ranks by the variables of the launcher; 0: unknown."""
    began_utc_s: float = 0.0
    """The end of MPI_Init, else the start, by the clock of its host since 1970."""

    @cached_property
    def mpi_s(self) -> float:
        """The time of all threads in MPI."""
        return sum(site.seconds for site in self.sites)


def bin_edges() -> npt.NDArray[np.float64]:
    """Returns the edges of bins in ticks, one more than bins: each tick below 16, then 8 bins for
    each power of two."""
    number = np.arange(layout.BINS + 1)
    bit = number // 8 + 2
    width = np.exp2(np.maximum(bit - 3, 0))
    return np.where(number < 16, number, (8 + number % 8) * width).astype(np.float64)


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
    worlds: list[list[RankFile]] = []
    alone = []
    for file in sorted(files, key=lambda each: each.began_utc_s):
        if file.rank is None:
            alone.append(replace(file, job=0))
            continue
        world = next((world for world in worlds if _belongs(file, world)), None)
        if world is None:
            worlds.append(world := [])
        world.append(file)
    return [
        *(replace(each, job=number) for number, world in enumerate(worlds, 1) for each in world),
        *alone,
    ]


def _belongs(file: RankFile, world: Sequence[RankFile]) -> bool:
    first = world[0]
    alike = (file.job, file.ranks) == (first.job, first.ranks)
    if not alike or file.rank in {each.rank for each in world}:
        return False
    ended_s = min(each.began_utc_s + each.run_s for each in world)
    return file.job != 0 or file.began_utc_s <= ended_s + _APART_S


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
    return _Reader(data, head, ended_utc_s).rank_file()


class _Reader:
    """A reader that scans the blocks once and indexes them by kind."""

    def __init__(
        self, data: npt.NDArray[np.uint8], head: Any, ended_utc_s: float | None = None
    ) -> None:
        self.data, self.head, self.ended_utc_s = data, head, ended_utc_s
        self.blocks: dict[int, list[int]] = {kind: [] for kind in BlockKind}
        for kind, offset in self._all_blocks():
            self.blocks.setdefault(kind, []).append(offset)
        self.hz = self._rate()
        self.outdated = set(self._outdated())

    def _outdated(self) -> Iterator[int]:
        """Yields threads without a call since the last reset of the profile."""
        for part, _ in self._each(BlockKind.THREAD, layout.THREAD):
            if int(part["resets"]) < int(self.head["resets"]):
                yield int(part["thread"])

    def _all_blocks(self) -> Iterator[tuple[int, int]]:
        for piece in self.head["piece"][: int(self.head["pieces"])]:
            at, end = int(piece["offset"]), int(piece["offset"] + piece["bytes"])
            end = min(end, self.data.size)
            while at + 8 <= end:
                kind, size = (int(word) for word in self.data[at : at + 8].view("u4"))
                if size == 0 or at + size > end:
                    break
                yield kind, at
                at += size

    def _rate(self) -> float:
        """Returns the ticks per second, from the two moments at which all clocks were read."""
        start, latest = self.head["start"], self.head["latest"]
        span_ns = int(latest["monotonic_ns"]) - int(start["monotonic_ns"])
        ticks = int(latest["ticks"]) - int(start["ticks"])
        if span_ns > 0 and ticks > 0:
            return ticks * 1e9 / span_ns
        return 1e9

    # --- parts

    def _each(self, kind: BlockKind, dtype: np.dtype[Any]) -> Iterator[tuple[Any, int]]:
        """Yields the fixed part of each block of a kind, and its end offset."""
        for at in self.blocks[kind]:
            end = at + dtype.itemsize
            if end <= self.data.size:
                yield self.data[at:end].view(dtype)[0], end

    def _text(self, at: int, length: int) -> str:
        return self.data[at : at + length].tobytes().decode("utf-8", "replace")

    def _seconds(self, ticks: int) -> float:
        return float(ticks) / self.hz

    def rank_file(self) -> RankFile:
        head = self.head
        texts = self._texts()
        regions = self._regions()
        sites, places = self._sites({number: region.path for number, region in regions.items()})
        rank = int(head["rank"])
        return RankFile(
            host=_name(head["host"]),
            pid=int(head["pid"]),
            job=int(head["job"]),
            rank=None if rank < 0 else rank,
            ranks=int(head["ranks"]),
            words=tuple(texts.get(layout.About.WORDS, "").split("\0")[:-1]),
            executable=_name(head["executable"]),
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

    def _texts(self) -> dict[int, str]:
        parts = self._each(BlockKind.TEXT, layout.TEXT)
        return {int(part["about"]): self._text(at, int(part["length"])) for part, at in parts}

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

    def _cpus(self) -> dict[int, tuple[int, int]]:
        seen: dict[int, tuple[int, int]] = {}
        for part, _ in self._each(BlockKind.CPUS, layout.CPUS):
            if int(part["thread"]) in self.outdated:
                continue
            for each in part["cpu"][: int(part["used"])]:
                cpu = int(each["cpu"])
                before = seen.get(cpu, (0, 0))[1]
                seen[cpu] = (int(each["node"]), before + int(each["times"]))
        return dict(sorted(seen.items()))

    def _calls(self) -> dict[int, tuple[str, str]]:
        parts = self._each(BlockKind.CALL, layout.CALL)
        return {int(part["call"]): (_name(part["name"]), _name(part["group"])) for part, _ in parts}

    def _modules(self) -> dict[int, Module]:
        modules = {}
        for part, at in self._each(BlockKind.MODULE, layout.MODULE):
            identity = bytes(part["id"])[: int(part["id_bytes"])]
            path = self._text(at, int(part["path_length"]))
            modules[int(part["module"])] = Module(path, identity.hex())
        return modules

    def _lines(self) -> dict[int, ReturnAddress]:
        """Returns the lines of Python by their numbers."""
        lines = {}
        for part, at in self._each(BlockKind.LINE, layout.LINE):
            middle = at + int(part["function_length"])
            function = self._text(at, middle - at)
            path = self._text(middle, int(part["path_length"]))
            module = Module(path, "", function or "<unknown>")
            lines[int(part["line"])] = ReturnAddress(module, int(part["in_file"]))
        return lines

    def _regions(self) -> dict[int, Region]:
        regions: dict[int, Region] = {}
        for part, _ in self._each(BlockKind.REGION, layout.REGION):
            around = regions.get(int(part["parent"]))
            path = f"{around.path}/{_name(part['name'])}" if around else _name(part["name"])
            seconds = self._seconds(int(part["ticks"]))
            regions[int(part["region"])] = Region(path, int(part["entered"]), seconds)
        return regions

    def _comms(self) -> dict[int, Comm]:
        calls = self._calls()
        members = self._members()
        comms: dict[int, Comm] = {}
        for part, _ in self._each(BlockKind.COMM, layout.COMM):
            comms[int(part["comm"])] = Comm(
                number=int(part["comm"]),
                name=_name(part["name"]),
                rank=int(part["rank"]),
                size=int(part["size"]),
                remote_size=int(part["remote_size"]),
                members=members.get(int(part["members"]), ()),
                family=int(part["family"]),
                births=int(part["births"]),
                parent=int(part["parent"]),
                maker=calls.get(int(part["maker"]), ("", ""))[0],
            )
        return comms

    def _members(self) -> dict[int, tuple[int, ...]]:
        members = {}
        for part, at in self._each(BlockKind.MEMBERS, layout.MEMBERS):
            ranks = self.data[at : at + 4 * int(part["count"])].view("i4")
            members[int(part["members"])] = tuple(ranks.tolist())
        return members

    def _types(self) -> dict[int, Type]:
        types = {}
        for part, _ in self._each(BlockKind.TYPE, layout.TYPE):
            name, operation = _name(part["name"]), _name(part["operation"])
            types[int(part["type"])] = Type(name, operation, int(part["size"]))
        return types

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
        """Returns the bytes sent in each step. The profiler looks when a step ends, so the latest
        are those that it has not seen yet."""
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
            sites.append(
                Site(
                    thread=int(part["thread"]),
                    call=call,
                    group=group,
                    region=regions.get(int(part["region"]), ""),
                    frames=tuple(
                        lines.get(int(frame["offset"]), ReturnAddress(None, 0))
                        if frame["module"] == layout.PYTHON_LINE
                        else ReturnAddress(modules.get(int(frame["module"])), int(frame["offset"]))
                        for frame in frames.view(layout.FRAME)
                    ),
                    calls=count,
                    seconds=self._seconds(int(part["ticks"])),
                    least_s=self._seconds(int(part["least"])),
                    most_s=self._seconds(int(part["most"])),
                    failures=int(part["failures"]),
                    times=part["times"].copy(),
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
            calls[int(part["call"])] = _name(part["name"]), Takes(int(part["takes"]))
        comms, world = {}, 0
        for part, _ in self._each(BlockKind.COMM, layout.COMM):
            comms[int(part["handle"])] = int(part["comm"])
            if _name(part["name"]) == "MPI_COMM_WORLD":
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
                records=_records(part, self.kept, places),
            )

    @cached_property
    def kept(self) -> dict[int, npt.NDArray[np.void]]:
        """The recorded instances of each collective and channel, by its number."""
        blocks: dict[int, list[Any]] = defaultdict(list)
        for part, _ in self._each(BlockKind.KEPT, layout.KEPT):
            blocks[int(part["of"])].append(part)
        return {number: _in_a_row(parts) for number, parts in blocks.items()}

    def _channels(self, places: Places) -> Iterator[Channel]:
        for part, _ in self._each(BlockKind.CHANNEL, layout.CHANNEL):
            yield Channel(
                comm=int(part["comm"]),
                peer=int(part["peer"]),
                way=int(part["way"]),
                tags=int(part["tags"]),
                count=int(part["count"]),
                level=int(part["level"]),
                records=_records(part, self.kept, places),
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


def _in_a_row(blocks: list[Any]) -> npt.NDArray[np.void]:
    """Joins the instances in the blocks of one number, up to the first missing block."""
    blocks.sort(key=lambda block: int(block["part"]))
    whole = [block["instance"] for place, block in enumerate(blocks) if block["part"] == place]
    return np.concatenate([np.empty(0, layout.INSTANCE), *whole])


def _records(
    part: Any, kept: Mapping[int, npt.NDArray[np.void]], places: Places
) -> npt.NDArray[np.void]:
    """Returns the records that count, by index; `site` becomes the index in the list of sites."""
    all_places = kept.get(int(part["kept"]), np.empty(0, layout.INSTANCE))
    records = all_places[: int(part["used"])].copy()
    words = records["thread"].astype(np.uint64) << np.uint64(32) | records["site"]
    keys, of_key = np.unique(words, return_inverse=True)
    site_indices = [places.get((int(key) >> 32, int(key) & 0xFFFFFFFF)) for key in keys]
    has_site = np.array([site is not None for site in site_indices], dtype=bool)[of_key]
    records["site"] = np.array([site or 0 for site in site_indices], dtype=np.uint32)[of_key]
    records = records[has_site & (records["index"] >= part["from"])]
    return np.asarray(records[np.argsort(records["index"], kind="stable")])


def _name(text: Any) -> str:
    return bytes(text).split(b"\0")[0].decode("utf-8", "replace")


def _utc(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ended(bits: int) -> Ended:
    if bits & layout.Ended.FINALIZED:
        return "finalized"
    if bits & layout.Ended.EXITED:
        return "exited"
    return "killed"
