# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hydra, the launcher of MPICH and Intel MPI."""

from __future__ import annotations

from collections.abc import Mapping

from mpigauge.launch.job import Command, Job
from mpigauge.launch.registry import launcher


@launcher("hydra")
def command(job: Job) -> Command:
    env = {**job.mpi.env, **_unbound(job), **job.settings, **job.env}
    words = [str(job.mpi.mpiexec), "-n", str(job.ranks), *_hosts(job), *_forwarded(env)]
    return Command((*words, *job.program), env)


def _unbound(job: Job) -> dict[str, str]:
    """The kernel binds itself. MPICH's Hydra does not bind by default, Intel's does."""
    return {"I_MPI_PIN": "0"} if job.mpi.name == "intel" else {}


def _hosts(job: Job) -> list[str]:
    if not job.hosts:
        return []
    return ["-hosts", ",".join(job.hosts), "-ppn", str(job.ranks_per_host)]


def _forwarded(env: Mapping[str, str]) -> list[str]:
    return [word for name in sorted(env) for word in ("-genv", name, env[name])]
