# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The options of ORTE, the launcher of Open MPI 4 and Spectrum MPI, for the order of ranks, their
cores and the agent. It has no list of cores; a rankfile gives the place of each rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.site.launch.job import Job

AS_THE_SYSTEM = ("--mca", "rmaps_rank_file_physical", "1", "--use-hwthread-cpus")
"""Options with which a rankfile has the system's numbers of hardware threads."""


def words_and_files(job: Job) -> tuple[list[str], Mapping[str, str]]:
    """Returns the options, and the contents of the files that they name."""
    agent = ["--mca", "plm_rsh_agent", " ".join(job.agent)] if job.agent else []
    shared = ["--oversubscribe"] if job.oversubscribe else []
    if not job.bind:
        return ["--bind-to", "none", *_mapped(job), *shared, *agent], {}
    file = f"{job.stem}.rankfile"
    return ["--rankfile", file, *AS_THE_SYSTEM, *shared, *agent], {file: _rankfile(job)}


def _mapped(job: Job) -> list[str]:
    return ["--map-by", "node" if job.in_turn else "slot"] if job.hosts else []


def _rankfile(job: Job) -> str:
    """Returns a rankfile, with a line for each rank."""
    return "".join(
        f"rank {rank}={host or 'localhost'} slot={','.join(map(str, job.bind[local]))}\n"
        for rank, (host, local) in enumerate(job.order)
    )
