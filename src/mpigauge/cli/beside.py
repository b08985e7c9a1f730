# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One MPI, or several beside each other: a run for each, launch by launch in turn."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.model.errors import RunError, UserError

if TYPE_CHECKING:
    from mpigauge.cli.measuring import Setup, Wanted
    from mpigauge.measure.campaign import Again, Ending, Task
    from mpigauge.measure.plan import Ground, Plan, Request
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi
    from mpigauge.runs.store import Run

Present = Callable[["Run"], None]
Planner = Callable[["Request", "Setup"], "Plan"]
OnGround = Callable[["Request", "Cards", "Ground", "Mpi"], "Plan"]


@dataclass(frozen=True)
class Order:
    """What a command that measures was told beside its request."""

    mpi_specs: tuple[str, ...] = ()
    transport: str | None = None
    output: Path | None = None
    form: str | None = None
    dry_run: bool = False
    topology: Path | None = None
    """With --dry-run: the machine, as a file."""

    @classmethod
    def taken(cls, said: dict[str, Any]) -> Order:
        """What is of it is taken out of the options of a command; the rest is the request."""
        return cls(**{f.name: said.pop(f.name) for f in fields(cls) if f.name in said})

    def where(self, request: Request) -> Wanted:
        """The hosts to measure, or the machine."""
        from mpigauge.cli.placing import wanted

        return wanted(request, self.output, self.topology, self.dry_run)


@dataclass(frozen=True)
class Job:
    """What is measured with one MPI."""

    setup: Setup
    plan: Plan
    again: Again | None = None


def jobs(specs: Sequence[str], form: str | None, make: Callable[[str | None], Job]) -> list[Job]:
    """A job for each MPI that was named, or for the one that is found. UserError: one is named
    twice, or the format is of one run."""
    for spec in specs:
        if specs.count(spec) > 1:
            raise UserError(f"--mpi {spec} is named twice; name each MPI once")
    if len(specs) > 1 and form not in (None, "table", "map"):
        raise UserError(
            f"--format {form} is of one run, and each of the {len(specs)} MPIs has its own; print "
            f"them afterwards with `mpigauge show RUN --format {form}`"
        )
    return [make(spec) for spec in specs or (None,)]


def planned(request: Request, order: Order, plan: Planner) -> list[Job]:
    """A job for each MPI, none of which is refused when the first starts."""
    from mpigauge.cli.measuring import prepare
    from mpigauge.cli.transport import with_transport
    from mpigauge.measure.campaign.job import check_told

    where = order.where(request)

    def make(spec: str | None) -> Job:
        setup = prepare(spec, where)
        tell_unknown(request, setup)
        asked, setup = with_transport(request, setup, order.transport, start=not order.dry_run)
        made = plan(asked, setup)
        check_told(made, setup.mpi)
        if not order.dry_run:
            check_libraries(made, setup)
            make_loops(asked)
        return Job(replace(setup, compilers=asked.compilers), made)

    return jobs(order.mpi_specs, order.form, make)


def make_loops(request: Request) -> None:
    """The simple loops by each compiler that was named."""
    if request.compilers:
        from mpigauge.site.mpi.compilers import build_loops

        build_loops(request.compilers)


def on_ground(make: OnGround) -> Planner:
    """Of a function that needs to know no more of the set-up."""
    return lambda request, setup: make(request, setup.cards, setup.ground, setup.mpi)


def tell_unknown(request: Request, setup: Setup) -> None:
    """Settings that this MPI would silently pass over; another of several may know them. Where it
    cannot be asked, nobody knows."""
    if request.settings:
        from mpigauge.cli.measuring import tell
        from mpigauge.site.mpi.settings import knobs
        from mpigauge.site.mpi.settings.refuse import unknown

        mpi = setup.mpi
        with suppress(UserError):
            for name, hint in unknown(request.settings, knobs(mpi), mpi):
                tell(f"{mpi.label} knows no setting {name}, which it is told all the same{hint}")


def check_libraries(plan: Plan, setup: Setup) -> None:
    """That each BLAS can be used, on this machine. UserError: one cannot."""
    from mpigauge.measure.plan.blas import libraries_of

    for library in libraries_of(plan):
        from mpigauge.site.mpi.blas import check_blas

        check_blas(library, setup.mpi, setup.kernels)


