# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge profile: what an application does with MPI, and what that takes."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.habits import HabitualCommand
from mpigauge.cli.helping import OUTPUT, TIME, option
from mpigauge.cli.program_options import NAMES, PROGRAM_OPTIONS
from mpigauge.model.errors import UserError
from mpigauge.model.limits import MOST_FRAMES, MOST_LAUNCHES
from mpigauge.model.width import WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mpigauge.products.profile.launch.launching import Start
    from mpigauge.products.profile.launch.profiling import Profiling
    from mpigauge.products.profile.store.stored import ProfiledJob
    from mpigauge.runs.store import RunWriter
    from mpigauge.session.targets import Setup

FORMATS = ("table", "json", "csv", "mpip", "perfcatch", "talp")


@click.command("profile", cls=HabitualCommand, context_settings={"allow_interspersed_args": False})
@options.together(
    option(
        "--launches",
        type=click.IntRange(1, MOST_LAUNCHES),
        default=1,
        metavar="N",
        help="Runs of the program, so that times have intervals; the first one reads its standard "
        "input.  [default: 1]",
        brief="Runs of the program.  [default: 1]",
        heading=TIME,
    ),
    option(
        "--frames",
        type=click.IntRange(0, MOST_FRAMES),
        metavar="N",
        help="Depth of the stacks that distinguish call sites.  [default: 8]",
    ),
    option(
        "--start",
        type=click.Choice(["on", "off"]),
        help="off: nothing is recorded until the program calls MPI_Pcontrol(1).  [default: on]",
    ),
    option(
        "--python-lines",
        "python_lines",
        type=click.Choice(["on", "off"]),
        help="Distinguish calls of a Python program by its lines; off: by the called methods of "
        "mpi4py.  [default: on]",
        brief="Distinguish calls of Python by lines.  [default: on]",
    ),
    option(
        "--timeline-limit",
        "timeline_limit",
        metavar="SIZE",
        help="Most bytes of recorded calls that are stored for the timeline; the longest calls "
        "stay.  [default: 20M]",
    ),
    option(
        "--measure",
        is_flag=True,
        help="Measure afterwards the calls that take 1 % of the time in MPI or more. A stored "
        "profile may be given instead of a command: profile --measure RUN.",
        brief="Measure these calls afterwards.",
    ),
    option(
        "--time",
        "seconds",
        metavar="TIME",
        help="Time for that, such as 1m.  [default: 8 s a cell, 20 s to 3 minutes]",
        heading=TIME,
        brief="Time for --measure, such as 1m.",
        former=["--in"],
    ),
    *PROGRAM_OPTIONS,
    option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="Format of the summary on standard error.",
        heading=OUTPUT,
    ),
    options.shared("output"),
    option(
        "--include",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        help="Print the folder with what programs include to name regions: mpigauge.h, "
        "mpigauge.f90, mpigauge_regions.py.",
        callback=lambda ctx, _, asked: _print_include(ctx) if asked else None,
    ),
    option(
        "--archive",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        help="Print the path of the library for programs that nothing can be preloaded into, to be "
        "linked before their MPI.",
        callback=lambda ctx, _, asked: _print_archive(ctx) if asked else None,
    ),
)
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND …")
def command(words: tuple[str, ...], **args: Any) -> int:
    """Run a program and profile its calls of MPI: their places, times and sizes.

    COMMAND is your own launch line (mpigauge profile -- mpirun -np 4 ./app), a script that has one
    in it, or, with --np and --mpi, the program alone (mpigauge profile --np 4 -- ./app). Nothing is
    recompiled or relinked. The program keeps its input, output and exit status.
    """
    from mpigauge.cli.output import tell
    from mpigauge.cli.output.begun import begin
    from mpigauge.cli.output.terminal import TERMINAL
    from mpigauge.measuring.jobs.interrupt import Interrupt
    from mpigauge.products.profile.launch.foretell import foretold
    from mpigauge.products.profile.launch.library import library
    from mpigauge.products.profile.launch.preload import PRELOAD
    from mpigauge.products.profile.launch.profiling import NO_CARDS, Profiling, header
    from mpigauge.products.profile.launch.starting import agent_for, hosts_of, starter_for
    from mpigauge.runs.store import RunWriter
    from mpigauge.session.program import set_up_program

    output, launches, form = args.pop("output"), args.pop("launches"), args.pop("form")
    measures, seconds = args.pop("measure"), args.pop("seconds")
    if seconds and not measures:
        raise UserError("--time is the time for --measure; a program takes the time that it takes")
    if measures and (stored := _stored_profile(words)):
        _refuse_for_stored(launches, output, args)
        _measure(stored, {**args, "seconds": seconds})
        present(stored, form)
        return 0
    timeline_bytes = _timeline_bytes(args.pop("timeline_limit")) // launches
    profiler_variables = _profiler_variables(
        args.pop("frames"), args.pop("start"), args.pop("python_lines")
    )
    setup = set_up_program(args, words, TERMINAL) if any(args[name] for name in NAMES) else None
    starter = starter_for(words, setup, dict(os.environ))
    tuned, rules = _tuned(setup, args["tuned"], words)
    agent, hosts = agent_for(setup, args["rsh"]), hosts_of(setup)
    _check_program(words[0])
    starter(
        {PRELOAD: "", **profiler_variables, **rules}
    )  # refuses what is wrong before the library is built
    variables = {PRELOAD: str(library(tell)), **profiler_variables, **rules}
    first = starter(variables)
    for note in foretold(first.programs, first.env, os.environ):
        tell(note)
    with RunWriter.create(
        {**header(words), **tuned}, NO_CARDS, output=output, label=_label(words, first)
    ) as writer:
        begin(writer.folder, resumes=False)
        _write_passport(writer, setup)
        profiling = Profiling(starter, variables, writer, tell, agent, hosts, timeline_bytes)
        with Interrupt() as interrupt:  # whatever the user presses, what ranks left is stored
            jobs, status = profiling.profile(launches, interrupt)
            _finish(profiling, words, jobs, status)
        if measures and jobs and not status:
            _measure(writer.folder, {**args, "seconds": seconds})
        _present(writer.folder, jobs, form, first)
    return status


