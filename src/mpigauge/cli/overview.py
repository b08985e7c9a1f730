# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The first screen: what to type first, and the commands in groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.cli.registry import FORMER_NAMES
from mpigauge.model.elsewhere import command_here
from mpigauge.model.errors import UserError, nearest

if TYPE_CHECKING:
    import click

GROUPS = {
    "Measure": ("quick", "run", "node", "map", "fabric", "sweep", "tune", "resume"),
    "Look": ("show", "report", "plot", "explain", "best", "browse", "runs"),
    "Judge": ("compare", "check", "model", "ref"),
    "Predict": ("calibrate", "predict", "validate"),
    "Machine": ("topo", "doctor", "mpi", "benchmarks"),
    "Program": ("profile", "exec", "imb"),
    "Cluster": ("submit",),
    "Exchange": ("import", "export", "share", "sql"),
}
"""Commands by what they are for; `mpigauge help --all` also lists the others."""
_SET_UP, _FORMER = "Set-up", "Names of older versions"
_FIRST = {
    "mpigauge quick": "measure this machine, within 40 seconds",
    "mpigauge run PingPong": "measure one benchmark; `mpigauge benchmarks` has more",
    "mpigauge show last": "print the last run again",
}
_MORE = {
    "mpigauge COMMAND --help": "explain one command",
    "mpigauge help --all": "list every command, also those for set-up",
    "mpigauge --version": "print the version",
}


def overview() -> str:
    """The text of `mpigauge --help`, which fits on a screen of 24 lines."""
    return "\n".join(_lines())


def every_command(ctx: click.Context, group: click.Group) -> str:
    """A line for each command, in groups: those of the first screen, for set-up, former names."""
    from mpigauge.cli.helping import command_list

    grouped = {name for names in GROUPS.values() for name in names}
    others = tuple(name for name in group.list_commands(ctx) if name not in grouped)
    groups = []
    for heading, names in {**GROUPS, _SET_UP: others}.items():
        commands = ((name, group.get_command(ctx, name)) for name in names)
        rows = [(name, each.get_short_help_str(90)) for name, each in commands if each]
        groups.append((heading, rows))
    former = [(name, f"The same as `mpigauge {now}`.") for name, now in FORMER_NAMES.items()]
    return command_list([*groups, (_FORMER, former)], ctx)


def unknown_command(name: str, commands: Iterable[str], following: Sequence[str] = ()) -> str:
    """The error for a word that is no command, with the command that was probably meant.
    `following`: the words behind it, of which a line of another program consists."""
    from mpigauge.model.stored_cards import all_cards

    cards = all_cards()
    start = f"there is no command '{name}'; "
    if command := command_here(name, cards.names()):
        return f"{start}{_whole_line(command, name, following)}"
    if guess := nearest(name, commands):
        return f"{start}did you mean '{guess}'?"
    if guess := nearest(name, [*cards.suites(), *cards.names()]):
        return f"{start}did you mean `mpigauge run {guess}`?"
    return f"{start}`mpigauge --help` lists the commands"


def _whole_line(command: str, name: str, following: Sequence[str]) -> str:
    """The words for a line of another program, whose name alone stands for this command."""
    from mpigauge.cli.habits.other_lines import line_here

    try:
        command = line_here([name, *following]) or command
    except UserError as error:
        return f"`{command}` does that; {error}"
    return f"`{command}` does that"


def _lines() -> Iterator[str]:
    yield "Usage: mpigauge COMMAND [ARGS]..."
    yield ""
    yield "Measures how fast MPI ranks communicate, with the error of every number."
    yield ""
    yield from _columns(_FIRST.items(), 24)
    yield ""
    yield from _columns(((name, "  ".join(names)) for name, names in GROUPS.items()), 11)
    yield ""
    yield from _columns(_MORE.items(), 26)


def _columns(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    for first, second in rows:
        yield f"  {first:<{width}}{second}"
