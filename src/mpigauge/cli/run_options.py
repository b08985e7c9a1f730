# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The options of what is measured, and how: of `mpigauge run` and all that makes such runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from mpigauge.cli import options, strict
from mpigauge.cli.options import option_of
from mpigauge.model.errors import UserError
from mpigauge.model.option_table import GENERAL, OFFERED

RUN_OPTIONS = (
    *(option_of(row) for row in GENERAL if row.heading != OFFERED[0].heading),
    *map(option_of, OFFERED),
    *(option_of(row) for row in GENERAL if row.heading == OFFERED[0].heading),
)


def read_words(words: Sequence[str]) -> dict[str, Any]:
    """The values of these options, as `mpigauge run` reads them. UserError: one is wrong."""
    command = click.Command("run", params=[], add_help_option=False)
    options.together(*RUN_OPTIONS)(command)
    try:
        strict.check(command, list(words))
        return dict(command.make_context("run", list(words)).params)
    except click.ClickException as error:
        raise UserError(error.format_message()) from None
