# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Names that people bring from other programs, with the command that does the same here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_COMMANDS = {
    "latency": "mpigauge run PingPong",
    "osu_latency": "mpigauge run PingPong",
    "bandwidth": "mpigauge run PingPong",
    "osu_bw": "mpigauge run Uniband",
    "osu_bibw": "mpigauge run Biband",
    "osu_mbw_mr": "mpigauge run Uniband",
    "osu_latency_mt": "mpigauge run MT:PingPongMT",
    "osu_get_latency": "mpigauge run RMA:Unidir_get",
    "osu_get_bw": "mpigauge run RMA:Unidir_get",
    "osu_put_latency": "mpigauge run RMA:Unidir_put",
    "osu_put_bw": "mpigauge run RMA:Unidir_put",
    "osu_put_bibw": "mpigauge run RMA:Bidir_put",
    "osu_acc_latency": "mpigauge run RMA:Accumulate",
    "osu_get_acc_latency": "mpigauge run RMA:Get_accumulate",
    "osu_fop_latency": "mpigauge run RMA:Fetch_and_op",
    "osu_cas_latency": "mpigauge run RMA:Compare_and_swap",
    "osu_partitioned_latency": "mpigauge run MPI4:PingPong_partitioned",
    "osu_init": "mpigauge quick",
    "osu_hello": "mpigauge mpi list",
    "osu_xccl_latency": "mpigauge run NCCL:PingPong",
    "all_reduce_perf": "mpigauge run NCCL:AllReduce",
    "all_gather_perf": "mpigauge run NCCL:AllGather",
    "alltoall_perf": "mpigauge run NCCL:AlltoAll",
    "broadcast_perf": "mpigauge run NCCL:Broadcast",
    "reduce_scatter_perf": "mpigauge run NCCL:ReduceScatter",
    "sendrecv_perf": "mpigauge run NCCL:SendRecv",
    "stream": "mpigauge node",
    "stream_c": "mpigauge node",
    "likwid-bench": "mpigauge node",
    "mpirun": "mpigauge exec --np 2 -- PROGRAM",
    "mpiexec": "mpigauge exec --np 2 -- PROGRAM",
    "srun": "mpigauge exec --launcher srun --np 2 -- PROGRAM",
    "orterun": "mpigauge exec --np 2 -- PROGRAM",
    "prterun": "mpigauge exec --np 2 -- PROGRAM",
    "sbatch": "mpigauge submit run PingPong",
    "qsub": "mpigauge submit run PingPong",
    "nodeperf": "mpigauge node",
    "dgemm": "mpigauge node",
    "numactl": "mpigauge topo",
    "lscpu": "mpigauge topo",
    "likwid-topology": "mpigauge topo",
    "ucx_info": "mpigauge mpi transports",
    "fi_info": "mpigauge mpi transports",
    "benchstat": "mpigauge compare RUN RUN",
    "lstopo": "mpigauge topo",
    "hwloc-ls": "mpigauge topo",
    "ompi_info": "mpigauge mpi settings",
    "mpitune": "mpigauge tune",
    "mpip": "mpigauge profile -- PROGRAM",
    "install": "mpigauge mpi install mpich",
    "bench": "mpigauge run PingPong",
}
_OSU, _IMB, _ON_GPU = "osu_", "imb-", "-gpu"


def command_here(name: str, benchmarks: Iterable[str], following: Sequence[str] = ()) -> str:
    """The command for a name of another program; empty: none is known. `benchmarks` are ours,
    outside of MPI1 with their suites; `following`: those behind a program of IMB."""
    word = name.lower()
    if word in _COMMANDS:
        return _COMMANDS[word]
    prefix = next((each for each in (_OSU, _IMB) if word.startswith(each)), "")
    rest = word[len(prefix) :].removesuffix(_ON_GPU)
    ours = _words(benchmarks)
    if not prefix or not rest or rest not in ours:
        return ""
    more = " --memory device" if word.endswith(_ON_GPU) else ""
    names = following if prefix == _IMB and following else [ours[rest]]
    return f"mpigauge run {' '.join(names)}{more}"


def _words(benchmarks: Iterable[str]) -> dict[str, str]:
    """The words for benchmarks and suites, by their names in lower case."""
    words: dict[str, str] = {}
    for each in sorted(benchmarks, key=lambda name: ":" in name):
        suite, _, bare = each.rpartition(":")
        words.setdefault(bare.lower(), each)
        words.setdefault(suite.lower(), suite)
    words["mpi1"] = "MPI1"
    return words
