# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge tune: rules for the algorithms of collectives, which are proven to help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import completing, options
from mpigauge.cli.habits import HabitualCommand
from mpigauge.cli.helping import HELP_ALL, MESSAGES, MPI, OUTPUT, RANKS, TIME, Group, option
from mpigauge.cli.paths import OutputFolder
from mpigauge.model.limits import (
    LEAST_LAUNCHES_OF_RULES,
    LEAST_TRIALS,
    MOST_LAUNCHES,
    MOST_TRIALS,
)

if TYPE_CHECKING:
    from mpigauge.model.call_mix import CallMix
    from mpigauge.products.tune.measure.budget import TimeBudget

USUAL = "make"
"""The subcommand of those who name none."""


class TuneGroup(Group):
    """`mpigauge tune Bcast` is `mpigauge tune make Bcast`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self.with_name(args, ctx))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of a word, also of one that only stands for a subcommand."""
        return super().get_command(ctx, cmd_name) or self.commands[USUAL]

    def with_name(self, args: list[str], ctx: click.Context) -> list[str]:
        """UserError: the first word is neither a collective nor a subcommand."""
        if args and args[0] in (*self.commands, *ctx.help_option_names, *HELP_ALL.opts):
            return args
        if ctx.resilient_parsing:  # a shell asks how the words may go on
            if args:
                return [USUAL, *args]
            return args
        if args and not args[0].startswith("-"):
            check_word(args[0], self.commands)
        return [USUAL, *args]


def check_word(word: str, commands: Any) -> None:
    """UserError: it is neither a collective nor a subcommand."""
    from mpigauge.model.errors import UserError, nearest_or_all

    words = [*_every_collective(), *commands]
    if word.lower() not in (name.lower() for name in words):
        raise UserError(
            f"'{word}' is neither a collective that can be tuned nor a subcommand of tune"
            f"{nearest_or_all(word, words)}"
        )


def _every_collective() -> list[str]:
    from mpigauge.site.mpi.rule_files.candidates import collectives_of
    from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS

    return list(dict.fromkeys(name for mpi in RULE_FORMATS for name in collectives_of(mpi)))


@click.group("tune", cls=TuneGroup)
def command() -> None:
    """Find the best algorithms of collectives here, as rules that a program can be started with.

    `mpigauge tune [COLLECTIVE]...` is `mpigauge tune make [COLLECTIVE]...`.
    """


@command.command(USUAL, cls=HabitualCommand)
@click.argument("collectives", nargs=-1, metavar="[COLLECTIVE]...")
@options.together(
    options.mpi_option,
    option(
        "--for",
        "profile",
        metavar="PROFILE",
        shell_complete=completing.runs,
        help="Only what the program of this stored profile calls (`mpigauge profile`), by the time "
        "that it spends there; then the program itself, with the rules and without.",
        brief="Only what the program of this stored profile calls.",
    ),
    option(
        "--ranks",
        metavar="LIST",
        help="Sizes of communicators to tune.  [default: all cores]",
        heading=RANKS,
    ),
    option(
        "--sizes",
        metavar="LIST",
        help="Message sizes at which candidates are measured.  [default: 8 B to 2 MiB, times 4]",
        heading=MESSAGES,
        brief="Message sizes to measure.  [default: 8 B to 2 MiB, times 4]",
    ),
    options.shared("time"),
    option(
        "--launches",
        type=click.IntRange(LEAST_LAUNCHES_OF_RULES, MOST_LAUNCHES),
        metavar="N",
        help="Launches that measure all candidates.  [default: 6]",
        heading=TIME,
    ),
    option(
        "--data",
        type=click.Choice(["static", "fresh"]),
        default="fresh",
        help="fresh: the send buffer is written before each call.  [default: fresh]",
        heading=MESSAGES,
    ),
    option(
        "--thread-level",
        metavar="LEVEL",
        help="At which programs start MPI: single, funneled, serialized, multiple (mpi4py's).  "
        "[default: single]",
    ),
    *options.all_shared("hosts hostfile ppn launcher rsh oversubscribe"),
    option(
        "--keep-order",
        is_flag=True,
        help="Leave reductions at the default: other algorithms sum in another order, which may "
        "change last digits.",
    ),
    option(
        "--p2p/--no-p2p",
        default=None,
        help="Settings of messages from rank to rank as well, which have one value for all sizes; "
        "without COLLECTIVE these alone.  [default: with --for, where the program sends messages]",
    ),
    option(
        "--trials",
        type=click.IntRange(LEAST_TRIALS, MOST_TRIALS),
        metavar="N",
        help="Search these by N trials of Optuna, in finer steps, in place of a list of "
        "combinations.",
    ),
    options.shared("seed"),
    option(
        "--output",
        type=OutputFolder(),
        metavar="DIR",
        help="Folder of the tuning.  [default: mpigauge-tuned-MPI-VERSION]",
        heading=OUTPUT,
        brief="Folder of the tuning.",
    ),
)
def make_command(collectives: tuple[str, ...], profile: str | None, **values: Any) -> None:
    """Measure all candidates, choose, write rules, and confirm them by fresh launches.

    Every candidate is tried for right results first. A rule stays only where it is significantly
    faster than the default, in the launches that chose it and in others; everywhere else the
    default stays. The same command with the same --output resumes an interrupted tuning.
    """
    from mpigauge.products.tune.making import make

    if profile is None:
        make(collectives, values, budget=_budget(values, None))
        return
    from mpigauge.products.tune.program import failing, program_of, try_program, without_trial

    program = program_of(profile, values)
    seed = values.get("seed") or 0
    budget = _budget(values, program.mix)
    begun = without_trial(program.mix, values)
    if begun:
        try_program(program, *begun, seed, budget)
        return
    folder, tuning = make(collectives, values, program.mix, failing(program, values), budget)
    if tuning.has_effect:
        try_program(program, folder, tuning, seed, budget)


