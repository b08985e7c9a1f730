# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge mpi settings: the settings of an MPI, their meaning, and when they are read."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command
from mpigauge.cli.output import write_lines

if TYPE_CHECKING:
    from mpigauge.model.knob import Knob

FEW = 3
"""So many are shown in full."""


@click.command("settings", cls=Command)
@click.argument("word", required=False)
@options.mpi_option
@click.option("--all", "show_all", is_flag=True, help="All settings, not only those that matter.")
@options.json_option
def command(word: str | None, mpi_spec: str | None, show_all: bool, as_json: bool) -> None:
    """List settings of an MPI, of UCX and libfabric below it, and of its launcher.

    Without WORD, settings that matter for benchmarks; with WORD, all that match it, and in full if
    they are few. `--set NAME=VALUE` sets one in other commands. `--mpi mpt` lists the settings of
    SGI MPT, which are untested.
    """
    from mpigauge.site.mpi.settings import by_name, search

    if mpi_spec is not None and (named := by_name(mpi_spec)):
        label, spec, every = f"{named[0].of} by name only", mpi_spec, named
    else:
        label, spec, every = _settings_of(mpi_spec)
    if word is not None:
        shown = search(every, word, by_name())
    else:
        shown = every if show_all or as_json else tuple(knob for knob in every if knob.meaning)
    if as_json:
        records = [asdict(knob) for knob in shown]
        click.echo(json.dumps({"mpi": spec, "settings": records}, indent=2))
    else:
        in_short = word is None and not show_all
        _show(shown, in_full=word is not None and len(shown) <= FEW, folded=in_short)
        if in_short:
            click.echo(
                f"\n{len(every)} settings of {label} are known: --all lists them, "
                "`mpigauge mpi settings WORD` searches them."
            )


def _settings_of(mpi_spec: str | None) -> tuple[str, str, tuple[Knob, ...]]:
    """The label of an MPI, what finds it again, and its settings."""
    from mpigauge.site.mpi import find
    from mpigauge.site.mpi.settings import knobs

    mpi = find(mpi_spec)
    return mpi.label, mpi.spec, knobs(mpi)


def _show(shown: Sequence[Knob], in_full: bool, folded: bool) -> None:
    from mpigauge.cli.output.text_tables import lines, screen_width
    from mpigauge.products.settings.show import HEADS, page, row, rows

    if in_full:
        for knob in shown:
            write_lines(page(knob, os.environ, screen_width() or 96))
    else:
        for line in lines(HEADS, rows(shown) if folded else [row(knob) for knob in shown]):
            click.echo(line)
