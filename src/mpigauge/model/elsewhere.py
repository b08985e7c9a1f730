# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Names that people bring from other programs, with the command that does the same here."""

from __future__ import annotations

from collections.abc import Iterable

_COMMANDS = {
    "latency": "mpigauge run PingPong",
    "osu_latency": "mpigauge run PingPong",
    "bandwidth": "mpigauge run PingPong",
    "osu_bw": "mpigauge run Uniband",
    "osu_bibw": "mpigauge run Biband",
    "osu_mbw_mr": "mpigauge run Uniband",
    "osu_get_latency": "mpigauge run RMA:Unidir_get",
    "osu_put_latency": "mpigauge run RMA:Unidir_put",
    "stream": "mpigauge node",
    "stream_c": "mpigauge node",
    "likwid-bench": "mpigauge node",
    "mpirun": "mpigauge exec --np 2 -- PROGRAM",
    "mpiexec": "mpigauge exec --np 2 -- PROGRAM",
    "srun": "mpigauge exec --launcher srun --np 2 -- PROGRAM",
    "lstopo": "mpigauge topo",
    "hwloc-ls": "mpigauge topo",
    "ompi_info": "mpigauge settings",
    "mpitune": "mpigauge tune",
    "mpip": "mpigauge profile -- PROGRAM",
    "install": "mpigauge mpi install mpich",
    "bench": "mpigauge run PingPong",
    "benchmarks": "mpigauge list",
    "runs": "mpigauge ls",
}
_OSU, _IMB = "osu_", "imb-"


def command_here(name: str, benchmarks: Iterable[str]) -> str:
    """The command for a name of another program; empty: none is known. `benchmarks` are ours,
    outside of MPI1 with their suites."""
    word = name.lower()
    if word in _COMMANDS:
        return _COMMANDS[word]
    prefix = next((each for each in (_OSU, _IMB) if word.startswith(each)), "")
    ours: dict[str, str] = {}
    for each in sorted(benchmarks, key=lambda name: ":" in name):
        suite, _, bare = each.rpartition(":")
        ours.setdefault(bare.lower(), each)
        ours.setdefault(suite.lower(), suite)
    ours["mpi1"] = "MPI1"
    rest = word[len(prefix) :]
    return f"mpigauge run {ours[rest]}" if prefix and rest and rest in ours else ""
