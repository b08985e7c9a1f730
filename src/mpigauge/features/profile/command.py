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
from mpigauge.cli.program import NAMES, PROGRAM_OPTIONS
from mpigauge.model.errors import UserError
from mpigauge.model.limits import MOST_FRAMES, MOST_LAUNCHES
from mpigauge.model.width import WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mpigauge.cli.targets import Setup
    from mpigauge.features.profile.launching import Start
    from mpigauge.features.profile.profiling import Profiling, Starter
    from mpigauge.features.profile.stored import ProfiledJob
    from mpigauge.measure.campaign.agent import Agent
    from mpigauge.runs.store import RunWriter

FORMATS = ("table", "json", "csv", "mpip", "perfcatch")


@click.command("profile", cls=HabitualCommand, context_settings={"allow_interspersed_args": False})
@options.together(
    click.option(
        "--launches",
        type=click.IntRange(1, MOST_LAUNCHES),
        default=1,
        metavar="N",
        help="Runs of the program, so that times have intervals; the first one reads its standard "
        "input.  [default: 1]",
    ),
    click.option(
        "--frames",
        type=click.IntRange(0, MOST_FRAMES),
        metavar="N",
        help="Depth of the stacks that tell call sites apart.  [default: 8]",
    ),
    click.option(
        "--start",
        type=click.Choice(["on", "off"]),
        help="off: nothing is recorded until the program calls MPI_Pcontrol(1).  [default: on]",
    ),
    click.option(
        "--measure",
        is_flag=True,
        help="Measure afterwards what this machine does with the calls that take 1 % of the time "
        "in MPI or more. In place of a command a stored profile will do: profile --measure RUN.",
    ),
    click.option(
        "--in",
        "seconds",
        metavar="TIME",
        help="Time for that, such as 1m.  [default: 8 s a cell, 20 s to 3 minutes]",
    ),
    *PROGRAM_OPTIONS,
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="What to print on standard error afterwards.",
    ),
    options.output_option,
    click.option(
        "--include",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        help="Print the folder with what programs include to name regions: mpigauge.h, "
        "mpigauge.f90, mpigauge_regions.py.",
        callback=lambda ctx, _, asked: _print_include(ctx) if asked else None,
    ),
    click.option(
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
def command(words: tuple[str, ...], **said: Any) -> int:
    """Run a program and say what it does with MPI: which calls, where, how long, how large.

    COMMAND is your own launch line (mpigauge profile -- mpirun -np 4 ./app), a script that has one
    in it, or, with --np and --mpi, the program alone (mpigauge profile --np 4 -- ./app). Nothing is
    recompiled or relinked; what the program reads and prints, and its exit status, are its own.
    """
    from mpigauge.cli.begun import begin
    from mpigauge.cli.program import set_up_program
    from mpigauge.cli.screen import tell
    from mpigauge.features.profile.foretell import foretold
    from mpigauge.features.profile.profiling import NO_CARDS, Profiling, header
    from mpigauge.measure.campaign.interrupt import Interrupt
    from mpigauge.runs.store import RunWriter
    from mpigauge.site.launch.lines.preload import PRELOAD
    from mpigauge.site.mpi.profiler import library

    output, launches, form = said.pop("output"), said.pop("launches"), said.pop("form")
    measures, seconds = said.pop("measure"), said.pop("seconds")
    if seconds and not measures:
        raise UserError("--in is the time for --measure; a program takes the time that it takes")
    if measures and (stored := _stored_profile(words)):
        _refuse_for_stored(launches, output, said)
        _measure(stored, {**said, "seconds": seconds})
        present(stored, form)
        return 0
    told = _told(said.pop("frames"), said.pop("start"))
    setup = set_up_program(said, words) if any(said[name] for name in NAMES) else None
    starter = starter_for(words, setup, dict(os.environ))
    tuned, rules = _tuned(setup, said["tuned"], words)
    agent, hosts = agent_for(setup, said["rsh"]), hosts_of(setup)
    _check_program(words[0])
    starter({PRELOAD: "", **told, **rules})  # refuses what is wrong before the library is built
    variables = {PRELOAD: str(library(tell)), **told, **rules}
    first = starter(variables)
    for note in foretold(first.programs, first.env, os.environ):
        tell(note)
    with RunWriter.create(
        {**header(words), **tuned}, NO_CARDS, output=output, label=_label(words, first)
    ) as writer:
        begin(writer.folder, resumes=False)
        _write_passport(writer, setup)
        profiling = Profiling(starter, variables, writer, tell, agent, hosts)
        with Interrupt() as interrupt:  # whatever the user presses, what ranks left is stored
            jobs, status = profiling.profile(launches, interrupt)
            _finish(profiling, words, jobs, status)
        if measures and jobs and not status:
            _measure(writer.folder, {**said, "seconds": seconds})
        _present(writer.folder, jobs, form, first)
    return status


def _refuse_for_stored(launches: int, output: Path | None, said: Mapping[str, Any]) -> None:
    """UserError: an option is about a program that would run."""
    for option, value in (
        ("--launches", launches != 1),
        ("--output", output),
        *((f"--{name}", said[name]) for name in ("np", "frames", "start")),
    ):
        if value:
            raise UserError(
                f"{option} is for a command; a stored profile is measured as it was stored"
            )


def _print_include(ctx: click.Context) -> None:
    from mpigauge.site.mpi.profiler import include

    click.echo(include())
    ctx.exit()


def _print_archive(ctx: click.Context) -> None:
    from mpigauge.cli.screen import tell
    from mpigauge.site.mpi.profiler import archive

    click.echo(archive(tell))
    ctx.exit()


def _stored_profile(words: tuple[str, ...]) -> Path | None:
    """The profile that stands in place of a command; None: it is a command. A profile in this
    folder comes before a command of the same name."""
    from pathlib import Path
    from shutil import which

    from mpigauge.cli.run_names import find_run
    from mpigauge.features.profile.finding import holds_profile
    from mpigauge.features.profile.left import collect_left
    from mpigauge.features.profile.stored import load_jobs

    if len(words) > 1:
        return None
    if which(words[0]) and not holds_profile(Path(words[0])):
        return None
    found = find_run(words[0])
    if not holds_profile(found):
        raise UserError(
            f"--measure: the run {words[0]} is not a profile; `mpigauge profile` makes one"
        )
    if found.is_file():
        raise UserError(f"--measure: {words[0]} is packed; measure the folder that it was made of")
    collect_left(found)
    if report := next((job for job in load_jobs(found) if job.source), None):
        raise UserError(f"--measure: {words[0]} is {report.lacks}")
    return found


def _measure(folder: Path, said: Mapping[str, Any]) -> None:
    """With the rules that the program had, where none are named."""
    from mpigauge.cli.tuned import recorded_rules
    from mpigauge.features.profile.measured import measure_needs
    from mpigauge.features.profile.stored import load_jobs
    from mpigauge.runs.store import load

    tuned = said.get("tuned") or recorded_rules(load(folder))
    measure_needs(folder, load_jobs(folder), {**said, "tuned": tuned})


def _told(frames: int | None, start: str | None) -> dict[str, str]:
    """What the library is told beside the folder for its files."""
    found = {}
    if frames is not None:
        found["MPIGAUGE_PROFILE_FRAMES"] = str(frames)
    if start is not None:
        found["MPIGAUGE_PROFILE_START"] = start
    return found


def check_options(said: Mapping[str, Any]) -> None:
    """UserError: these could not be carried out, whatever MPI and hosts there are."""
    if any(said[name] for name in NAMES):
        from mpigauge.cli.program import check_program_words

        check_program_words(said["words"])


def _check_program(name: str) -> None:
    """UserError: nothing of this name can be started."""
    if shutil.which(name) is None:
        raise UserError(f"there is no program {name} that can be started here")


def starter_for(words: tuple[str, ...], setup: Setup | None, here: Mapping[str, str]) -> Starter:
    """What makes a launch of variables that its ranks shall find."""
    from mpigauge.features.profile.launching import user_line
    from mpigauge.features.profile.ours import started_by_us

    if setup is None:
        return lambda variables: user_line(words, variables, here)
    return lambda variables: started_by_us(words, setup, variables, here)


def _tuned(
    setup: Setup | None, folder: Path | None, words: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, str]]:
    """What run.json says of the rules that the MPI follows, and what ranks of a launch line of the
    user are told; ours are told by their launch."""
    from dataclasses import asdict

    from mpigauge.cli.tuned import tuned_line

    if folder is None:
        return {}, {}
    if setup is not None and setup.tuned:
        return {"tuned": asdict(setup.tuned)}, {}
    tuned, variables = tuned_line(folder, words, os.environ)
    return {"tuned": asdict(tuned)}, variables