def _budget(values: dict[str, Any], mix: CallMix | None) -> TimeBudget | None:
    """Returns the time of --time for the whole tuning, and reports it. None: no time is given."""
    from mpigauge.cli.output import tell
    from mpigauge.measuring.plan.arms.parse import parse_duration
    from mpigauge.model.units import duration
    from mpigauge.products.tune.measure.budget import TimeBudget

    if not values["seconds"]:
        return None
    whole_s = parse_duration("--time", values["seconds"])
    tell(f"the tuning takes about {duration(whole_s)}, and ends with the rules found until then")
    return TimeBudget(whole_s, mix.run_s if mix else 0.0)


@command.command("show")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@options.json_option
def show_command(folder: Path, as_json: bool) -> None:
    """Show the rules of a tuning, their evidence, and where the default stays and why.

    Below it is the default beside what was tuned, size by size, as fresh launches found both.
    """
    from mpigauge.cli.options import USUAL_FORMAT
    from mpigauge.products.tune.kind import print_tuning

    print_tuning(folder, "json" if as_json else USUAL_FORMAT)


@command.command("env")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@option(
    "--format",
    "form",
    type=click.Choice(["sh", "sbatch", "module", "mca"]),
    default="sh",
    help="sh: lines to source; sbatch: for the head of a job script of Slurm; module: of a module "
    "file; mca: of Open MPI's mca-params.conf.  [default: sh]",
    heading=OUTPUT,
)
def env_command(folder: Path, form: str) -> None:
    """Print the environment that makes the MPI read the rules."""
    from mpigauge.cli.output import tell
    from mpigauge.products.tune.show.text import environment_lines
    from mpigauge.runs.store.tunings import variables_of
    from mpigauge.session.tuned import whole

    tuning = whole(folder)
    for line in environment_lines(tuning, variables_of(folder, tuning), form):
        click.echo(line)
    if not tuning.has_effect:
        tell(f"{folder} has no rule: there is nothing to set")


@command.command("apply", context_settings={"ignore_unknown_options": True})
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM...")
def apply_command(folder: Path, words: tuple[str, ...]) -> None:
    """Start a program, such as `mpirun -n 64 ./app`, with the rules of a tuning."""
    from mpigauge.products.tune.applying import start
    from mpigauge.session.tuned import whole

    start(folder, whole(folder), words)


@command.command("verify")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@options.together(
    option(
        "--mpi",
        "mpi_spec",
        metavar="MPI",
        help="The MPI, where it is not found by what it was tuned with.",
        heading=MPI,
        brief="mpich, openmpi, intel, or a path; several are compared.",
    ),
    *options.all_shared("hosts hostfile ppn launcher rsh seed"),
)
def verify_command(folder: Path, mpi_spec: str | None, **values: Any) -> None:
    """Re-verify that the rules are correct and still faster, on the hosts of the tuning.

    Another build of the MPI, and files that were edited, are refused.
    """
    from mpigauge.products.tune.making import verify
    from mpigauge.session.tuned import whole

    verify(folder, whole(folder), mpi_spec, values)
