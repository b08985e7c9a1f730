# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A program that we launch ourselves: MPI, placement, transport and settings in our words."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.features.profile.launching import FOLDER_VARIABLE, Start
from mpigauge.measure.campaign.job import job_of
from mpigauge.measure.plan.foreign import Foreign
from mpigauge.measure.plan.plan import PlanPart
from mpigauge.measure.plan.resolve import plan_of
from mpigauge.model.errors import UserError
from mpigauge.site import batch
from mpigauge.site.launch import command
from mpigauge.site.launch.lines import is_launcher
from mpigauge.site.launch.lines.preload import PRELOAD, joined
from mpigauge.site.mpi.programs import look, suits

if TYPE_CHECKING:
    from mpigauge.cli.targets import Setup
    from mpigauge.model.mpi import Mpi


def started_by_us(
    words: Sequence[str], setup: Setup, variables: Mapping[str, str], here: Mapping[str, str]
) -> Start:
    """The program on the ranks that were asked for. UserError: it cannot run on this MPI."""
    check_program(words, setup.mpi, here)
    request = setup.request
    part = PlanPart((words[0],), request.np or 1, foreign=Foreign(words[0], tuple(words), ()))
    where = setup.resources.one_placement(request, request.np or 1, "a profile is of")
    part = setup.resources.seated(part, where)
    plan = plan_of(request, (part,), setup.cards, setup.resources, setup.mpi)
    stem = str(Path(variables.get(FOLDER_VARIABLE, "")) / "launch")
    given = batch.here(here)
    job = job_of(plan, part, setup.mpi, tuple(words), given.system.name if given else "", stem)
    found = command(replace(job, env={**job.env, **_before(variables, here)}))
    hosts = tuple(block.host for block in part.blocks if block.host)
    return Start(found.words, {**here, **found.env}, (tuple(words),), hosts, files=found.files)


def check_words(words: Sequence[str], counted: bool) -> None:
    """UserError: they have a launcher already, or (not `counted`) nobody says how many ranks."""
    if is_launcher(words[0]):
        raise UserError(
            f"{words[0]} starts ranks itself: leave out --np, --mpi and the like, or {words[0]} "
            "and its options"
        )
    if not counted:
        raise UserError(f"say with --np N how many ranks {words[0]} has")


def _before(variables: Mapping[str, str], here: Mapping[str, str]) -> dict[str, str]:
    """With ours before what is preloaded already."""
    return {**variables, PRELOAD: joined(variables[PRELOAD], here.get(PRELOAD, ""))}


def check_program(words: Sequence[str], mpi: Mpi, here: Mapping[str, str]) -> None:
    """UserError: there is no such program, or this MPI cannot run it. An MPI that it carries in
    itself, or that nobody can see, is its own affair."""
    found = look(words, {**here, **mpi.env})
    if found.kind != "binary" or not found.abis:
        return
    one = suits(found, mpi)
    if not one.directly:
        raise UserError(f"{mpi.label} cannot run {words[0]}: {'; '.join(one.ways)}")
    own = next((each for each in found.mpi_libraries if each.through.startswith("RPATH")), None)
    if (
        own
        and own.path
        and os.path.realpath(own.path.parent) != os.path.realpath(mpi.library.parent)
    ):
        raise UserError(
            f"{words[0]} would load {own.path} by its {own.through.partition(' ')[0]}, not "
            f"{mpi.label}; name the MPI that it is bound to with --mpi"
        )
