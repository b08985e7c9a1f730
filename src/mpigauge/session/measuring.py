# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes what was planned: a campaign and a folder for each MPI, and what they have left behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mpigauge
from mpigauge.measuring.plan import read_request, resolve
from mpigauge.measuring.plan.compute.blas import libraries_of
from mpigauge.measuring.plan.memory.gpus import check_fit
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.limits import LEAST_MEMORY
from mpigauge.model.secrets import masked_words
from mpigauge.model.units import byte_count, memory
from mpigauge.session.lookups import look_up
from mpigauge.session.setup import set_up
from mpigauge.site.topology import passport
from mpigauge.site.topology.passport import digest_of

if TYPE_CHECKING:
    from mpigauge.measuring.campaign import CampaignTask, Remeasure
    from mpigauge.measuring.plan import Plan
    from mpigauge.model.mpi import Kernels
    from mpigauge.runs.store import Run, RunWriter
    from mpigauge.session.targets import CommandOptions, Setup
    from mpigauge.session.view import View
    from mpigauge.site.mpi.programs.ways import Way


@dataclass(frozen=True)
class PlannedRun:
    """A run that is planned with one MPI."""

    setup: Setup
    plan: Plan
    remeasure: Remeasure | None = None
    """The measurements to repeat at the end; None: none."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """More entries for run.json."""

    @property
    def name(self) -> str:
        """The MPI as a folder's name: openmpi-5.0.11."""
        mpi = self.setup.mpi
        return f"{mpi.name}-{mpi.version}{'-std' if mpi.spec.endswith('@std') else ''}"


@dataclass(frozen=True)
class Measured:
    """The results of campaigns."""

    runs: tuple[Run, ...]
    """The runs that measured anything."""
    problems: tuple[str, ...]
    """Descriptions of what went wrong."""

    def raise_problems(self) -> None:
        """RunError: something went wrong. Called when what was measured has been shown."""
        if self.problems:
            raise RunError("; ".join(self.problems))


def plan_benchmarks(
    values: Mapping[str, Any], options: CommandOptions, view: View
) -> list[PlannedRun]:
    """Plans the benchmarks of a request with each of its MPIs. `values` are options in the words of
    the command line. UserError: one is wrong, or cannot be measured here."""
    request = read_request(values, look_up(values))
    runs = []
    for setup in set_up(request, options, view):
        plan = resolve(setup.request, setup.cards, setup.resources, setup.mpi)
        runs.append(PlannedRun(setup, plan))
    check(runs, options)
    return runs


def check(runs: Sequence[PlannedRun], options: CommandOptions) -> None:
    """Checks that all runs can be made, before the first starts, and builds the loops of compilers.
    UserError: one cannot."""
    from mpigauge.measuring.campaign import check_told
    from mpigauge.measuring.jobs.own_settings import gpu_settings_of

    for run in runs:
        check_told(run.plan, run.setup.mpi)
        gpu_settings_of(run.plan, run.setup.mpi, os.environ)
        _check_memory(run.plan, run.setup)
        if not options.dry_run:
            _check_libraries(run.plan, run.setup)
            _check_programs(run.plan, run.setup)
            _build_loops(run.setup)


def _check_memory(plan: Plan, setup: Setup) -> None:
    """UserError: a rank cannot hold the largest message that the user names, or none at all. Of the
    usual sizes those that fit are measured."""
    machines = [node.machine for node in setup.nodes] or [setup.machine]
    free = min(machine.memory_bytes for machine in machines)
    for part in plan.parts:
        if part.foreign or not any(setup.cards.find(name).is_sized for name in part.benchmarks):
            continue
        largest = max(part.sizes or (0,))
        if largest > free > 0:
            raise UserError(
                f"--sizes: {byte_count(largest)} is more than the memory that is free here, "
                f"{memory(free)}"
            )
        check_fit(plan, part, setup.resources, largest)
        if 0 < plan.memory_limit < max(largest, LEAST_MEMORY):
            raise UserError(
                f"--memory-limit: {byte_count(plan.memory_limit)} has no room for the buffers of "
                f"messages of {byte_count(largest or 1)}; allow more memory, or name smaller "
                "--sizes"
            )


def _check_libraries(plan: Plan, setup: Setup) -> None:
    """Checks that each BLAS can be used on this machine."""
    for library in libraries_of(plan):
        from mpigauge.site.mpi.blas import check_blas

        check_blas(library, setup.mpi, setup.kernels)


def _check_programs(plan: Plan, setup: Setup) -> None:
    """Checks that each of the user's programs can run on this MPI, and prints how if that is
    special."""
    for way in _ways_of(plan, setup).values():
        for line in (way.summary, *way.notes) if way.is_special else ():
            setup.view.note(line)


def _ways_of(plan: Plan, setup: Setup) -> Mapping[str, Way]:
    """The way in which each of the user's programs runs on this MPI, by its name."""
    if not any(part.foreign for part in plan.parts):
        return {}
    from mpigauge.session.program import ways_of

    return ways_of(plan, setup.mpi, setup.view)


def _build_loops(setup: Setup) -> None:
    """The simple loops by each compiler that was named."""
    if setup.request.compilers:
        from mpigauge.site.mpi.make.compilers import build_loops

        build_loops(setup.request.compilers)


