# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# Made by tools/generate.py from schema/records.toml: change that file, not this one.
"""What the records of a run hold, beside the columns of cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Clock:
    """The clock of rank 0."""

    name: str = "unknown"
    """What is read: tsc, cntvct, a clock of the system."""
    hz: float = math.nan
    """Its rate."""
    cost_s: float = math.nan
    """What reading it takes."""
    step_s: float = math.nan
    """Its step."""


@dataclass(frozen=True)
class Launch:
    """One start of the MPI job."""

    launch: int
    """Its number, from 0."""
    schema: int
    """Version of the columns of cells."""
    world_ranks: int
    """Ranks of the job."""
    time: str = ""
    """When it began, in UTC."""
    mpi_library: str = ""
    """The MPI library's own description."""
    mpi_standard: str = ""
    """Version of the standard that it follows."""
    abi: str = ""
    """The ABI for which the kernels were compiled: mpich, ompi, std."""
    mode: str = ""
    """adaptive or classic."""
    precision: float = math.nan
    """The relative error that was wanted."""
    seed: int = 0
    """Of all random orders."""
    thread_level: str = ""
    """The thread level that the MPI library provided: single, funneled, serialized, multiple."""
    thread_level_asked: str = ""
    """The one for which it was asked, where --thread-level names one; empty: the lowest that the
    benchmarks needed."""
    clock: Clock = Clock()
    """What times were read from."""
    cuda_driver: str = ""
    """Version of CUDA that the driver supports; empty: no buffer is on a GPU."""
    gpu_claims: str = ""
    """Support of GPUs that the MPI library claims, untested: mpi_memory_alloc_kinds,
    MPIX_Query_cuda_support."""


@dataclass(frozen=True)
class Gpu:
    """The GPU of a rank."""

    index: int = -1
    """Its number for the driver; -1: the rank uses none."""
    bus: str = ""
    """Its PCI address: 0000:19:00.0."""
    uuid: str = ""
    """Its identity, whatever number it has."""
    name: str = ""
    """Its model."""
    numa: int = -1
    """The NUMA node to which it is attached; -1: unknown."""
    link: str = ""
    """Its PCIe link as it was then: 32.0 GT/s x16; empty: unknown."""
    link_max: str = ""
    """The fastest link that it and its slot support."""
    mig: bool = False
    """True if it is a part of a GPU (MIG)."""
    mps: bool = False
    """True if processes share it through MPS; otherwise they use it in turn."""
    ranks_on_it: int = 1
    """Ranks of the job that use it."""


@dataclass(frozen=True)
class Rank:
    """Where one rank ran: the cores that were asked for, and those that it got."""

    launch: int
    """Number of the launch."""
    rank: int
    """Its number in the job."""
    host: str
    """Name of its host."""
    pid: int
    """Its process."""
    local_rank: int
    """Its number on its host, as the launcher sets it; -1: unknown."""
    wanted_cpuset: str
    """Cores that were asked for; empty: any."""
    cpuset: str
    """Cores that it may use."""
    cpu: int
    """The one on which it ran then."""
    numa: int
    """NUMA node of that."""
    init_s: float = math.nan
    """What starting MPI took, as this rank saw it."""
    startup_s: float = math.nan
    """From the start of the process until then; the system counts in steps of 10 ms."""
    gpu: Gpu = Gpu()
    """The GPU on which its buffers are."""


@dataclass(frozen=True)
class GpuState:
    """Clocks and limits of a GPU, as NVML reports them."""

    launch: int
    """Number of the launch."""
    rank: int
    """The first rank of those that use the GPU."""
    when: str
    """before or after the measurement."""
    bus: str
    """PCI address of the GPU."""
    clock_hz: float = math.nan
    """Clock of its processors."""
    clock_max_hz: float = math.nan
    """The highest clock that it supports."""
    throttle: str = ""
    """Why the clock is held down, words with commas between: power, thermal, hardware; empty: it is
    not."""
    power_w: float = math.nan
    """Power that it draws."""
    temperature_c: float = math.nan
    """Its temperature."""
    others: int = 0
    """Processes on it beside the ranks of the job."""


