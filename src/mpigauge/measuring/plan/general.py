# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# Made by tools/generate.py from schema/options.toml: change that file, not this one.
"""The fields of a request and of a plan that are options of all benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.hosts import NamedHost


@dataclass(frozen=True, kw_only=True)
class RequestFields:
    """The options that a user gave. None and empty mean: not given."""

    sizes: tuple[int, ...] | None = None
    """Message sizes in bytes: 0,1..4Mi, a list with ranges that double."""
    datatype: str = ""
    """MPI datatype of the messages."""
    op: str = ""
    """Operation of reductions."""
    root_shift: bool = False
    """The root moves by one rank at each call."""
    inflight: int | None = None
    """Messages in flight per wait."""
    cache: str = "hot"
    """Buffers that caches hold (hot), that no cache holds (cold), or both in turn."""
    data: str = "static"
    """Send buffer that is written once (static), before each call (fresh), or both in turn."""
    sync: str = "auto"
    """Synchronisation of the ranks before each call of a collective."""
    ranks: tuple[int, ...] = ()
    """Sizes of groups of ranks."""
    np: int | None = None
    """Ranks of the job."""
    place: tuple[str, ...] = ()
    """Placement of ranks: core, l2, l3, numa or socket (two ranks with this innermost common
    level), sockets (two ranks on different sockets), hosts (ranks on different hosts), nic-near,
    nic-far, gpu, compact, scatter, ppr:N:LEVEL, cores:0,4, rankfile:FILE, or all (a pair of each
    level). Several, with commas or again, are all measured."""
    bound_by: str = "kernel"
    """Binding of ranks: by the benchmark (kernel) or by the launcher. The binding is verified
    either way."""
    npmin: int | None = None
    """Smallest group, as IMB's -npmin."""
    multi: int | None = None
    """Groups side by side: 0 in one row, 1 in a row each."""
    map: tuple[int, int] | None = None
    """Order of ranks as a transposed grid, as IMB's -map."""
    hosts: tuple[NamedHost, ...] = ()
    """Hosts of the ranks, such as a,b[01-04], or a:2,b:2 with at most 2 on each."""
    ppn: int | None = None
    """Ranks on each host."""
    launcher: str = ""
    """Launcher of the ranks."""
    rsh: tuple[str, ...] = ()
    """Command that starts programs on other hosts, such as 'ssh -p 50000'."""
    oversubscribe: bool = False
    """Allow more ranks than cores."""
    memory_limit: int = 0
    """Bytes of buffers per rank at most."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """A setting of the MPI: an environment variable, or an MCA parameter of Open MPI."""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """An environment variable for all ranks; NAME alone passes on the value that it has here."""
    memory: tuple[str, ...] = ()
    """Memory of the buffers: host, pinned, device, managed, or two of them as device:host for the
    two ranks of a pair. Several are measured in turn in each launch."""
    gpu: str = ""
    """GPUs of local rank 0, 1, … of a host: near (to the rank's core), or an index or a PCI address
    for each; a GPU that is named twice is shared."""
    cuda: str = ""
    """The library of the CUDA driver."""
    nccl: str = ""
    """The library of NCCL (suite NCCL)."""
    precision: float | None = None
    """Relative error to reach, such as 2%."""
    seconds: float | None = None
    """Time for everything, such as 30s or 2m; it goes to the cells with the widest interval."""
    launches: int | None = None
    """Number of job launches."""
    classic: bool = False
    """The schedule and arithmetic of IMB."""
    seed: int = 0
    """Random seed."""
    timeout_s: float | None = None
    """End a launch after this time without output."""


@dataclass(frozen=True, kw_only=True)
class PlanFields:
    """The options that a plan keeps, with the defaults of the kernels."""

    datatype: str = ""
    """MPI datatype of the messages."""
    op: str = "sum"
    """Operation of reductions."""
    root_shift: bool = False
    """The root moves by one rank at each call."""
    inflight: int = 256
    """Messages in flight per wait."""
    cache: str = "hot"
    """Buffers that caches hold (hot), that no cache holds (cold), or both in turn."""
    data: str = "static"
    """Send buffer that is written once (static), before each call (fresh), or both in turn."""
    sync: str = "barrier"
    """Synchronisation of the ranks before each call of a collective."""
    bound_by: str = "kernel"
    """Binding of ranks: by the benchmark (kernel) or by the launcher. The binding is verified
    either way."""
    npmin: int = 2
    """Smallest group, as IMB's -npmin."""
    multi: int | None = None
    """Groups side by side: 0 in one row, 1 in a row each."""
    map: tuple[int, int] | None = None
    """Order of ranks as a transposed grid, as IMB's -map."""
    launcher: str = ""
    """Launcher of the ranks."""
    rsh: tuple[str, ...] = ()
    """Command that starts programs on other hosts, such as 'ssh -p 50000'."""
    oversubscribe: bool = False
    """Allow more ranks than cores."""
    memory_limit: int = 0
    """Bytes of buffers per rank at most."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """A setting of the MPI: an environment variable, or an MCA parameter of Open MPI."""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """An environment variable for all ranks; NAME alone passes on the value that it has here."""
    memory: tuple[str, ...] = ()
    """Memory of the buffers: host, pinned, device, managed, or two of them as device:host for the
    two ranks of a pair. Several are measured in turn in each launch."""
    cuda: str = ""
    """The library of the CUDA driver."""
    nccl: str = ""
    """The library of NCCL (suite NCCL)."""
    precision: float = 0.05
    """Relative error to reach, such as 2%."""
    launches: int | None = None
    """Number of job launches."""
    timeout_s: float = 300.0
    """End a launch after this time without output."""
