# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The parameters of a tuning, and the runs that it measures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.cli.output import tell
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.suite_options import LEVELS, THREAD_LEVEL
from mpigauge.model.units import duration
from mpigauge.products.tune.plan import (
    Where,
)
from mpigauge.products.tune.result import (
    Of,
    grids,
    weighed,
)
from mpigauge.runs.store.files import failing_as
from mpigauge.runs.store.tunings import RUNS
from mpigauge.site.mpi.rule_files.candidates import (
    Candidate,
    candidates_of,
    known_to,
)
from mpigauge.site.mpi.rule_files.registry import rule_format_of

if TYPE_CHECKING:
    from mpigauge.measuring.campaign import CampaignTask
    from mpigauge.measuring.plan import Plan, Request
    from mpigauge.model.call_mix import CallMix
    from mpigauge.products.tune.decide.grid import Grid
    from mpigauge.products.tune.measure.budget import TimeBudget
    from mpigauge.runs.store import Run
    from mpigauge.session.targets import Setup

AllArms = dict[str, dict[int, list[tuple[str, Mapping[str, str]]]]]
"""The names and settings of candidates, by collective and ranks."""
RUN_NAMES = {
    "right": "whether candidates are right",
    "right-alone": "whether candidates are right, each alone",
    "screen": "which candidates are worth a closer look",
    "grid": "how long candidates take",
    "refine": "where rules begin and end",
    "p2p": "how long messages take with each combination of settings",
    "p2p-trial": "how long messages take with a combination of settings",
    "p2p-finalists": "the best combinations of settings once more",
    "p2p-right": "whether collectives are right with the best one",
    "p2p-confirm": "whether the best one helps",
    "rules-right": "whether results with the rules are right",
    "confirm": "whether the rules help",
    "beyond": "whether algorithms of suite ALG are faster",
}


