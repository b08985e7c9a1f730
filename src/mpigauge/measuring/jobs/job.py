# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Turns a part of a plan into a job for the launcher."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.measuring.jobs.own_settings import own_settings
from mpigauge.measuring.plan import host_words, kernel_words
from mpigauge.model.errors import UserError
from mpigauge.site import placement
from mpigauge.site.launch import Job, OnHost, command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.measuring.plan import LaunchPlan, Plan, PlanPart
    from mpigauge.model.mpi import Kernels, Mpi


def kernel_job(
    plan: Plan,
    planned: LaunchPlan,
    mpi: Mpi,
    kernels: Kernels,
    env: Mapping[str, str],
    system: str = "",
    stem: str = "",
) -> Job:
    """The job of a launch of the kernels, with the settings that mpigauge adds in this
    environment. `system` and `stem` are those of `job_of`."""
    program = (
        str(kernels.executable),
        *("--libmpi", str(mpi.library)),
        *("--plugin", str(kernels.plugin)),
        *kernel_words(plan, planned),
    )
    added = own_settings(plan, planned.part, mpi, env)
    return job_of(plan, planned.part, mpi, program, system, stem, added)


def job_of(
    plan: Plan,
    part: PlanPart,
    mpi: Mpi,
    program: tuple[str, ...] = (),
    system: str = "",
    stem: str = "",
    added: Mapping[str, str] | None = None,
) -> Job:
    """The job of a part. `system`: the batch system whose job this process is in; `stem`: the
    prefix of file names; `added`: settings of mpigauge's own; those of the plan take precedence.
    UserError: the launcher cannot express the binding. Programs of the user do not bind themselves:
    the launcher binds them if a placement is requested."""
    by_launcher = plan.bound_by == "launcher" or bool(part.foreign and part.placement)
    return Job(
        mpi=mpi,
        ranks=part.world_ranks,
        program=program,
        env={**plan.env, **part.env},
        settings={**(added or {}), **plan.settings, **part.settings},
        hosts=_hosts(part, binds_itself=not by_launcher and not part.foreign),
        in_turn=part.in_turn,
        agent=plan.rsh,
        oversubscribe=plan.oversubscribe,
        launcher=plan.launcher,
        system=system,
        bind=_for_all_hosts(part) if by_launcher else (),
        stem=stem,
    )


def _hosts(part: PlanPart, binds_itself: bool) -> tuple[OnHost, ...]:
    """The hosts of a part; `binds_itself`: the program gets its cores, which only the kernels
    support."""
    hosts = []
    for block in part.hosts:
        gpus = () if part.foreign else block.gpus
        words = host_words(block.bind if binds_itself else (), gpus)
        hosts.append(OnHost(block.host, block.ranks, words))
    return tuple(hosts)


def check_told(plan: Plan, mpi: Mpi) -> None:
    """Checks before any launch that the launcher can express where all ranks run."""
    for part in plan.parts:
        command(job_of(plan, part, mpi))


def _for_all_hosts(part: PlanPart) -> tuple[tuple[int, ...], ...]:
    """The cores of local rank 0, 1, …: launchers take one list. UserError: hosts differ."""
    first = part.blocks[0]
    for block in part.blocks:
        if not block.bind:
            raise UserError(
                "--bind-by launcher: ranks that share cores (--oversubscribe) have none of their "
                "own, so there is nothing to bind; name cores with --place, or take --bind-by "
                "kernel"
            )
        if block.bind != first.bind:
            raise UserError(
                f"--bind-by launcher: a launcher takes one list of cores for all hosts, and "
                f"{first.host} would have {','.join(first.bind)}, {block.host} "
                f"{','.join(block.bind)}; take --bind-by kernel"
            )
    return tuple(tuple(sorted(placement.cores_of(entry))) for entry in first.bind)