def measure_all(
    jobs: Sequence[Job],
    output: Path | None,
    label: str,
    present: Present,
    together: Callable[[Sequence[Run]], None] | None = None,
) -> None:
    """Measures each into a folder of its own, presents what was measured (with several MPIs
    `together`, where there is such a way), and raises what went wrong."""
    from mpigauge.cli.measuring import measure

    if len(jobs) == 1:
        (job,) = jobs
        return measure(job.setup, job.plan, output, label, present, job.again)
    names = [name_of(job) for job in jobs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UserError(f"--mpi: {twice} is named twice, in other words; name each MPI once")
    if output is not None:
        _make(output)
    with ExitStack() as stack:
        finish_all(_tasks(jobs, output, label, stack), present, together)
    return None


def finish_all(
    tasks: Sequence[Task],
    present: Present,
    together: Callable[[Sequence[Run]], None] | None = None,
) -> None:
    """Presents what was measured, however the campaigns ended; then raises what went wrong."""
    from mpigauge.cli.begun import begin

    for task in tasks:
        begin(task.writer.folder)
    stored, problems = _run(tasks)
    if together is not None and len(stored) > 1:
        together(stored)
    else:
        for run in stored:
            present(run)
    if problems:
        raise RunError("; ".join(problems))


def _make(folder: Path) -> None:
    """For the runs; that of each is new."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror}") from None


def name_of(job: Job) -> str:
    """As a folder's name: openmpi-5.0.11."""
    abi = "-std" if job.setup.mpi.spec.endswith("@std") else ""
    return f"{job.setup.mpi.name}-{job.setup.mpi.version}{abi}"


def _tasks(jobs: Sequence[Job], output: Path | None, label: str, stack: ExitStack) -> list[Task]:
    """Where one is refused, nothing is left of the others."""
    made: list[Task] = []
    try:
        made.extend(_task(job, output, label, len(jobs), stack) for job in jobs)
    except UserError:
        stack.close()
        for task in made:
            shutil.rmtree(task.writer.folder, ignore_errors=True)
        raise
    return made


def _task(job: Job, output: Path | None, label: str, many: int, stack: ExitStack) -> Task:
    """With its share of the time."""
    from mpigauge.cli.measuring import header, write_passport
    from mpigauge.measure.campaign import Task
    from mpigauge.runs.store import RunWriter

    setup, plan = job.setup, job.plan
    if plan.seconds is not None:
        plan = replace(plan, seconds=plan.seconds / many)
    cards = setup.kernels.cards.read_text(encoding="utf-8")
    folder = output / name_of(job) if output else None
    made = RunWriter.create(
        header(setup, plan), cards, output=folder, label=f"{label}-{name_of(job)}"
    )
    writer = stack.enter_context(made)
    write_passport(writer, setup)
    return Task(plan, setup.mpi, setup.kernels, writer, job.again)


def _run(tasks: Sequence[Task]) -> tuple[list[Run], list[str]]:
    """Those that measured anything, and what went wrong."""
    from mpigauge.cli.screen import screen
    from mpigauge.measure import campaign, live
    from mpigauge.runs.store import load

    stored: list[Run] = []
    problems: list[str] = []
    for task, ending in zip(tasks, campaign.run_beside(tasks, live.view(screen())), strict=True):
        run = load(task.writer.folder)
        if run.has_numbers:
            stored.append(run)
        problems += [f"{task.mpi.label}: {words}" for words in _problems(ending, run)]
    return stored, problems


def _problems(ending: Ending | RunError, run: Run) -> list[str]:
    from mpigauge.cli.measuring import verdict

    return [str(ending)] if isinstance(ending, RunError) else verdict(ending, run)


def print_beside(stored: Sequence[Run]) -> None:
    """Each number beside those of the other MPIs."""
    from mpigauge.cli.comparing import print_comparison, sides_of
    from mpigauge.result.compare.compare import compare

    print_comparison(compare(sides_of(stored)), "table", stored)
    for run in stored:
        click.echo(f"mpigauge: stored in {run.path}", err=True)
