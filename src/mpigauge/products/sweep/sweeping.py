# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shared by sweep and plan: from options or a plan file to arms, and the effect of a plan."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.output import note, tell
from mpigauge.cli.output.showing import print_run, word_of
from mpigauge.cli.output.terminal import TERMINAL
from mpigauge.cli.runs.comparing import print_comparison, share_of, sides_of
from mpigauge.cli.runs.placing import print_seats
from mpigauge.measuring.plan import read_request
from mpigauge.measuring.plan.arms.arms import Places, grid_of, read_block
from mpigauge.measuring.plan.arms.foreign import read_command
from mpigauge.model.errors import UserError
from mpigauge.model.record import JOB, Figure
from mpigauge.products.sweep.plan import sweep_plan, swept, swept_inside
from mpigauge.runs.readers import READERS
from mpigauge.session.lookups import look_up
from mpigauge.session.measuring import PlannedRun, check
from mpigauge.session.setup import set_up
from mpigauge.session.transport import with_transport
from mpigauge.site.mpi.settings.files import check_files, check_switched_on
from mpigauge.site.mpi.settings.inside import OutsideError, written
from mpigauge.site.mpi.settings.refuse import refuse_unknown

if TYPE_CHECKING:
    from mpigauge.measuring.plan import Plan
    from mpigauge.measuring.plan.arms.arms import Arm, VaryBlock
    from mpigauge.measuring.plan.arms.foreign import Foreign
    from mpigauge.model.knob import Knob
    from mpigauge.runs.store import Run
    from mpigauge.session.targets import CommandOptions, Setup


@dataclass(frozen=True)
class Sweep:
    """The settings and programs that a sweep varies."""

    blocks: tuple[VaryBlock, ...]
    programs: tuple[Foreign, ...]
    control: bool
    fail_fast: bool
    relaunch: bool
    """Give each arm launches of its own, though they could share them."""
    dry_run: bool

    def plan(self, setup: Setup) -> Plan:
        """The plan for one MPI. UserError: it knows none of these settings, or a transport is not
        there."""
        from mpigauge.measuring.plan.arms.arms import arms

        if not self.blocks:
            return self.only_programs(setup)
        all_arms = arms(self.blocks, setup.mpi.name, setup.mpi.spec, self.control)
        knobs = known_settings(all_arms, setup)
        plan = sweep_plan(setup.request, self.programs, setup.cards, setup.resources, setup.mpi)
        with_settings = [(arm, self.settings(arm, setup)) for arm in all_arms]
        try:
            inside = self.inside(all_arms, knobs, plan, setup)
        except OutsideError as why:
            note(f"{setup.mpi.label}: each arm has launches of its own: {why}")
            return swept(plan, with_settings, self.fail_fast)
        note(
            f"{setup.mpi.label}: all arms share each launch, their settings are read while it runs"
        )
        names = [arm.name for arm in all_arms]
        return swept_inside(plan, list(zip(names, inside, strict=True)))

    def only_programs(self, setup: Setup) -> Plan:
        """The plan without arms: the MPIs are compared."""
        plan = sweep_plan(setup.request, self.programs, setup.cards, setup.resources, setup.mpi)
        return replace(plan, fail_fast=self.fail_fast)

    def inside(
        self, all_arms: Sequence[Arm], knobs: Sequence[Knob], plan: Plan, setup: Setup
    ) -> list[dict[str, str]]:
        """The values that the kernels write for each arm. OutsideError: arms cannot share a
        launch."""
        if self.relaunch:
            raise OutsideError("--relaunch")
        if plan.mode == "classic":
            raise OutsideError("the classic schedule has no arms")
        if any(part.foreign for part in plan.parts):
            raise OutsideError("programs that are not ours read their settings when they start")
        if any(arm.env for arm in all_arms):
            raise OutsideError("variables of the environment are read when a program starts")
        if any(arm.transport for arm in all_arms):
            raise OutsideError("a transport is chosen when MPI starts")
        return written([arm.settings for arm in all_arms], knobs, setup.mpi)

    def settings(self, arm: Arm, setup: Setup) -> Mapping[str, str]:
        """The settings of an arm with those that select its transport, which has to work here."""
        if not arm.transport:
            return arm.settings
        request = setup.request
        bare = replace(request, settings={**request.settings, **arm.settings})
        own = replace(setup, request=bare)
        return with_transport(own, arm.transport, start=not self.dry_run).request.settings


