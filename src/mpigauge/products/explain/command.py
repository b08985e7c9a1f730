# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge explain: what stands out in a run, the likely cause, and what to try."""

from __future__ import annotations

import json

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command

_WIDEST = 96
"""Columns of sentences that are easy to read."""


@click.command("explain", cls=Command)
@click.argument("run", required=False, metavar="RUN", shell_complete=completing.runs)
@options.format_of(["text", "json"], "text", about="text: for people; json: for programs.")
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help="Add costs, evidence, all remedies, and the checks that were not possible.",
)
@options.list_option("List the causes that are checked.")
def command(run: str | None, form: str, whole: bool, only_list: bool) -> None:
    """Explain anomalies in a run and their likely causes.

    Sorted by cost: the anomaly, its likely cause, and what to try. A profile has causes of its own.

    RUN is a folder, its name below mpigauge-runs or the beginning of it, or `last`.
    """
    from mpigauge.cli.output import write_lines
    from mpigauge.cli.output.text_tables import screen_width
    from mpigauge.cli.runs.kinds import kind_of
    from mpigauge.model.errors import UserError
    from mpigauge.model.width import WIDTH
    from mpigauge.session.run_names import open_run
    from mpigauge.show.explanation import page, to_json

    if only_list:
        return _list(as_json=form == "json")
    if run is None:
        raise UserError("name a run: `mpigauge explain last`; --list names the causes")
    name, explanation = open_run(run).path.name, kind_of(run).explain(run)
    if form == "json":
        return click.echo(json.dumps(to_json(name, explanation), indent=1, ensure_ascii=False))
    width = min(screen_width() or WIDTH, _WIDEST)
    return write_lines(page(name, explanation, width, whole))


def _list(as_json: bool) -> None:
    from mpigauge.cli.output.text_tables import print_rows
    from mpigauge.cli.runs.kinds import KINDS

    rows = [list(cause) for kind in KINDS.values() for cause in kind.causes()]
    print_rows({"cause": "cause", "about": "finding"}, rows, as_json)
