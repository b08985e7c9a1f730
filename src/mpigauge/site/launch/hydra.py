# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hydra, the launcher of MPICH and Intel MPI.

Ranks of MPICH 4.2 and later request their kinds of memory from mpiexec, all at the same time. The
proxy of a host passes each request on and writes while it does not read, as does mpiexec. With 384
ranks both fill the socket between them and hang. `-memory-alloc-kinds` gives the proxy the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mpigauge.site.launch import hydra_hosts
from mpigauge.site.launch.job import Command, Job, cannot, in_words, mask, of_launcher
from mpigauge.site.launch.registry import launcher

MOST_REQUESTS = 128
"""Ranks of a host whose requests fit into the socket of their proxy."""


@launcher("hydra")
def command(job: Job) -> Command:
    intel = job.mpi.name == "intel"
    env = {**job.mpi.env, **(_pinned(job) if intel else {}), **job.settings, **job.env}
    words = [str(job.mpi.mpiexec), *_agent(job)]
    hosts, files = hydra_hosts.of_job(job) if not intel else ([], {})
    words += [] if intel else [*_answered(job), *_bound(job), *hosts]
    words += _forwarded(in_words(env))  # Hydra hands on what else is in its environment
    sets = job.sets(even=intel)
    for number, ranks in enumerate(sets):
        words += [":"] if number else []
        hosts, more = hydra_hosts.of_set(job, ranks, len(sets)) if intel else ([], {})
        words += ["-n", str(ranks.ranks), *hosts]
        files = {**files, **more}
        words += [*ranks.words(lambda name, value: ("-env", name, value), "-wdir"), *ranks.program]
    return Command(tuple(words), {**_agent_env(job, intel), **of_launcher(env)}, files)


def _answered(job: Job) -> list[str]:
    """Returns the option that answers the requests of very many ranks for kinds of memory."""
    version = [int(number) for number in re.findall(r"\d+", job.mpi.version)[:2]]
    has_option = job.mpi.name == "mpich" and version >= [4, 2]  # derived MPIs: other versions
    most = max((host.ranks for host in job.hosts), default=job.ranks)
    return ["-memory-alloc-kinds", "mpi"] if has_option and most > MOST_REQUESTS else []


def _bound(job: Job) -> list[str]:
    """Returns the option for binding, without which MPICH's Hydra does not bind."""
    cores = ",".join("+".join(map(str, each)) for each in job.bind)
    return ["-bind-to", f"user:{cores}"] if job.bind else []


def _pinned(job: Job) -> dict[str, str]:
    """Returns Intel's variables: it pins by default, ignores -bind-to, and needs masks of cores."""
    if not job.bind:
        return {"I_MPI_PIN": "0"}
    for host in job.hosts:
        if host.ranks != len(job.bind):
            raise cannot(job, f"the cores of {host.name}, which has fewer ranks than other hosts")
    return {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": f"[{','.join(map(mask, job.bind))}]"}


def _agent(job: Job) -> list[str]:
    """Returns the options for the agent. Hydra adds options of its own to ssh, but none to rsh."""
    return ["-launcher", job.agent_kind, "-launcher-exec", job.agent[0]] if job.agent else []


def _agent_env(job: Job, intel: bool) -> dict[str, str]:
    """Returns the agent's variables. Given hosts, Intel's would use ssh even in Slurm and LSF."""
    if intel and job.hosts and not job.agent and job.system in ("slurm", "lsf"):
        return {"I_MPI_HYDRA_BOOTSTRAP": job.system}
    name = "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS" if intel else "HYDRA_LAUNCHER_EXTRA_ARGS"
    return {name: " ".join(job.agent[1:])} if job.agent[1:] else {}


def _forwarded(env: Mapping[str, str]) -> list[str]:
    return [word for name in sorted(env) for word in ("-genv", name, env[name])]