def _refuse_for_stored(launches: int, output: Path | None, args: Mapping[str, Any]) -> None:
    """Checks the options for a stored profile. UserError: an option is for a command only."""
    for name, value in (
        ("--launches", launches != 1),
        ("--output", output),
        *((f"--{each}", args[each]) for each in ("np", "frames", "start")),
        ("--python-lines", args["python_lines"]),
        ("--timeline-limit", args["timeline_limit"]),
    ):
        if value:
            raise UserError(
                f"{name} is for a command; a stored profile is measured as it was stored"
            )


def _timeline_bytes(word: str | None) -> int:
    """Returns the bytes of --timeline-limit. UserError: it is no size."""
    from mpigauge.model.sizes import parse_bytes
    from mpigauge.products.profile.match.timeline import MOST_BYTES

    return MOST_BYTES if word is None else parse_bytes(word, f"--timeline-limit {word}")


def _print_include(ctx: click.Context) -> None:
    from mpigauge.products.profile.launch.library import include

    click.echo(include())
    ctx.exit()


def _print_archive(ctx: click.Context) -> None:
    from mpigauge.cli.output import tell
    from mpigauge.products.profile.launch.library import archive

    click.echo(archive(tell))
    ctx.exit()


def _stored_profile(words: tuple[str, ...]) -> Path | None:
    """Returns the profile named instead of a command; None: it is a command. A profile in this
    folder takes precedence over a command of the same name."""
    from pathlib import Path
    from shutil import which

    from mpigauge.products.profile.finding import holds_profile
    from mpigauge.products.profile.launch.left import collect_left
    from mpigauge.products.profile.store.stored import load_jobs
    from mpigauge.session.run_names import find_run

    if len(words) > 1:
        return None
    if which(words[0]) and not holds_profile(Path(words[0])):
        return None
    folder = find_run(words[0])
    if not holds_profile(folder):
        raise UserError(
            f"--measure: the run {words[0]} is not a profile; `mpigauge profile` makes one"
        )
    if folder.is_file():
        raise UserError(f"--measure: {words[0]} is packed; measure the folder that it was made of")
    collect_left(folder)
    if report := next((job for job in load_jobs(folder) if job.source), None):
        raise UserError(f"--measure: {words[0]} is {report.lacks}")
    return folder


def _measure(folder: Path, args: Mapping[str, Any]) -> None:
    """Measures the calls of a profile, by default with the tuning rules of its program."""
    from mpigauge.products.profile.beside.measured import measure_needs
    from mpigauge.products.profile.store.stored import load_jobs
    from mpigauge.runs.store import load
    from mpigauge.session.tuned import recorded_rules

    tuned = args.get("tuned") or recorded_rules(load(folder))
    measure_needs(folder, load_jobs(folder), {**args, "tuned": tuned})