@dataclass(frozen=True)
class Noise:
    """How much of a core others took while it did nothing but read the clock."""

    launch: int
    """Number of the launch."""
    rank: int
    """Who read the clock."""
    when: str
    """before or after what was measured; measured: by NODE:Noise, between the other benchmarks."""
    cpu: int
    """On which core."""
    seconds: float
    """For how long."""
    detours: int
    """How often others took the core for more than a microsecond."""
    lost_ratio: float
    """Share of the time that they took."""
    longest_s: float
    """The longest detour."""
    stolen_s: float = 0.0
    """Given to others by the hypervisor meanwhile, as the system counts it."""
    waited_s: float = 0.0
    """In which the rank could have run, but another process had the core."""
    switched_out: int = 0
    """How often it was taken off the core."""
    start_ns: tuple[int, ...] = ()
    """When the first 4096 detours began, from the first reading of the clock."""
    length_ns: tuple[int, ...] = ()
    """How long they were."""


@dataclass(frozen=True)
class Sampled:
    """What noise there was before a launch, of a core in the mean over all ranks, and what the
    sampling made of it."""

    launch: int
    """Number of the launch."""
    cores: int
    """Of how many cores."""
    detours_per_s: float
    """Detours of a core in a second."""
    lost_ratio: float
    """Share of the time that they took."""
    detour_s: float
    """Half of them are longer; NaN: there were none."""
    calm_s: float
    """The longest sample on all cores of which 95 % meet none; NaN: any."""
    batch_s: float
    """How long calls that follow each other are joined to a sample."""


@dataclass(frozen=True)
class Chunk:
    """One visit to a cell."""

    round: int
    """In which round."""
    taint: int
    """What disturbed it."""
    n: int
    """How many samples."""


@dataclass(frozen=True)
class Raw:
    """All samples of a cell in ticks of the clock: inside the record, or in a file of the run."""

    hz: float
    """Ticks in a second."""
    chunks: tuple[Chunk, ...]
    """The visits, in their order."""
    ticks: str = ""
    """Base64 of little-endian u32: all maxima over ranks, all minima, all means."""
    file: str = ""
    """Where they are instead, in the folder of the run."""
    offset: int = 0
    """At which byte of it."""
    scheme: str = "max,min,avg"
    """What ticks hold."""


@dataclass(frozen=True)
class PairBlock:
    """Cells of the pairs of ranks that measured side by side in one round, at one size: columns
    that they share have one value, all others an array with a value for each pair."""

    launch: int
    """Number of the launch."""
    round: int
    """Number of the round in the launch, from 0."""
    key: Mapping[str, Any]
    """Key columns of the cells, except `group`, which is the number of the pair in the block, and
    `members`, its ranks."""
    pairs: tuple[int, ...] = ()
    """Ranks of the job: both of pair 0, both of pair 1, and so on."""
    pairing: str = ""
    """The schedule from which the pairs follow, if they are not listed: all."""
    world_ranks: int = 0
    """Ranks of the job, if pairs follow from a schedule."""
    shared: Mapping[str, Any] = field(default_factory=dict)
    """Columns with the same value in all cells."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Columns in which cells differ. A list has a value for each pair; a string is base64 of
    little-endian f32, likewise; an object has values by number of the pair, and all other pairs
    have that of `shared`."""
    raw: tuple[Raw, ...] = ()
    """Samples of each pair; none: they were not kept."""


@dataclass(frozen=True)
class Matching:
    """Times of the pairs of ranks that met in one round of a benchmark that pairs hosts anew each
    round (FABRIC)."""

    launch: int
    """Number of the launch."""
    round: int
    """Number of the round in the launch, from 0, which is the warm-up."""
    key: Mapping[str, Any]
    """Which cell."""
    pairs: tuple[int, ...]
    """Ranks of the group: both of pair 0, both of pair 1, and so on. Of bursts (Permutations8), a
    rank is in several pairs."""
    time_ns: tuple[int, ...]
    """Time of each of them on the slower rank: the median of the calls of the visit, of bursts the
    mean."""


@dataclass(frozen=True)
class Progress:
    """What is known of a cell while it is still measured."""

    launch: int
    """Number of the launch."""
    key: Mapping[str, Any]
    """Which cell."""
    time_p50_s: float
    """As in cells."""
    ci_low_s: float
    """As in cells."""
    ci_high_s: float
    """As in cells."""
    time_scale: float
    """As in cells."""
    moved_bytes: float
    """As in cells."""
    messages: float
    """As in cells."""
    samples: int
    """Until now."""
    rounds: int
    """Until now."""


