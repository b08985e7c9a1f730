# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge man: the words of help as pages for `man`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge import __version__
from mpigauge.cli.helping import Command
from mpigauge.cli.manual import page, pages
from mpigauge.cli.output import tell
from mpigauge.cli.paths import OutputFolder
from mpigauge.model.errors import UserError, no_such
from mpigauge.runs.store.files import failing_as

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("man", cls=Command)
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option(
    "--output",
    "-o",
    "folder",
    type=OutputFolder(),
    metavar="DIR",
    help="Write the pages of all commands into this folder, as mpigauge-run.1 and so on.",
)
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], folder: Path | None) -> None:
    """Print the page of a command for man: `mpigauge man run | man -l -`.

    It has the text of --help. With --output DIR the pages of all commands are written; put DIR into
    MANPATH.
    """
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    if folder is None:
        named, name = _named(group, words)
        click.echo(page(named, name, __version__), nl=False)
        return
    if words:
        raise UserError("--output writes the pages of all commands; leave their names out")
    written = list(pages(group, "mpigauge", __version__))
    with failing_as(UserError, folder):
        (folder / "man1").mkdir(parents=True, exist_ok=True)
        for file, text in written:
            (folder / "man1" / file).write_text(text, encoding="utf-8")
    tell(f"{len(written)} pages written to {folder / 'man1'}")


def _named(group: click.Group, words: Sequence[str]) -> tuple[click.Command, str]:
    """The command of these words, and how it is typed. UserError: it does not exist."""
    parent: click.Command = group
    name = "mpigauge"
    for word in words:
        context = click.Context(parent, info_name=name)
        names = parent.list_commands(context) if isinstance(parent, click.Group) else []
        below = parent.get_command(context, word) if isinstance(parent, click.Group) else None
        if below is None:
            raise no_such("command", word, names or [name])
        parent, name = below, f"{name} {word}"
    return parent, name
