# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Help of commands: options in groups, and of a command with many options the common ones first.

An option carries its place in the help: `heading`, the group that shows it, and `brief`, its line
in the help of a command with many options. Options without a brief are left to --help-all. cloup
lays the text out; it is imported where help is printed, and nowhere else.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mpigauge.model.screen import wants_colours

if TYPE_CHECKING:
    from cloup import HelpFormatter
    from cloup.formatting import HelpSection

MOST_IN_FULL = 12
"""The most options that --help shows in full."""
MESSAGES = "Messages"
RANKS = "Ranks and hosts"
MPI = "MPI"
GPUS = "GPUs"
TIME = "Time and precision"
OUTPUT = "Output"
SOME = "Options of some benchmarks (`mpigauge benchmarks NAME` lists those of one)"
HEADINGS = {
    "messages": MESSAGES,
    "ranks": RANKS,
    "mpi": MPI,
    "gpus": GPUS,
    "time": TIME,
    "output": OUTPUT,
    "some": SOME,
}
"""The headings by the words of schema/options.toml."""
_OWN, _HELP = "Options", "Help"
_ORDER = (_OWN, MESSAGES, RANKS, MPI, GPUS, TIME, OUTPUT, SOME, _HELP)
_F = TypeVar("_F", bound=Callable[..., Any])
_O = TypeVar("_O", bound=click.Option)
_Rows = list[tuple[str, str]]


class Option(click.Option):
    """An option with its place in the help, and with its names in older versions."""

    def __init__(
        self,
        *words: Any,
        heading: str = _OWN,
        brief: str = "",
        former: Sequence[str] = (),
        **attributes: Any,
    ) -> None:
        super().__init__(*words, **attributes)
        self.heading = heading
        self.brief = brief
        self.former = tuple(former)

    @property
    def understood(self) -> list[str]:
        """All names that select it, also those of older versions, which help does not show."""
        return [*self.opts, *self.former]

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        shown = self.opts
        self.opts = self.understood
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown


def option(*words: Any, **attributes: Any) -> Callable[[_F], _F]:
    """The decorator for an option with its place in the help."""
    return click.option(*words, **{"cls": Option, **attributes})


def names_of(param: click.Parameter) -> list[str]:
    """All names of an option, also those of older versions."""
    return param.understood if isinstance(param, Option) else list(param.opts)


def _print_all(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    del param
    if asked and not ctx.resilient_parsing:
        assert isinstance(ctx.command, Command)
        click.echo(ctx.command.help_in_full(ctx), color=ctx.color)
        ctx.exit()


HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    hidden=True,
    expose_value=False,
    callback=_print_all,
    help="Show all options.",
)


class Command(click.Command):
    """A command whose help shows options in groups."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), HELP_ALL]

    def get_help(self, ctx: click.Context) -> str:
        """Returns the help: all of it, or the common options where there are many."""
        options = _shown(self, ctx)
        if len(options) <= MOST_IN_FULL:
            return self.help_in_full(ctx)
        formatter = self._begun(ctx, inspect.cleandoc(self.help or "").partition("\n\n")[0])
        more = ("--help-all", f"Show all {len(options)} options.")
        groups = _common(options, ctx)
        groups[-1][1].append(more)
        _write_close(formatter, groups)
        return formatter.getvalue().rstrip("\n")

    def help_in_full(self, ctx: click.Context) -> str:
        """Returns the help with every option."""
        options = _shown(self, ctx)
        formatter = self._begun(ctx, inspect.cleandoc(self.help or ""))
        groups = [(_OWN, _records(options, ctx))]
        if len(options) > MOST_IN_FULL:
            groups = [(heading, _records(of, ctx)) for heading, of in _by_heading(options)]
        formatter.write_many_sections(_sections(groups))
        self.format_more(ctx, formatter)
        return formatter.getvalue().rstrip("\n")

    def format_more(self, ctx: click.Context, formatter: HelpFormatter) -> None:
        """Writes the end of the help."""

    def _begun(self, ctx: click.Context, text: str) -> HelpFormatter:
        """The formatter, with the usage and this text."""
        formatter = _formatter(ctx)
        self.format_usage(ctx, formatter)
        if text:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(text)
        return formatter


class Group(Command, click.Group):
    """A command of commands, which are listed at the end of its help."""

    command_class = Command

    def format_more(self, ctx: click.Context, formatter: HelpFormatter) -> None:
        self.format_commands(ctx, formatter)


def text_of(heading: str, options: Iterable[click.Option], ctx: click.Context) -> str:
    """The options below a heading, as help shows them."""
    formatter = _formatter(ctx)
    _write_close(formatter, [(heading, _records(options, ctx))])
    return formatter.getvalue().strip("\n")


def command_list(groups: Iterable[tuple[str, _Rows]], ctx: click.Context) -> str:
    """The names of commands with what they do, by group."""
    formatter = _formatter(ctx)
    _write_close(formatter, list(groups))
    return formatter.getvalue().strip("\n")


def _shown(command: click.Command, ctx: click.Context) -> list[click.Option]:
    params = command.get_params(ctx)
    return [each for each in params if isinstance(each, click.Option) and not each.hidden]


def _common(options: Iterable[click.Option], ctx: click.Context) -> list[tuple[str, _Rows]]:
    """The common options in their groups, a line each."""
    common = [each for each in options if isinstance(each, Option) and each.brief]
    groups = []
    for heading, of in _by_heading(common):
        rows = zip(_records(of, ctx), of, strict=True)
        groups.append((heading, [(words, each.brief) for (words, _), each in rows]))
    return groups


def _by_heading(options: Iterable[_O]) -> Iterable[tuple[str, list[_O]]]:
    """The options by heading; first those that only this command has."""
    groups: dict[str, list[_O]] = {}
    for each in options:
        groups.setdefault(getattr(each, "heading", _HELP), []).append(each)
    return [(heading, groups[heading]) for heading in _ORDER if heading in groups]


def _records(options: Iterable[click.Option], ctx: click.Context) -> _Rows:
    return [record for each in options if (record := each.get_help_record(ctx))]


def _sections(groups: Iterable[tuple[str, _Rows]]) -> list[HelpSection]:
    from cloup.formatting import HelpSection

    return [HelpSection(heading, rows) for heading, rows in groups]


def _write_close(formatter: HelpFormatter, groups: Sequence[tuple[str, _Rows]]) -> None:
    """Writes groups without blank lines between them."""
    rows = [row for _, of in groups for row in of]
    wide = formatter.compute_col1_width(rows, formatter.col1_max_width)
    formatter.write("\n")
    for heading, of in groups:
        formatter.write_heading(heading)
        with formatter.indentation():
            formatter.write_dl(of, col1_width=wide)


def _formatter(ctx: click.Context) -> HelpFormatter:
    from cloup import HelpFormatter, HelpTheme, Style

    from mpigauge.cli.output import is_terminal

    theme = HelpTheme()
    if wants_colours(os.environ, is_terminal()):
        theme = HelpTheme(
            invoked_command=Style(bold=True), heading=Style(bold=True), col1=Style(fg="cyan")
        )
    return HelpFormatter(width=ctx.terminal_width, max_width=ctx.max_content_width, theme=theme)
