# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The options of PRRTE, the launcher of Open MPI 5, for order and cores of ranks, and the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.site.launch.job import cannot

if TYPE_CHECKING:
    from mpigauge.site.launch.job import Job


def words_of_job(job: Job) -> list[str]:
    placed = _bound(job) if job.bind else ["--bind-to", "none", *_mapped(job)]
    agent = ["--prtemca", "plm_ssh_agent", " ".join(job.agent)] if job.agent else []
    return [*placed, *agent]


def _bound(job: Job) -> list[str]:
    """Binds to hardware threads, which have the system's numbers; cores have those of hwloc."""
    cores = [core for each in job.bind for core in each]
    if len(cores) > len(job.bind):
        raise cannot(job, "these cores: it takes one core for each rank")
    if len(cores) > len(set(cores)):
        raise cannot(job, "these cores: it gives a core to one rank only")
    if job.in_turn:
        raise cannot(
            job,
            "these cores: it fills host after host, and ranks are to go from host to host in turn",
        )
    listed = f"pe-list={','.join(map(str, cores))}:ordered:HWTCPUS{_shared(job)}"
    return ["--bind-to", "hwthread", "--map-by", listed]


def _mapped(job: Job) -> list[str]:
    by = ("" if not job.hosts else "node" if job.in_turn else "slot") + _shared(job)
    return ["--map-by", by] if by else []


def _shared(job: Job) -> str:
    """Returns the modifier that allows more ranks than cores."""
    return ":OVERSUBSCRIBE" if job.oversubscribe else ""