@dataclass(frozen=True)
class Skip:
    """A cell that was not measured, and why."""

    launch: int
    """Number of the launch."""
    key: Mapping[str, Any]
    """Which cell: its columns, among the other keys."""
    reason: str
    """Why not."""


@dataclass(frozen=True)
class Figure:
    """A number that is not a time of a call: a program's figure of merit, the memory of a rank."""

    launch: int
    """Number of the launch."""
    benchmark: str
    """What was run; job: the job of MPI itself."""
    name: str
    """What the number is: DGEMM, peak RSS."""
    value: float
    """The number."""
    unit: str
    """Of the number."""
    better: str
    """higher or lower; empty: neither."""
    ranks: int = 0
    """Of the job; 0: not known."""
    rank: int = -1
    """Of which rank; -1: of all of them together."""
    placement: str = ""
    """As in cells."""
    arm: str = ""
    """As in cells."""
    source: str = ""
    """As in cells."""
    origin: str = "measured"
    """As in cells."""


@dataclass(frozen=True)
class CallSite:
    """A call of MPI at one place of a profiled program, with its callers, in one launch."""

    launch: int
    """Number of the launch."""
    benchmark: str
    """The program."""
    number: int
    """Its number in the profile, from 1: the one that takes longest first."""
    call: str
    """The call: MPI_Send."""
    region: str
    """The region that the program has named; empty: none."""
    function: str
    """The function that makes the call; empty: not known."""
    source_file: str
    """Where that is written; empty: there is no debug information."""
    line: int
    """The line there; 0: not known."""
    library_file: str
    """The file of code that the call is in: the program or a library of it; empty: not known."""
    offset: int
    """Where in that file the call returns to."""
    ranks: int
    """Ranks that made the call."""
    calls: int
    """Calls of all ranks together."""
    time_s: float
    """What a rank spent in it, in the mean of all ranks."""
    time_max_s: float
    """The same of the rank that spent most."""
    call_p50_s: float
    """The median of single calls, of the rank in the middle."""
    call_p99_s: float
    """99 % of single calls took no longer, on the worst rank."""
    call_max_s: float
    """The longest of all calls."""
    sent_bytes: int
    """What all ranks sent, or handed to a collective."""
    failures: int
    """Calls that gave an error."""
    waiting_s: float = math.nan
    """The time for which a rank waits for others in a collective, as the mean of all ranks; nan: it
    cannot be separated from moving."""


@dataclass(frozen=True)
class Failure:
    """A launch or a rank that failed."""

    launch: int
    """Number of the launch."""
    rank: int
    """Which rank; -1: the launch."""
    message: str
    """What happened."""


@dataclass(frozen=True)
class Carried:
    """What carried the messages of a launch."""

    launch: int
    """Number of the launch."""
    used: str
    """The transport that its MPI reports, such as tcp between hosts."""


@dataclass(frozen=True)
class End:
    """The end of a launch."""

    launch: int
    """Number of the launch."""
    stopped: str
    """done, time or interrupted."""
    seconds: float
    """What it took, from its first measurement."""
    measuring_s: float
    """Of that, in benchmarks."""
    wrong_count: int
    """Elements that arrived wrong."""
    cells: int
    """Cells that were measured."""
    records: int = -1
    """Records of this launch before this one, without progress; -1: unknown, as in old runs."""


KINDS: dict[str, type[Any]] = {
    "launch": Launch,
    "rank": Rank,
    "gpu_state": GpuState,
    "noise": Noise,
    "sampling": Sampled,
    "pairs": PairBlock,
    "matching": Matching,
    "progress": Progress,
    "skip": Skip,
    "figure": Figure,
    "call_site": CallSite,
    "error": Failure,
    "transport": Carried,
    "end": End,
}
"""By the word in their lines."""
PARTS: dict[str, type[Any]] = {
    "Clock": Clock,
    "Gpu": Gpu,
    "Chunk": Chunk,
    "Raw": Raw,
}
"""What only stands in other records, by its name."""