def _label(words: tuple[str, ...], start: Start) -> str:
    """Of the run's folder: by the program, behind its launcher."""
    from mpigauge.features.profile.stored import program_name

    program = start.programs[0] if start.programs else words
    return f"profile-{program_name(program)}"


def agent_for(setup: Setup | None, rsh: str | None) -> Agent:
    """What reaches other hosts, to fetch the files of their ranks."""
    from mpigauge.cli.lookups import look_up
    from mpigauge.cli.setup import agent_of, target_of
    from mpigauge.cli.targets import CommandOptions
    from mpigauge.measure.plan import read_request

    if setup:
        request = setup.request
    else:
        said = {"rsh": rsh}
        request = read_request(said, look_up(said))
    return agent_of(target_of(request, CommandOptions()))


def hosts_of(setup: Setup | None) -> tuple[str, ...]:
    """The hosts of the batch job that we are in: a launcher may have used any."""
    from mpigauge.site import batch

    names = [host.name for host in batch.hosts(batch.here(os.environ))]
    if setup:
        names = [node.name for node in setup.nodes] + names
    return tuple(names)


def _write_passport(writer: RunWriter, setup: Setup | None) -> None:
    """Without it a profile says less of the machine, and no less of the program."""
    from mpigauge.cli.screen import tell
    from mpigauge.model.errors import RunError
    from mpigauge.site.topology import passport

    known = (setup.mpi, setup.machine, setup.nodes) if setup else (None,)
    try:
        writer.write_passport(passport(*known))
    except RunError as error:
        tell(str(error))