def measure(runs: Sequence[PlannedRun], output: Path | None, label: str) -> Measured:
    """Measures each into a folder of its own: `output`, or one in it for each of several."""
    names = [run.name for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UserError(f"--mpi: {twice} is named twice, in other words; name each MPI once")
    runs = list(map(_with_trials, runs))
    if output is not None and len(runs) > 1:
        _make(output)
    with ExitStack() as stack:
        return carry_out(_tasks(runs, output, label, stack), runs[0].setup.view)


def _with_trials(run: PlannedRun) -> PlannedRun:
    """The run without the calls that its MPI cannot make with buffers on a GPU."""
    if not run.plan.memory:
        return run
    from mpigauge.session.gpus import with_trials

    plan, trials = with_trials(run.plan, run.setup)
    return replace(run, plan=plan, more={**run.more, **trials})


def carry_out(tasks: Sequence[CampaignTask], view: View) -> Measured:
    """Makes the launches of all tasks in turn."""
    from mpigauge.measuring import campaign
    from mpigauge.session.ending import verdict

    for task in tasks:
        view.begin(task.writer.folder)
    several = len(tasks) > 1
    runs: list[Run] = []
    problems: list[str] = []
    endings = campaign.run_in_turn(tasks, view.of_campaign(), meanwhile=view.prepare)
    for task, ending in zip(tasks, endings, strict=True):
        run = _stored(task)
        gave_up = isinstance(ending, RunError)
        if run.has_numbers or not (several or gave_up):
            runs.append(run)
        reports = [str(ending)] if isinstance(ending, RunError) else verdict(ending, run)
        problems += [f"{task.mpi.label}: {words}" if several else words for words in reports]
    return Measured(tuple(runs), tuple(problems))


def _stored(task: CampaignTask) -> Run:
    """The run of a task; of a large map only the pairs that stand out are records."""
    if any(part.pairs for part in task.plan.parts):
        from mpigauge.result.large_map import load_run

        return load_run(task.writer.folder)
    from mpigauge.runs.store import load

    return load(task.writer.folder)


def _make(folder: Path) -> None:
    """Creates the folder for the runs, unless it exists."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror}") from None


def _tasks(
    runs: Sequence[PlannedRun], output: Path | None, label: str, stack: ExitStack
) -> list[CampaignTask]:
    """The tasks of all runs; if one is refused, nothing is left of the others."""
    if len(runs) == 1:
        return [_task(runs[0], output, label, stack)]
    made: list[CampaignTask] = []
    try:
        for run in runs:
            own = _with_share_of_time(run, len(runs))
            folder = output / run.name if output else None
            made.append(_task(own, folder, f"{label}-{run.name}", stack))
    except UserError:
        stack.close()
        for task in made:
            shutil.rmtree(task.writer.folder, ignore_errors=True)
        raise
    return made


def _with_share_of_time(run: PlannedRun, many: int) -> PlannedRun:
    seconds = run.plan.seconds
    if seconds is None:
        return run
    return replace(run, plan=replace(run.plan, seconds=seconds / many))


def _task(run: PlannedRun, folder: Path | None, label: str, stack: ExitStack) -> CampaignTask:
    from mpigauge.measuring.campaign import CampaignTask
    from mpigauge.runs.store import RunWriter

    setup, plan = run.setup, run.plan
    head = header(setup, plan) | dict(run.more)
    made = RunWriter.create(head, setup.cards_text, output=folder, label=label)
    writer = stack.enter_context(made)
    write_passport(writer, setup)
    return CampaignTask(plan, setup.mpi, setup.built, writer, run.remeasure)


def header(setup: Setup, plan: Plan) -> dict[str, Any]:
    from mpigauge.measuring.jobs.own_settings import gpu_settings_of, start_settings_of

    ways = _ways_of(plan, setup)
    programs = [{"name": name, "how": way.how} for name, way in ways.items()]
    mpi = {name: _plain(value) for name, value in asdict(setup.mpi).items()}
    head: dict[str, Any] = {
        "version": mpigauge.__version__,
        "command": masked_words(setup.view.command),
        "plan": plan.to_json(),
        "mpi": mpi,
        "transport": asdict(setup.transport) if setup.transport else None,
    }
    if programs:
        head["programs"] = programs
    if own := start_settings_of(plan, setup.mpi, os.environ):
        head["own_settings"] = own
    if needed := gpu_settings_of(plan, setup.mpi, os.environ):
        head["gpu_settings"] = needed
    if setup.tuned:
        head["tuned"] = asdict(setup.tuned)
    return head


def write_passport(writer: RunWriter, setup: Setup) -> None:
    from mpigauge.site.builds.remembered import remembered

    def digest(path: Path) -> str:
        return remembered("digest", [str(path)], [path], lambda: digest_of(path))

    facts = passport(setup.mpi, setup.machine, setup.nodes, digest)
    if compilers := setup.request.compilers:
        facts["compilers"] = [asdict(each) | {"name": each.name} for each in compilers]
    if setup.built is not None:
        facts["kernels"] = _kernels(setup.built, digest)
    try:
        writer.write_passport(facts)
    except RunError as error:  # nothing was launched yet
        writer.discard()
        raise UserError(str(error)) from None


def _kernels(used: Kernels, digest: Callable[[Path], str]) -> dict[str, Any]:
    """A record of the kernels that ran and their build."""
    how = asdict(used.build) if used.build else {}
    plugin = digest(used.plugin) if used.plugin.exists() else ""
    return {"origin": used.origin, "plugin": str(used.plugin), "sha256": plugin} | how


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return value