@dataclass(frozen=True)
class TuningTask:
    """The parameters of a tuning, and its folder."""

    setup: Setup
    request: Request
    """The request, including the settings under which candidates are measured."""
    collectives: tuple[str, ...]
    ranks: tuple[int, ...]
    folder: Path
    going_on: str
    """The sentence on how to resume after an interruption."""
    mix: CallMix | None = None
    """The calls of the program to tune for; None: any."""
    budget: TimeBudget | None = None
    """The time for the whole tuning; None: it takes the time that it takes."""

    @property
    def names_default(self) -> bool:
        """True if rules of this MPI can leave sizes to its default."""
        return rule_format_of(self.setup.mpi.name).names_default

    @property
    def where(self) -> Where:
        return Where(self.setup.cards, self.setup.resources, self.setup.mpi, self.mix)

    @property
    def is_crowded(self) -> bool:
        """True if ranks share cores."""
        return any(ranks > self.where.cores for _, ranks in self.targets)

    @property
    def thread_level(self) -> str:
        """The thread level of MPI: the requested one, else the lowest."""
        return self.request.suite_options.get(THREAD_LEVEL, LEVELS[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes at which candidates are measured."""
        every = {size for of in self.targets for size in self.where.sizes(self.request, *of)}
        return tuple(sorted(every))

    def hosts_of(self, collective: str, ranks: int) -> int:
        """Returns the number of hosts on which this number of ranks is measured or tested."""
        request = replace(self.request, oversubscribe=True)
        return len(self.where.with_room(ranks).part(request, collective, ranks).blocks)

    def groups(self, collective: str) -> tuple[int, ...]:
        """Returns the numbers of ranks for which a collective is tuned."""
        if self.mix is None:
            return self.ranks
        return self.mix.groups(collective)

    def candidates(self, ranks: int) -> list[Candidate]:
        every = known_to(self.setup.mpi, candidates_of(self.setup.mpi.name))
        return [each for each in every if each.collective in self.collectives and each.fits(ranks)]

    def forced(self, candidate: Candidate, ranks: int) -> Mapping[str, str]:
        """Returns the settings that make the MPI use the candidate for all sizes, with this number
        of ranks as they are placed here."""
        form = rule_format_of(self.setup.mpi.name)
        name = candidate.collective
        return {**candidate.settings, **form.measured_among(name, self.hosts_of(name, ranks))}

    @property
    def targets(self) -> list[Of]:
        return [(name, ranks) for name in self.collectives for ranks in self.groups(name)]

    def grids(self, run: Run) -> dict[Of, Grid]:
        """Returns the grid of each collective and number of ranks, with weighted sizes."""
        return {of: weighed(of, grid, self.mix) for of, grid in grids(run).items()}

    def measured(self, name: str, plan: Plan) -> Run:
        """Returns the run of this name: new, resumed, or complete. RunError: interrupted."""
        kind = name.rstrip("-0123456789")
        folder = self.folder / RUNS / name
        if self.budget is not None:
            plan = _in_time(plan, self.budget, kind, folder)
        stored, problem = measured(self.setup, plan, folder, RUN_NAMES[kind])
        if stored.status.get("status") == "interrupted":
            raise RunError(f"interrupted: what was measured is kept; {self.going_on}")
        if is_cut_short(stored):
            raise RunError(f"{problem}; what was measured is kept; {self.going_on}")
        check_level(stored)
        return stored


def check_level(stored: Run) -> None:
    """Checks the thread level. RunError: the MPI provides a lower one than requested."""
    for launch in stored.launches:
        asked, given = launch.thread_level_asked, launch.thread_level
        if asked and given and LEVELS.index(given) < LEVELS.index(asked):
            raise RunError(
                f"the MPI provides no thread level {asked}, only {given}: programs run at that "
                f"level here, too; tune with --thread-level {given}"
            )


def measured(setup: Setup, plan: Plan, folder: Path, what: str) -> tuple[Run, str]:
    """Returns the run in this folder, new, resumed or complete, and its last problem."""
    from mpigauge.runs.store import load
    from mpigauge.session.measuring import PlannedRun, carry_out, measure

    problems: tuple[str, ...] = ()
    if not (folder / "run.json").is_file():
        tell(f"{what}: {folder}")
        with failing_as(UserError, folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
        problems = measure([PlannedRun(setup, plan)], folder, "tune").problems
    else:
        _check_same_plan(folder, plan)
        if is_cut_short(load(folder)):
            tell(f"{what}: goes on in {folder}")
            with ExitStack() as stack:
                task = _what_is_left(folder, setup, plan.env, stack)
                problems = carry_out([task], setup.view).problems
    return load(folder), "; ".join(problems[-1:])


def _in_time(plan: Plan, budget: TimeBudget, kind: str, folder: Path) -> Plan:
    """Returns the plan with its share of the time left; a run that is stored keeps its own."""
    from mpigauge.measuring.plan import Plan as Plans
    from mpigauge.runs.store import load

    share_s = budget.share_s(kind)
    if (folder / "run.json").is_file():
        return replace(plan, seconds=Plans.from_json(load(folder).plan).seconds)
    tell(f"{duration(budget.left_s)} left")
    return plan if share_s is None else replace(plan, seconds=share_s)


def is_cut_short(stored: Run) -> bool:
    """True if launches are missing: it was interrupted, or it was given up with a reason, such as a
    full disk; no status, if there was no room even for that."""
    return stored.status.get("status") in (None, "interrupted") or "reason" in stored.status


def _what_is_left(
    folder: Path, setup: Setup, env: Mapping[str, str], stack: ExitStack
) -> CampaignTask:
    """Returns the rest of a run. `env`: variables of the command, some too secret to be stored."""
    from mpigauge.measuring.campaign.resume import resumed
    from mpigauge.runs.store import RunWriter, load

    stored = load(folder)
    writer = stack.enter_context(RunWriter.resume(folder))
    return resumed(stored, setup.mpi, setup.kernels, writer, {**os.environ, **env})


def _check_same_plan(folder: Path, plan: Plan) -> None:
    """Checks the plan of a stored run. UserError: it was measured with other options."""
    from mpigauge.measuring.plan import Plan as Plans
    from mpigauge.runs.store import load

    then, plan = Plans.from_json(load(folder).plan), Plans.from_json(plan.to_json())
    if replace(then, seed=plan.seed) != plan or _arms(then) != _arms(plan):
        raise UserError(
            f"{folder} was measured with other options; name another folder with --output, or give "
            "the command as it was"
        )


def _arms(plan: Plan) -> list[object]:
    return [(part.arm, dict(part.settings), part.arms) for part in plan.parts]
