# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# Made by tools/generate.py from schema/options.toml: change that file, not this one.
"""The options of mpigauge.measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


class RunOptions(TypedDict, total=False):
    """Options of `mpigauge run`, with underscores for hyphens. A text is what the command line
    takes; numbers, lists and mappings stand for such texts."""

    sizes: str | Iterable[int]
    """Message sizes in bytes: 0,1..4Mi, a list with ranges that double.  [default: 0..4Mi]"""
    sizes_file: str
    """Read message sizes from a file, one per line."""
    datatype: str
    """MPI datatype of the messages.  [default: byte; float for reductions]"""
    op: str
    """Operation of reductions.  [default: sum]"""
    root_shift: bool
    """The root moves by one rank at each call."""
    inflight: int
    """Messages in flight per wait.  [default: 256]"""
    cache: str
    """Buffers that caches hold (hot), that no cache holds (cold), or both in turn.  [default: hot]
    """
    data: str
    """Send buffer that is written once (static), before each call (fresh), or both in turn.
    [default: static, as IMB]"""
    sync: str
    """Synchronisation of the ranks before each call of a collective.  [default: auto, by a clock
    that they share, else barrier]"""
    ranks: str | int | Iterable[int]
    """Sizes of groups of ranks.  [default: 2,4,… all cores]"""
    np: int
    """Ranks of the job.  [default: the largest group]"""
    bind: str
    """Cores of rank 0, 1, …: 0,4 or 0-3,4+5; none leaves it to others.  [default: a core for each
    rank]"""
    place: str | Sequence[str]
    """Placement of ranks: core, l2, l3, numa or socket (two ranks with this innermost common
    level), sockets (two ranks on different sockets), hosts (ranks on different hosts), nic-near,
    nic-far, gpu, compact, scatter, ppr:N:LEVEL, cores:0,4, rankfile:FILE, or all (a pair of each
    level). Several, with commas or again, are all measured."""
    bind_by: str
    """Binding of ranks: by the benchmark (kernel) or by the launcher. The binding is verified
    either way.  [default: kernel]"""
    npmin: int
    """Smallest group, as IMB's -npmin.  [default: 2]"""
    multi: int
    """Groups side by side: 0 in one row, 1 in a row each."""
    rank_grid: str
    """Order of ranks as a transposed grid, as IMB's -map."""
    hosts: str
    """Hosts of the ranks, such as a,b[01-04], or a:2,b:2 with at most 2 on each.  [default: those
    of the batch job that we are in, else this machine]"""
    hostfile: str | Path
    """Read hosts from a file, as launchers and batch systems write them."""
    ppn: int
    """Ranks on each host."""
    launcher: str
    """Launcher of the ranks.  [default: the MPI's own]"""
    rsh: str
    """Command that starts programs on other hosts, such as 'ssh -p 50000'.  [default: ssh]"""
    oversubscribe: bool
    """Allow more ranks than cores."""
    memory_limit: str | int
    """Bytes of buffers per rank at most.  [default: 80% of free memory]"""
    transport: str
    """Transport of the messages: shm, tcp, tcp:eth0, ucx:mlx5_0:1, … (`mpigauge mpi transports`).
    """
    tuned: str | Path
    """Have the MPI follow the rules of this tuning (`mpigauge tune`)."""
    settings: Mapping[str, str]
    """A setting of the MPI: an environment variable, or an MCA parameter of Open MPI."""
    env: Mapping[str, str]
    """An environment variable for all ranks; NAME alone passes on the value that it has here."""
    memory: str | Sequence[str]
    """Memory of the buffers: host, pinned, device, managed, or two of them as device:host for the
    two ranks of a pair. Several are measured in turn in each launch.  [default: host]"""
    gpu: str
    """GPUs of local rank 0, 1, … of a host: near (to the rank's core), or an index or a PCI address
    for each; a GPU that is named twice is shared.  [default: near]"""
    cuda: str | Path
    """The library of the CUDA driver."""
    nccl: str | Path
    """The library of NCCL (suite NCCL).  [default: the one that is found]"""
    precision: str | float
    """Relative error to reach, such as 2%.  [default: 5%]"""
    seconds: str | float
    """Time for everything, such as 30s or 2m; it goes to the cells with the widest interval.
    [default: at most 10 s for each cell over all launches, but at least one call in each launch]"""
    launches: int
    """Number of job launches.  [default: 6 to 20, until the precision is reached]"""
    classic: bool
    """The schedule and arithmetic of IMB."""
    seed: int
    """Random seed."""
    timeout: str | float
    """End a launch after this time without output.  [default: 5m]"""
    blas: str | Sequence[str]
    """The library for products of matrices (DGEMM): openblas, mkl, blis or a file. Several are
    measured in turn, launch by launch.  [default: openblas, which mpigauge[blas] brings]"""
    compiler: str | Sequence[str]
    """A compiler of the simple loops (NODE:Triad …), such as clang++ or 'g++ -O2'. Several are
    measured in turn, one beside the loops of the kernels."""
    layout: str
    """Elements of a message: as they are, as one of a vector type, with room between.  [default:
    base]"""
    dir: str
    """Folders for MPI-IO, each measured.  [default: .]"""
    io_cache: str
    """Page cache under MPI-IO: as it is, dropped before reading, or bypassed.  [default: keep]"""
    threads: str | int
    """Threads of each rank (MT, HALO, NODE); for NODE several, as 1..8, or omp: OMP_NUM_THREADS.
    [default: 1]"""
    thread_order: str
    """Cores of threads (NODE): compact, scatter, or omp, OMP_PLACES.  [default: compact]"""
    memory_on: str
    """NUMA nodes of the arrays (NODE), each measured: local, remote, interleaved, 1, 0+1, all.
    [default: as the system puts them]"""
    thread_level: str
    """Thread levels at which MPI is initialised: single, funneled, serialized, multiple.  [default:
    the lowest that benchmarks need]"""
    thread_memory: str
    """Allocation of the threads' buffers (MT).  [default: parallel]"""
    stride: str | int
    """Distance between the two ranks of a pair (MT).  [default: half of them]"""
    touch_send: str
    """Write to the send buffer before each call (P2P), unless it is on a GPU.  [default: on]"""
    touch_recv: str
    """Read the receive buffer after each call (P2P), unless it is on a GPU.  [default: on]"""
    grid: str
    """Grid of ranks (HALO).  [default: as even as can be]"""
    arrival: str
    """Arrival of the ranks at a blocking collective, each pattern beside all at once:
    late:RANK:TIME, uniform:TIME, sorted:TIME, profile:RUN.  [default: together]"""
    replay: str
    """A profile to be replayed: a run of `mpigauge profile` (REPLAY)."""
    root: str | int
    """The root of collectives that have one: a rank of their group.  [default: 0]"""
    group_ranks: str | int
    """Ranks that algorithms with leaders take for a node (ALG).  [default: the ranks of a host]"""
    partitions: str | int
    """Parts of a partitioned message.  [default: 4]"""
    test_every: str
    """Computation between calls of MPI_Test.  [default: 2]"""
    host_ranks: str | int
    """Ranks of each host, which follow each other (FABRIC).  [default: 1]"""
    host_order: str
    """Order of the hosts, of which the first half exchanges with the second
    (FABRIC:Bisection_groups).  [default: as they are]"""
    aggressors: str | int
    """Share of the hosts that disturb others (FABRIC).  [default: 50%]"""
