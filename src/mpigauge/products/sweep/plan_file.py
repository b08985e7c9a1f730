# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A plan file is a command line in a file: each key is an option of the command.

So a file and options mean the same, are checked by the same code, and options after the file count
more than it does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.habits import HabitualCommand
from mpigauge.cli.helping import names_of
from mpigauge.model.errors import UserError, nearest_or_all

if TYPE_CHECKING:
    from mpigauge.model.toml import Toml

BLOCKS = {"vary": "--vary-block", "command": "--command-block"}
"""Tables of a plan file that have an option of their own, in JSON, which only a file can give."""
NO_KEYS = ("help", "dry_run", "form", "output", "pivot", "topology")
"""Options that are of a command and not of what it measures."""


class PlanCommand(HabitualCommand):
    """Takes the words of a plan file where it is named: FILE.toml as the first argument. What is
    wrong with an option says where in the file it stands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for word in args:
            if word.partition("=")[0] in BLOCKS.values():
                raise click.NoSuchOption(word.partition("=")[0], ctx=ctx)
        files = [word for word in args if word.endswith(".toml")]
        if not files:
            return super().parse_args(ctx, args)
        from mpigauge.model.toml import read_toml

        at = args.index(files[0])
        file = ctx.meta[FILE] = read_toml(Path(args[at]))
        words = [*arguments_of(file, self), *args[:at], *args[at + 1 :]]
        try:
            return super().parse_args(ctx, words)
        except click.UsageError as error:
            raise UserError(placed(error.format_message().rstrip("."), file, self)) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UserError as error:
            raise UserError(placed(str(error), ctx.meta.get(FILE), self)) from None


FILE = "mpigauge.plan_file"


def placed(message: str, file: Toml | None, command: click.Command) -> str:
    """The message, with where each option that it names stands in the file."""
    if file is None or str(file.path) in message:
        return message
    keys = {key.replace("_", "-"): key for key in file.data}
    spellings = {param.opts[0].removeprefix("--"): names_of(param) for param in command.params}
    places = []
    for name in dict.fromkeys(re.findall(r"--([a-z][a-z-]*)", message)):
        for each in spellings.get(name, [name]):
            key = keys.get(each.removeprefix("--"))
            places += [file.place(key)] if key else []
    if not places:
        return message
    return f"{message} ({'; '.join(places)})"


def arguments_of(file: Toml, command: click.Command) -> list[str]:
    """The plan file as words of this command.

    UserError: a key that is not an option, or a value that is none of it, with line and column.
    """
    options = _keys(command)
    words: list[str] = []
    for key, value in file.data.items():
        name = key.replace("_", "-")
        if name in BLOCKS:
            words += _blocks(name, value, file)
        elif name == "benchmarks":
            words += map(str, _as_list(value))
        elif name in options:
            words += _option_words(options[name], value, file.place(key))
        else:
            names = [*options, *BLOCKS, "benchmarks"]
            hint = nearest_or_all(name, sorted(names))
            raise UserError(f"{file.place(key)}: there is no key '{key}'{hint}")
    return words


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value]


def _keys(command: click.Command) -> dict[str, click.Option]:
    """The options that a file may hold, by their long names without dashes."""
    options = {}
    for option in command.params:
        if not isinstance(option, click.Option) or option.hidden or option.name in NO_KEYS:
            continue
        for name in names_of(option):
            if name.startswith("--"):
                options[name.removeprefix("--")] = option
    return options


def _option_words(option: click.Option, value: Any, place: str) -> Iterator[str]:
    """The words of an option: lists are given several times, or with commas between."""
    name = option.opts[0]
    if option.is_flag:
        if not isinstance(value, bool):
            raise UserError(f"{place}: this is true or false, not {value}")
        if value:
            yield name
        else:
            yield from option.secondary_opts[:1]
        return
    if isinstance(value, Mapping):
        if not option.multiple:
            raise UserError(f"{place}: this is not a table; write a value")
        value = [f"{key}={_word(each, place)}" for key, each in value.items()]
    if isinstance(value, list) and not option.multiple:
        value = ",".join(_word(each, place) for each in value)
    for each in _as_list(value):
        yield name
        yield _word(each, place)


def _word(value: Any, place: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UserError(f"{place}: {value} is neither text nor a number")
    return str(value)


def _blocks(key: str, value: Any, file: Toml) -> Iterator[str]:
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        raise UserError(f"{file.place(key, key)}: write [[{key}]], a table for each")
    for number, block in enumerate(value):
        places = {name: file.place(name, key, number) for name in _names(block)}
        record = {"block": block, "place": file.head(key, number), "places": places}
        yield from (BLOCKS[key], json.dumps(record))


def _names(block: Mapping[str, Any]) -> Iterator[str]:
    """The keys of a block and of the tables in it."""
    for name, value in block.items():
        yield name
        if isinstance(value, Mapping):
            yield from value
