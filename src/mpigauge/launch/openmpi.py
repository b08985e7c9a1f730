# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The launcher of Open MPI, 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping

from mpigauge.launch.job import Command, Job, RankSet
from mpigauge.launch.registry import launcher
from mpigauge.model.errors import UserError

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Containers run as root; Open MPI refuses that unless told otherwise."""


@launcher("openmpi")
def command(job: Job) -> Command:
    variables = {name: value for name, value in job.settings.items() if not is_mca(name)}
    parameters = {name: value for name, value in job.settings.items() if is_mca(name)}
    env = {**job.mpi.env, **variables, **job.env}
    bound = _bound(job) if job.bind else ["--bind-to", "none", *_mapped(job)]
    words = [str(job.mpi.mpiexec), *bound, *_agent(job)]
    words += [*_mca(parameters), *_forwarded(env)]
    for number, ranks in enumerate(job.sets()):
        words += [":"] if number else []
        words += ["-n", str(ranks.ranks), *_hosts(ranks), *ranks.program]
    return Command(tuple(words), {**AS_ROOT, **env})


def is_mca(name: str) -> bool:
    """MCA parameters are written in small letters, environment variables in capitals."""
    return name == name.lower()


def _hosts(ranks: RankSet) -> list[str]:
    if not ranks.hosts:
        return []
    return ["--host", ",".join(f"{host.name}:{host.ranks}" for host in ranks.hosts)]


def _bound(job: Job) -> list[str]:
    """Hardware threads have the system's numbers, where cores would have those of hwloc."""
    cores = [core for each in job.bind for core in each]
    why = (
        "pe-list, which names them, came with Open MPI 5"
        if _is_old(job)
        else "it takes one core for each rank"
        if len(cores) > len(job.bind)
        else "it gives a core to one rank only"
        if len(cores) > len(set(cores))
        else "it fills host after host, and ranks are to go from host to host in turn"
        if job.in_turn
        else ""
    )
    if why:
        raise UserError(
            f"--placement launcher: that of {job.mpi.label} cannot be told these cores: {why}; "
            "take --placement kernel"
        )
    more = ":OVERSUBSCRIBE" if job.oversubscribe else ""
    listed = f"pe-list={','.join(map(str, cores))}:ordered:HWTCPUS{more}"
    return ["--bind-to", "hwthread", "--map-by", listed]


def _mapped(job: Job) -> list[str]:
    """The order of ranks on hosts; more ranks than cores have to be allowed."""
    by = "" if not job.hosts else "node" if job.in_turn else "slot"
    if _is_old(job):
        allowed = ["--oversubscribe"] if job.oversubscribe else []
        return [*(["--map-by", by] if by else []), *allowed]
    by += ":OVERSUBSCRIBE" if job.oversubscribe else ""
    return ["--map-by", by] if by else []


def _agent(job: Job) -> list[str]:
    if not job.agent:
        return []
    option = ["--mca", "plm_rsh_agent"] if _is_old(job) else ["--prtemca", "plm_ssh_agent"]
    return [*option, " ".join(job.agent)]


def _is_old(job: Job) -> bool:
    """Open MPI 5 came with a new launcher; Spectrum MPI is made from Open MPI 4."""
    major = job.mpi.version.partition(".")[0]
    return job.mpi.name == "spectrum" or (major.isdigit() and int(major) < 5)


def _mca(parameters: Mapping[str, str]) -> list[str]:
    return [word for name in sorted(parameters) for word in ("--mca", name, parameters[name])]


def _forwarded(env: Mapping[str, str]) -> list[str]:
    return [word for name in sorted(env) for word in ("-x", f"{name}={env[name]}")]
