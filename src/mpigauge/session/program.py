# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A program of the user that we launch: with the MPI, placement, transport and settings that other
commands take, whatever MPI the program was made for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.measuring.jobs.job import job_of
from mpigauge.measuring.jobs.on_mpi import on_its_mpi
from mpigauge.measuring.plan import read_request
from mpigauge.measuring.plan.arms.foreign import Foreign
from mpigauge.measuring.plan.resolve import plan_of
from mpigauge.model.errors import UserError
from mpigauge.session.lookups import look_up
from mpigauge.session.setup import set_up
from mpigauge.session.targets import CommandOptions
from mpigauge.site import batch
from mpigauge.site.launch.lines import is_launcher
from mpigauge.site.mpi.programs.ways import check_told, way_of, way_told

if TYPE_CHECKING:
    from mpigauge.measuring.plan import Plan, PlanPart, Request, Resources
    from mpigauge.model.mpi import Abi, Mpi
    from mpigauge.session.targets import Setup
    from mpigauge.session.view import View
    from mpigauge.site.launch import Command
    from mpigauge.site.mpi.programs.ways import Way


@dataclass(frozen=True)
class ProgramLaunch:
    """The launch of a program on ranks of an MPI."""

    command: Command
    way: Way
    part: PlanPart
    """Its ranks and their placement."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that are named; none: this machine."""
        return tuple(block.host for block in self.part.blocks if block.host)


COUNTS = ("np", "place", "hosts", "hostfile", "ppn")
"""Options that give the number of ranks: hosts have as many as their slots, --ppn or cores."""


def check_program_words(words: Sequence[str]) -> None:
    """UserError: they have a launcher already."""
    if is_launcher(words[0]):
        raise UserError(
            f"{words[0]} starts ranks itself: leave out --np, --mpi and the like, or {words[0]} "
            "and its options"
        )


def check_counted(words: Sequence[str], values: Mapping[str, Any]) -> None:
    """UserError: no option and no batch job gives the number of ranks."""
    if not any(values[name] for name in COUNTS) and not batch.hosts(batch.here(os.environ)):
        raise UserError(f"give the number of ranks of {words[0]} with --np N, or name --hosts")


def usual_ranks(request: Request, resources: Resources) -> int:
    """The ranks of a program: --np, else as many as the hosts have room for."""
    if request.np is None and resources.hosts:
        return resources.room
    return request.np or 1


def set_up_program(
    values: Mapping[str, Any], words: Sequence[str], view: View, dry_run: bool = False
) -> Setup:
    """The setup on which the program is launched. UserError: something is not there."""
    check_program_words(words)
    check_counted(words, values)
    requested = dict(values)
    spec, transport, tuned = (requested.pop(name) for name in ("mpi_spec", "transport", "tuned"))
    request = read_request(requested, look_up(requested))
    specs = (spec,) if spec else ()
    chosen = CommandOptions(specs, transport, dry_run=dry_run, tuned=tuned)
    (setup,) = set_up(request, chosen, view, needs_kernels=False)
    return setup


def launch_of(
    words: Sequence[str],
    setup: Setup,
    here: Mapping[str, str],
    folder: str,
    variables: Mapping[str, str] | None = None,
    first: Sequence[Path] = (),
    abi: Abi | None = None,
) -> ProgramLaunch:
    """The program on the ranks that were asked for. Ranks note in `folder` where they run; they
    find these variables, and `first` is preloaded for them. `abi`: what the program was made for,
    where somebody says it. UserError: the program cannot run on this MPI, or is made for another
    ABI."""
    from mpigauge.measuring.plan.plan import PlanPart
    from mpigauge.site.launch import command

    request = setup.request
    if abi:
        check_told(words, abi, {**here, **request.env})
        way = way_told(words[0], abi, setup.mpi, setup.view.report)
    else:
        way = way_of(words, setup.mpi, {**here, **request.env}, tell=setup.view.report)
    part = PlanPart((words[0],), 0, foreign=Foreign(words[0], tuple(words), ()))
    where = setup.resources.one_placement(
        request, usual_ranks(request, setup.resources), "a program has"
    )
    part = setup.resources.seated(part, where)
    plan = plan_of(request, (part,), setup.cards, setup.resources, setup.mpi)
    given = batch.here(here)
    system = given.system.name if given else ""
    job = job_of(plan, part, setup.mpi, tuple(words), system, str(Path(folder) / "launch"))
    job = replace(job, env={**job.env, **(variables or {})})
    return ProgramLaunch(command(on_its_mpi(job, way, here, folder, first)), way, part)


def ways_of(plan: Plan, mpi: Mpi, view: View) -> dict[str, Way]:
    """The way in which each of the user's programs in a plan runs on this MPI, by its name.
    UserError: one is not there, or cannot run on it."""
    programs = []
    for part in plan.parts:
        if part.foreign and part.foreign.launcher:
            programs.append(part.foreign)
    if not programs:
        return {}
    here = {**os.environ, **plan.env}
    return {each.name: way_of(each.words, mpi, here, tell=view.report) for each in programs}
