# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The content of the file of one process of a profiled job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.last_calls import LastCall

Ended = Literal["finalized", "exited", "killed"]
Waits = Literal["all", "for_root", "at_root"]
Records = Callable[[], npt.NDArray[np.void]]
"""Reads records as layout.INSTANCE from the file, where they stay, as they are most of it. They are
in the order of their index; `site` is the index in the sites of the file."""
TIMES = np.dtype([("bin", "u2"), ("calls", "u8")])


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
    histogram: npt.NDArray[np.void] = field(repr=False, compare=False)
    """The bins of time that have calls, as TIMES."""

    @property
    def times(self) -> npt.NDArray[np.uint64]:
        """The number of calls by bins of time; see `bin_edges`."""
        times = np.zeros(layout.BINS, dtype=np.uint64)
        times[self.histogram["bin"]] = self.histogram["calls"]
        return times


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
    records: Records = field(repr=False, compare=False)

    @property
    def is_later(self) -> bool:
        """True if one call starts the collective and another waits for it."""
        return self.call.startswith("MPI_I")


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
    records: Records = field(repr=False, compare=False)
    """Reads the records, whose `root` is the tag."""


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


def histogram_of(times: npt.NDArray[np.uint64]) -> npt.NDArray[np.void]:
    """Returns the bins that have calls, as TIMES."""
    bins = np.flatnonzero(times)
    histogram = np.empty(len(bins), TIMES)
    histogram["bin"], histogram["calls"] = bins, times[bins]
    return histogram


@cache
def bin_edges() -> npt.NDArray[np.float64]:
    """Returns the edges of bins in ticks, one more than bins: each tick below 16, then 8 bins for
    each power of two."""
    number = np.arange(layout.BINS + 1)
    bit = number // 8 + 2
    width = np.exp2(np.maximum(bit - 3, 0))
    return np.where(number < 16, number, (8 + number % 8) * width).astype(np.float64)
