# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge exec: a program on any MPI, whichever it was made for."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.habits import HabitualCommand
from mpigauge.cli.helping import RANKS, option
from mpigauge.cli.output import tell, tell_notes
from mpigauge.cli.program_options import PROGRAM_OPTIONS
from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.model.mpi import Abi
    from mpigauge.session.program import ProgramLaunch
    from mpigauge.session.targets import Setup

PREFIX = ".mpigauge-exec-"
LOCK = "lock"
"""A file in our folder with the name of our host, locked as long as we live."""
NOT_WHERE_IT_SHOULD = 1
"""The status where ranks are on another MPI, or each in a world of its own, whatever the launcher
makes of that."""


@click.command("exec", cls=HabitualCommand, context_settings={"allow_interspersed_args": False})
@options.together(
    *PROGRAM_OPTIONS,
    option(
        "--dry-run",
        is_flag=True,
        help="Print how the program would be launched, without launching it.",
        heading=RANKS,
        brief="Print the whole command; launch nothing.",
    ),
    option(
        "--abi",
        type=click.Choice(["mpich", "ompi", "std"]),
        help="ABI of the program, where it cannot be read: in a container, for example.",
    ),
)
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM …")
def command(words: tuple[str, ...], dry_run: bool, abi: Abi | None, **values: Any) -> int:
    """Run a program on any MPI, whichever it was built for.

    PROGRAM is started without its launcher: mpigauge exec --mpi intel --np 4 -- ./app. On an MPI of
    its own ABI it runs directly, on others through a translation. The program keeps its input,
    output, signals and exit status; each rank checks its MPI.
    """
    from mpigauge.cli.output.terminal import TERMINAL
    from mpigauge.products.exec.show import before, whole_command
    from mpigauge.session.program import launch_of, set_up_program

    setup = set_up_program(values, words, TERMINAL, dry_run)
    with _folder(setup) as folder:
        launch = launch_of(words, setup, os.environ, str(folder), abi=abi)
        _refuse_other_programs(launch)
        if dry_run:
            click.echo("\n".join([*before(launch), "", *whole_command(launch.command)]))
            return 0
        return _run(launch, setup, folder)


def check_options(values: Mapping[str, Any]) -> None:
    """UserError: these could not be carried out, whatever MPI and hosts there are."""
    from mpigauge.session.program import check_program_words

    check_program_words(values["words"])


def _refuse_other_programs(launch: ProgramLaunch) -> None:
    from mpigauge.site.mpi.programs.ways import NONE

    if launch.way.how == NONE:
        raise UserError(launch.way.summary)


def _run(launch: ProgramLaunch, setup: Setup, folder: Path) -> int:
    from mpigauge.measuring.jobs.in_front import run
    from mpigauge.products.exec.watching import Watching
    from mpigauge.site.mpi.programs.witness import has_said_why

    tell_notes()
    for line in (launch.way.summary, *launch.way.notes):
        tell(line)
    for name, text in launch.command.files.items():
        Path(name).write_text(text, encoding="utf-8")
    env = {**os.environ, **launch.command.env}
    ranks, is_here = launch.part.world_ranks, not launch.hosts
    with Watching(folder, ranks, setup.mpi.label, tell, is_here=is_here) as watching:
        ended = run(launch.command.words, env, started=watching.started)
    if ended.cause and is_here:
        tell(ended.cause)
    if has_said_why(folder):
        return NOT_WHERE_IT_SHOULD
    return ended.status


@contextmanager
def _folder(setup: Setup) -> Iterator[Path]:
    """A folder in which ranks note where they run; those on other hosts can if they share it.
    UserError: there is no place for one."""
    from mpigauge.measuring.jobs.agent import is_here

    elsewhere = [node.name for node in setup.nodes if not is_here(node.name)]
    base = Path.cwd() if elsewhere else Path(tempfile.gettempdir())
    remove_left(base)
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    except OSError as error:
        raise UserError(f"cannot make a folder in {base}: {error.strerror}; set TMPDIR") from None
    try:
        with (folder / LOCK).open("w") as lock:
            with suppress(OSError):  # a file system without locks: nobody removes the folder
                fcntl.flock(lock, fcntl.LOCK_EX)
                lock.write(os.uname().nodename)
                lock.flush()
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_left(base: Path) -> None:
    """Removes folders of this host whose mpigauge was killed: the system lets go of its lock. Some
    network file systems keep locks for each host, so folders of others stay."""
    for folder in base.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid != os.geteuid() or folder.is_symlink():
                continue
            with (folder / LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if lock.read() == os.uname().nodename:
                    shutil.rmtree(folder)
