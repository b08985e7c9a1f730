# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge help: the first screen, the help of one command, or a list of all."""

from __future__ import annotations

import click

from mpigauge.cli.helping import Command, Group
from mpigauge.cli.overview import unknown_command
from mpigauge.model.errors import UserError, no_such


@click.command("help", cls=Command)
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "is_all", is_flag=True, help="Every command in a line.")
@click.pass_context
def command(context: click.Context, words: tuple[str, ...], is_all: bool) -> None:
    """Explain a command, or list all of them."""
    root = context.find_root()
    if is_all:
        assert isinstance(root.command, Group)
        click.echo(root.command.help_in_full(root))
        return
    click.echo(_context_of(root, words).get_help())


def _context_of(context: click.Context, words: tuple[str, ...]) -> click.Context:
    """Returns the context of the command with these words. UserError: no command has this name."""
    for word in words:
        group = context.command
        if not isinstance(group, click.Group):
            raise UserError(f"{context.command_path} has no commands of its own, such as '{word}'")
        command = group.get_command(context, word)
        if command is None and context.parent is None:
            raise UserError(unknown_command(word, group.list_commands(context)))
        if command is None:
            raise no_such(f"command {context.command_path}", word, group.list_commands(context))
        context = click.Context(command, context, word, **command.context_settings)
    return context
