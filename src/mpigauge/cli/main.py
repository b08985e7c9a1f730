# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The entry: finds the commands, and turns every error into one line and an exit status."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

import click

from mpigauge.cli import strict
from mpigauge.cli.helping import Group
from mpigauge.cli.output import begun, in_words, is_terminal, tell_notes
from mpigauge.cli.output.streams import OutputError, forget_output, open_streams
from mpigauge.cli.registry import COMMANDS, FORMER_NAMES
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.screen import wants_colours

WRONG_INPUT = 2
FAILED = 1
LONGEST_WORD = 300
"""Characters of a word of an error; paths are shorter."""
NOT_MEASURED = "interrupted; nothing was measured"


class Commands(Group):
    """The commands that registry.py finds, also by their names in older versions."""

    def get_help(self, ctx: click.Context) -> str:
        from mpigauge.cli.overview import overview

        del ctx
        return overview()

    def help_in_full(self, ctx: click.Context) -> str:
        from mpigauge.cli.overview import every_command

        return every_command(ctx, self)

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [name for name in COMMANDS if name not in FORMER_NAMES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        return COMMANDS.get(cmd_name) or COMMANDS.get(FORMER_NAMES.get(cmd_name, ""))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            from mpigauge.cli.overview import unknown_command

            raise UserError(unknown_command(name, self.list_commands(ctx), args[1:]))
        resolved = super().resolve_command(ctx, args)
        if resolved[1] is not None and not ctx.resilient_parsing:
            strict.check(resolved[1], resolved[2], ctx)
        return resolved


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 90},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    help="Print the version.",
    callback=lambda ctx, _, asked: _print_version(ctx) if asked else None,
)
def group() -> None:
    """Measures how fast MPI ranks communicate, with the error of every number."""


def main() -> None:
    try:
        open_streams(wants_colours(os.environ, is_terminal()))
        in_words()
        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = _say(NOT_MEASURED, WRONG_INPUT)
    except UserError as error:
        status = _say(str(error), WRONG_INPUT)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said; what is left is to end
    try:
        sys.stdout.flush()
    except (OutputError, BrokenPipeError):
        forget_output()  # or Python would try again, and complain
    sys.exit(status)


def run(words: list[str]) -> int:
    """The exit status: 0 good, 1 failed after launch, 2 wrong input or environment."""
    begun.forget()
    try:
        status = group.main(words, prog_name="mpigauge", standalone_mode=False)
        tell_notes()
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
        return 0
    except click.ClickException as error:
        return _say(_click_words(error), WRONG_INPUT)
    except OutputError as error:
        forget_output()
        return _cut_short(str(error), str(error))
    except UserError as error:
        return _say(str(error), WRONG_INPUT)
    except RunError as error:
        return _say(str(error), FAILED)
    except (click.Abort, KeyboardInterrupt):
        return _cut_short("interrupted", NOT_MEASURED)
    except BrokenPipeError:
        forget_output()  # as after `mpigauge show RUN | head`: nobody is left to tell
        return FAILED
    except OSError as error:
        return _cut_short(_refusal(error), _refusal(error))
    if isinstance(status, int):
        return status
    return 0


def _say(message: str, status: int) -> int:
    line = " ".join(map(_shortened, message.split()))
    with suppress(OSError):
        click.echo(f"mpigauge: {line}", err=True)
    return status


def _shortened(word: str) -> str:
    """A word of thousands of characters would hide what is wrong with it."""
    if len(word) <= LONGEST_WORD:
        return word
    return f"{word[: LONGEST_WORD // 2]}…{word[-LONGEST_WORD // 4 :]}"


def _click_words(error: click.ClickException) -> str:
    """click's sentence, in one line, with where to look further."""
    text = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    where = f" (see `{context.command_path} --help`)" if context is not None else ""
    if not text[:2].isupper():  # the name of an argument, RUN, stays as the help has it
        text = text[:1].lower() + text[1:]
    return text + where


def _cut_short(why: str, before: str) -> int:
    """`before`: what is said where nothing had been launched."""
    if where := begun.kept():
        return _say(f"{why}; {where}", FAILED)
    return _say(before, WRONG_INPUT)


def _refusal(error: OSError) -> str:
    """The sentence on an error of the operating system, with the file that it concerns."""
    file = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
    return f"the system refused: {file}{error.strerror or error}"


def _print_version(ctx: click.Context) -> None:
    import mpigauge

    click.echo(f"mpigauge {mpigauge.__version__}")
    ctx.exit()
