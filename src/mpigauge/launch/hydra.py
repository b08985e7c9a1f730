# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hydra, the launcher of MPICH and Intel MPI.

MPICH's takes the hosts of all ranks with their numbers once (`-hosts a:2,b:1`). Intel's overlooks
such numbers: there each host with another number of ranks is a set of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from mpigauge.launch.job import Command, Job, RankSet
from mpigauge.launch.registry import launcher

_BOOTSTRAPS = ("slurm", "lsf")


@launcher("hydra")
def command(job: Job) -> Command:
    intel = job.mpi.name == "intel"
    env = {**job.mpi.env, **_unbound(intel), **job.settings, **job.env}
    words = [str(job.mpi.mpiexec), *_agent(job), *([] if intel else _hosts(job))]
    words += _forwarded(env)
    sets = job.sets(even=intel)
    for number, ranks in enumerate(sets):
        words += [":"] if number else []
        words += ["-n", str(ranks.ranks), *(_on(job, ranks, len(sets)) if intel else [])]
        words += ranks.program
    return Command(tuple(words), {**_agent_env(job, intel), **env})


def _unbound(intel: bool) -> dict[str, str]:
    """The kernel binds itself. MPICH's Hydra does not bind by default, Intel's does."""
    return {"I_MPI_PIN": "0"} if intel else {}


def _hosts(job: Job) -> list[str]:
    if not job.hosts:
        return []
    if job.in_turn:
        return ["-hosts", ",".join(host.name for host in job.hosts), "-ppn", "1"]
    return ["-hosts", ",".join(f"{host.name}:{host.ranks}" for host in job.hosts)]


def _on(job: Job, ranks: RankSet, sets: int) -> list[str]:
    if not ranks.hosts:
        return []
    if sets > 1:
        return ["-host", ranks.hosts[0].name]
    names = ",".join(host.name for host in ranks.hosts)
    return ["-hosts", names, "-ppn", "1" if job.in_turn else str(ranks.hosts[0].ranks)]


def _agent(job: Job) -> list[str]:
    """Whatever it is called, it takes the words that ssh takes."""
    return ["-launcher", "ssh", "-launcher-exec", job.agent[0]] if job.agent else []


def _agent_env(job: Job, intel: bool) -> dict[str, str]:
    """Told hosts, Intel's takes ssh also where the batch system has a way of its own."""
    if intel and job.hosts and not job.agent and job.system in _BOOTSTRAPS:
        return {"I_MPI_HYDRA_BOOTSTRAP": job.system}
    name = "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS" if intel else "HYDRA_LAUNCHER_EXTRA_ARGS"
    return {name: " ".join(job.agent[1:])} if job.agent[1:] else {}


def _forwarded(env: Mapping[str, str]) -> list[str]:
    return [word for name in sorted(env) for word in ("-genv", name, env[name])]
