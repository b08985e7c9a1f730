# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge model: lines, pieces and breaks of the curves of a run, LogGP, bounds of collectives."""

from __future__ import annotations

import json

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command
from mpigauge.cli.output import write


@click.command("model", cls=Command)
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@click.argument("benchmark", required=False)
@options.format_of(["table", "json", "csv"], about="table: for people; json, csv: for programs.")
def command(run: str, benchmark: str | None, form: str) -> None:
    """Fit models to the curves of a run: of all benchmarks, or of BENCHMARK.

    t = α + β·n over all sizes and in pieces, with the breaks that the data carry, what they may
    be and the settings that move them; LogGP between two ranks; collectives against the least
    that any algorithm takes.

    RUN is a folder, its name below mpigauge-runs or the beginning of it, or `last`.
    """
    from mpigauge.products.message_model.result import model
    from mpigauge.products.message_model.show import page, to_csv, to_json
    from mpigauge.session.run_names import open_run

    stored = open_run(run)
    models = model(stored, benchmark)
    if form == "json":
        data = to_json(stored.path.name, models)
        click.echo(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False))
    elif form == "csv":
        click.echo(to_csv(models), nl=False)
    else:
        write(page(models))