def _finish(
    profiling: Profiling, words: tuple[str, ...], jobs: Sequence[ProfiledJob], status: int
) -> None:
    """A disk that is full now is told, and no more: the program has run."""
    from mpigauge.features.profile.profiling import header
    from mpigauge.model.errors import RunError

    try:
        profiling.writer.amend(header(words, jobs))
        profiling.writer.finish("failed" if status else "done", exit_status=status)
    except RunError as error:
        profiling.tell(str(error))


def present(folder: Path, form: str) -> None:
    """A run that was profiled elsewhere, on standard output."""
    from mpigauge.cli.screen import tell
    from mpigauge.features.profile.by_name import print_profile
    from mpigauge.features.profile.profiling import ranks_seen
    from mpigauge.features.profile.stored import load_jobs

    jobs = load_jobs(folder)
    print_profile(folder, jobs, form)
    tell(f"{ranks_seen(jobs)}; stored in {folder}")


def _present(folder: Path, jobs: Sequence[ProfiledJob], form: str, start: Start) -> None:
    """On standard error, since standard output is the program's."""
    from mpigauge.cli.screen import screen, tell
    from mpigauge.features.profile.foretell import unseen
    from mpigauge.features.profile.measured import joined_at
    from mpigauge.features.profile.profiling import ranks_seen
    from mpigauge.features.profile.show import JOINED, lines_of

    if jobs:
        found = joined_at(folder, jobs) if form in JOINED else None
        for line in lines_of(jobs, form, screen().room or WIDTH, found):
            click.echo(line, err=True)
    else:
        for line in unseen(start.programs, start.env):
            tell(line)
    tell(f"{ranks_seen(jobs)}; stored in {folder}")
