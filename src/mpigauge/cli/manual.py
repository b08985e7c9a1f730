# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pages for `man`, from the same words as help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

import click

SECTION = 1


def page(command: click.Command, name: str, version: str) -> str:
    """`name`: as it is typed, `mpigauge run`."""
    context = click.Context(command, info_name=name)
    title = name.replace(" ", "-")
    lines = [
        f'.TH {title.upper()} {SECTION} "" "mpigauge {version}" "mpigauge"',
        ".SH NAME",
        f"{_text(title)} \\- {_text(command.get_short_help_str(200).rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_text(name)}",
        _text(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *_paragraphs(command.help or ""),
        *_parts(command, context, name),
        *_options(command, context),
    ]
    return "\n".join(lines) + "\n"


def pages(group: click.Group, name: str, version: str) -> Iterator[tuple[str, str]]:
    """The name of each file and its text: of the group, and of all commands in it."""
    yield f"{name.replace(' ', '-')}.{SECTION}", page(group, name, version)
    context = click.Context(group, info_name=name)
    for each in group.list_commands(context):
        command = group.get_command(context, each)
        if isinstance(command, click.Group):
            yield from pages(command, f"{name} {each}", version)
        elif command is not None and not command.hidden:
            of = f"{name} {each}"
            yield f"{of.replace(' ', '-')}.{SECTION}", page(command, of, version)


def _parts(command: click.Command, context: click.Context, name: str) -> Iterator[str]:
    """The commands of a group."""
    if not isinstance(command, click.Group):
        return
    yield ".SH COMMANDS"
    for each in command.list_commands(context):
        subcommand = command.get_command(context, each)
        if subcommand is not None and not subcommand.hidden:
            yield ".TP"
            yield f".B {_text(f'{name} {each}')}"
            yield _text(subcommand.get_short_help_str(200))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    records = [param.get_help_record(context) for param in command.get_params(context)]
    yield ".SH OPTIONS"
    for names, about in filter(None, records):
        if about:
            yield ".TP"
            yield f".B {_text(names)}"
            yield _text(about)


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(re.split(r"\n\s*\n", dedent(text).strip())):
        yield from [".PP"] if number else []
        yield _text(" ".join(paragraph.split()))


def _text(text: str) -> str:
    """Signs that mean something to roff, and a line that would begin with an order."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    if plain.startswith((".", "'")):
        return f"\\&{plain}"
    return plain