def _profiler_variables(
    frames: int | None, start: str | None, python_lines: str | None
) -> dict[str, str]:
    """Returns the environment variables of the profiler, except the folder for its files."""
    variables = {}
    if frames is not None:
        variables["MPIGAUGE_PROFILE_FRAMES"] = str(frames)
    if start is not None:
        variables["MPIGAUGE_PROFILE_START"] = start
    if python_lines is not None:
        variables["MPIGAUGE_PROFILE_PYTHON_LINES"] = python_lines
    return variables


def check_options(args: Mapping[str, Any]) -> None:
    """Checks options independently of MPI and hosts. UserError: they cannot be carried out."""
    if any(args[name] for name in NAMES):
        from mpigauge.session.program import check_program_words

        check_program_words(args["words"])


def _check_program(name: str) -> None:
    """Checks that a program exists. UserError: it does not."""
    if shutil.which(name) is None:
        raise UserError(f"there is no program {name} that can be started here")


def _tuned(
    setup: Setup | None, folder: Path | None, words: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the tuning rules for run.json, and the variables that ranks of a user's launch line
    need for them; in our own launches the rules are set already."""
    from dataclasses import asdict

    from mpigauge.session.tuned import tuned_line

    if folder is None:
        return {}, {}
    if setup is not None and setup.tuned:
        return {"tuned": asdict(setup.tuned)}, {}
    tuned, variables = tuned_line(folder, words, os.environ)
    return {"tuned": asdict(tuned)}, variables


def _label(words: tuple[str, ...], start: Start) -> str:
    """Returns the label of the run's folder: the name of the program without its launcher."""
    from mpigauge.products.profile.store.stored import program_name

    program = start.programs[0] if start.programs else words
    return f"profile-{program_name(program)}"


def _write_passport(writer: RunWriter, setup: Setup | None) -> None:
    """Writes the passport; without it a profile only lacks facts about the machine."""
    from mpigauge.cli.output import tell
    from mpigauge.model.errors import RunError
    from mpigauge.site.topology import passport

    parts = (setup.mpi, setup.machine, setup.nodes) if setup else (None,)
    try:
        writer.write_passport(passport(*parts))
    except RunError as error:
        tell(str(error))


def _finish(
    profiling: Profiling, words: tuple[str, ...], jobs: Sequence[ProfiledJob], status: int
) -> None:
    """Completes the run folder; a full disk is only reported, as the program has run."""
    from mpigauge.model.errors import RunError
    from mpigauge.products.profile.launch.profiling import header

    try:
        profiling.writer.amend(header(words, jobs))
        # Hydra may end with 0 after several interrupts.
        failed = status or profiling.was_interrupted
        profiling.writer.finish("failed" if failed else "done", exit_status=status)
    except RunError as error:
        profiling.tell(str(error))


def present(folder: Path, form: str) -> None:
    """Prints a stored profile on standard output."""
    from mpigauge.cli.output import tell
    from mpigauge.products.profile.launch.profiling import ranks_seen
    from mpigauge.products.profile.printing import print_profile
    from mpigauge.products.profile.store.stored import load_jobs

    jobs = load_jobs(folder)
    print_profile(folder, jobs, form)
    tell(f"{ranks_seen(jobs)}; stored in {folder}")


def _present(folder: Path, jobs: Sequence[ProfiledJob], form: str, start: Start) -> None:
    """Prints a new profile on standard error, as standard output belongs to the program."""
    from mpigauge.cli.output import screen, tell
    from mpigauge.products.profile.beside.measured import joined_at
    from mpigauge.products.profile.finding import word_for
    from mpigauge.products.profile.launch.foretell import unseen
    from mpigauge.products.profile.launch.profiling import ranks_seen
    from mpigauge.products.profile.show.text import JOINED, lines_of

    if jobs:
        beside = joined_at(folder, jobs) if form in JOINED else None
        for line in lines_of(jobs, form, screen().room or WIDTH, beside, word_for(folder)):
            click.echo(line, err=True)
    else:
        for line in unseen(start.programs, start.env):
            tell(line)
    tell(f"{ranks_seen(jobs)}; stored in {folder}")
