# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# Made by tools/generate.py from schema/options.toml: change that file, not this one.
"""The options of the kernels, and what users are told of them."""

from __future__ import annotations

from typing import NamedTuple


class OptionRow(NamedTuple):
    name: str
    form: str
    """How users write it."""
    about: str
    metavar: str
    choices: tuple[str, ...]
    least: int
    most: int
    typed: str = ""
    """Its name on the command line, if another."""

    @property
    def flag(self) -> str:
        """The option as it is written on the command line."""
        return f"--{self.typed or self.name}"

    @property
    def former(self) -> tuple[str, ...]:
        """The options of older versions that mean the same."""
        return (f"--{self.name}",) if self.typed else ()

    @property
    def key(self) -> str:
        """The key by which the command line hands it on."""
        return self.name.replace("-", "_")

    @property
    def takes_one(self) -> bool:
        """Whether it takes one of its choices, and nothing else."""
        return self.form in ("word", "flag")


KERNEL_OPTIONS = (
    "benchmarks",
    "ranks",
    "npmin",
    "pairs",
    "multi",
    "map",
    "sizes",
    "mode",
    "repetitions",
    "precision",
    "seconds",
    "cell-seconds",
    "use-all",
    "seed",
    "launch",
    "datatype",
    "op",
    "root-shift",
    "inflight",
    "layout",
    "dir",
    "io-cache",
    "threads",
    "thread-order",
    "memory-on",
    "thread-level",
    "thread-memory",
    "stride",
    "touch-send",
    "touch-recv",
    "topo",
    "arrival",
    "profile",
    "root",
    "partitions",
    "blas",
    "compiler",
    "test-every",
    "cache",
    "cache-bytes",
    "sync",
    "by-clock",
    "data",
    "insist",
    "bind",
    "memory-limit",
    "memory",
    "leave-out",
    "gpus",
    "cuda",
    "nccl",
    "arms",
    "detours",
    "stop-file",
    "records",
)
"""All that the kernels understand."""

LIMITS = {
    "inflight": (1, 1000000),
}
"""The least and the most of numbers that have a most; rows of OFFERED have their own."""

OFFERED = (
    OptionRow(
        "layout",
        "word",
        (
            "Elements of a message: as they are, as one of a vector type, with room between."
            "  [default: base]"
        ),
        "",
        ("base", "base_vec", "resize", "resize_vec"),
        0,
        0,
    ),
    OptionRow(
        "dir",
        "folders",
        "Folders for MPI-IO, each measured.  [default: .]",
        "DIR,…",
        (),
        0,
        0,
    ),
    OptionRow(
        "io-cache",
        "word",
        (
            "The page cache under MPI-IO: as it is, dropped before reading, gone around.  "
            "[default: keep]"
        ),
        "",
        ("keep", "drop", "direct"),
        0,
        0,
    ),
    OptionRow(
        "threads",
        "counts",
        (
            "Threads of each rank (MT, HALO, NODE); for NODE several, as 1..8, or omp: "
            "OMP_NUM_THREADS.  [default: 1]"
        ),
        "N",
        (),
        1,
        4096,
    ),
    OptionRow(
        "thread-order",
        "orders",
        "Cores of threads (NODE): compact, scatter, or omp, OMP_PLACES.  [default: compact]",
        "ORDER,…",
        (),
        0,
        0,
    ),
    OptionRow(
        "memory-on",
        "nodes",
        (
            "NUMA nodes of the arrays (NODE), each measured: local, remote, interleaved, 1, "
            "0+1, all.  [default: as the system puts them]"
        ),
        "NODES,…",
        (),
        0,
        0,
    ),
    OptionRow(
        "thread-level",
        "words",
        (
            "Thread levels at which MPI is initialised: single, funneled, serialized, "
            "multiple.  [default: the lowest that benchmarks need]"
        ),
        "LEVEL,…",
        ("single", "funneled", "serialized", "multiple"),
        0,
        0,
    ),
    OptionRow(
        "thread-memory",
        "word",
        "Who takes threads' buffers (MT).  [default: parallel]",
        "",
        ("parallel", "serial", "continuous"),
        0,
        0,
    ),
    OptionRow(
        "stride",
        "int",
        "Between the ranks of a pair (MT).  [default: half of them]",
        "N",
        (),
        0,
        2147483647,
    ),
    OptionRow(
        "touch-send",
        "flag",
        "Write to the send buffer before each call (P2P), unless it is on a GPU.  [default: on]",
        "",
        ("on", "off"),
        0,
        0,
    ),
    OptionRow(
        "touch-recv",
        "flag",
        "Read the receive buffer after each call (P2P), unless it is on a GPU.  [default: on]",
        "",
        ("on", "off"),
        0,
        0,
    ),
    OptionRow(
        "topo",
        "sides",
        "Grid of ranks (HALO).  [default: as even as can be]",
        "AxB…",
        (),
        0,
        2147483647,
        "grid",
    ),
    OptionRow(
        "arrival",
        "arrivals",
        (
            "When ranks come to a blocking collective, each beside all at once: "
            "late:RANK:TIME, uniform:TIME, sorted:TIME, profile:RUN.  [default: together]"
        ),
        "PATTERN,…",
        (),
        0,
        0,
    ),
    OptionRow(
        "profile",
        "run",
        "A profile to be replayed: a run of `mpigauge profile` (REPLAY).",
        "RUN",
        (),
        0,
        0,
        "replay",
    ),
    OptionRow(
        "root",
        "int",
        "The root of collectives that have one: a rank of their group.  [default: 0]",
        "RANK",
        (),
        0,
        2147483647,
    ),
    OptionRow(
        "partitions",
        "int",
        "Parts of a partitioned message.  [default: 4]",
        "N",
        (),
        1,
        1000000,
    ),
    OptionRow(
        "test-every",
        "microseconds",
        "Computation between calls of MPI_Test.  [default: 2]",
        "MICROSECONDS",
        (),
        0,
        1000000000,
    ),
)
"""Of those that only some benchmarks use: what is handed on as it is said."""
