# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds faults of a command line of any command: an empty value, or two where one counts.

click takes the last of several values and an empty one as if nothing had been said, so that
something else is measured than was asked for. Looked for in what was typed, before any command
reads it: options in a plan file may stand again on the command line, where they count more.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from mpigauge.cli.habits import words_of_command
from mpigauge.cli.helping import HELP_ALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


_SEVERAL = {
    "--bind": "; for several pairs repeat --place, as in --place cores:0,3 --place cores:1,2",
    "--transport": "; `mpigauge sweep --vary transport=shm,tcp` compares several",
}
"""The words for several values of options that take one."""


def check(command: click.Command, words: list[str], parent: click.Context | None = None) -> None:
    """UsageError: a value is empty, or an option that takes one value stands there twice."""
    context = click.Context(command, parent, command.name, **command.context_settings)
    if isinstance(command, click.Group):
        _check_part(command, words, context)
        return
    if set(words) & {*context.help_option_names, *HELP_ALL.opts}:
        return
    try:
        given, _, order = command.make_parser(context).parse_args(words_of_command(command, words))
    except click.UsageError:
        return  # which the command says itself
    _refuse_repeated(order, context)
    _refuse_empty(order, given, context)


def _check_part(group: click.Group, words: list[str], context: click.Context) -> None:
    """Checks the words of a group's subcommand; options of the usual one may stand without its
    name."""
    part = group.get_command(context, words[0]) if words else None
    if part is not None:
        named = not words[0].startswith("-")
        check(part, words[1:] if named else words, context)


def _refuse_repeated(order: Iterable[click.Parameter], context: click.Context) -> None:
    for param, times in Counter(order).items():
        if isinstance(param, click.Option) and times > 1 and not _may_be_repeated(param):
            name = param.opts[-1]
            why = f"{name} is given {times} times; it takes one value{_SEVERAL.get(name, '')}"
            raise click.UsageError(why, context)


def _may_be_repeated(option: click.Option) -> bool:
    """A flag says the same again."""
    return option.multiple or option.count or (option.is_flag and not option.secondary_opts)


def _refuse_empty(
    order: Iterable[click.Parameter], given: Mapping[str, Any], context: click.Context
) -> None:
    for param in order:
        value = given.get(param.name or "")
        values = value if isinstance(value, (list, tuple)) else [value]
        if param.type is click.UNPROCESSED:
            values = values[:1]  # what follows are words of another program, which may be empty
        if any(isinstance(each, str) and not each.strip() for each in values):
            raise click.UsageError(f"{_name(param)}: the value is empty", context)


def argument_name(param: click.Parameter) -> str:
    """RUN for [RUN...]: what stands in its place in the help."""
    return (param.metavar or str(param.name).upper()).replace("...", "").strip("[]")


def _name(param: click.Parameter) -> str:
    if isinstance(param, click.Option):
        return param.opts[-1]
    return argument_name(param)