def read_sweep(raw: dict[str, Any], dry_run: bool, several: bool = False) -> Sweep:
    """Takes what is of the sweep out of the options; `several` MPIs are something that varies, too.
    UserError: nothing is varied."""
    blocks = [read_block(*_block(word)) for word in raw.pop("vary_blocks")]
    programs = [_program(*_block(word)) for word in raw.pop("command_blocks")]
    grid = grid_of(raw.pop("vary"))
    if grid is not None:
        blocks.append(grid)
    control, fail_fast, relaunch = raw.pop("control"), raw.pop("fail_fast"), raw.pop("relaunch")
    if not blocks and not (several and programs):
        raise UserError(
            "nothing is varied; add --vary NAME=VALUE,VALUE or a block [[vary]] to the plan file, "
            "or several --mpi for its [[command]], or take `mpigauge run`"
        )
    return Sweep(tuple(blocks), tuple(programs), control, fail_fast, relaunch, dry_run)


def _program(block: Mapping[str, Any], places: Places) -> Foreign:
    """UserError: also where it names a reader that there is not."""
    program = read_command(block, places)
    if program.reader:
        try:
            READERS.find(program.reader)
        except UserError as error:
            raise UserError(f"{places.of('reader')}: {error}") from None
    return program


def _block(word: str) -> tuple[Mapping[str, Any], Places]:
    """A table of a plan file, and where it was written."""
    record = json.loads(word)
    return record["block"], Places(record["place"], record["places"])


def planned_sweeps(values: dict[str, Any], options: CommandOptions) -> list[PlannedRun]:
    """A sweep with each MPI, of what `options` have left of what the command was told. UserError:
    one cannot be made."""
    sweep = read_sweep(values, options.dry_run, several=len(options.mpi_specs) > 1)
    request = read_request(values, look_up(values))
    measures = bool(request.benchmarks) or not sweep.programs
    varies = bool(sweep.blocks)
    setups = set_up(request, options, TERMINAL, needs_kernels=measures, settings_vary=varies)
    runs = [PlannedRun(setup, sweep.plan(setup)) for setup in setups]
    check(runs, options)
    return runs


def known_settings(all_arms: Sequence[Arm], setup: Setup) -> Sequence[Knob]:
    """All settings of the MPI. UserError: an arm has one that it does not know, or one that names a
    file that it would not read."""
    from mpigauge.site.mpi.settings import knobs

    names: dict[str, None] = {}
    for arm in all_arms:
        names |= dict.fromkeys(arm.settings)
        check_files({**arm.settings, **arm.env})
    every = knobs(setup.mpi) if names else ()
    refuse_unknown(names, every, setup.mpi)
    for arm in all_arms:
        check_switched_on({**setup.request.settings, **arm.settings}, every, os.environ)
    return every


def present_all(stored: Sequence[Run], form: str, as_pivot: bool = False) -> None:
    """Each with its arms; where there are none, one MPI beside the other."""
    from mpigauge.result.compare.compare import compare

    varied = as_pivot or any(_arms(run) > {""} for run in stored)
    if varied or form != "table" or len(stored) < 2:
        for run in stored:
            present(run, form, as_pivot)
        return
    for run in stored:
        tell(f"stored in {run.path}")
    print_comparison(compare(sides_of(stored)), "table", stored)


def _arms(stored: Run) -> set[str]:
    """The names of its arms with a measured value; that of the default is empty."""
    arms = {cell.arm for cell in stored.cells}
    arms.update(figure.arm for figure in stored.of(Figure) if figure.benchmark != JOB)
    return arms


def present(stored: Run, form: str, as_pivot: bool = False) -> None:
    """Shows a sweep as a table, the best arm for each size, or sizes × settings; where there is
    nothing to choose from, or in another format, what was measured."""
    from mpigauge.cli.runs.side_by_side import print_best

    if (form != "table" and not as_pivot) or not _arms(stored) > {""}:
        print_run(stored, form)
        return
    tell(f"stored in {stored.path}")
    print_best(stored, "arm", share_of(None), form, as_pivot, word_of(stored))


# --- what would be done ---------------------------------------------------------------------------
def print_plan(run: PlannedRun) -> None:
    """The arms, who sits where, and about how long it takes."""
    from mpigauge.session.costing import cost_words

    plan = run.plan
    arms = arms_of(plan)
    shared = any(part.arms for part in plan.parts)
    how = "all in each launch" if shared else "in another order in each round"
    click.echo(f"{run.setup.mpi.label}: {len(arms)} arms, {how}")
    for arm in arms:
        click.echo(f"  {arm or 'default'}")
    click.echo()
    default = tuple(part for part in plan.parts if not part.arm)
    print_seats(replace(run, plan=replace(plan, parts=default)))
    click.echo(f"\n{cost_words(run)}")


def arms_of(plan: Plan) -> list[str]:
    """Their names, each once; the default has none."""
    inside: dict[str, None] = {}
    alone: dict[str, None] = {}
    for part in plan.parts:
        inside |= dict.fromkeys(name for name, _ in part.arms)
        if not part.arms:
            alone[part.arm] = None
    return list(inside | alone)
