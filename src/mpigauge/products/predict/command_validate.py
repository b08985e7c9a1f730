# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge validate: predicted against measured times, stored in the calibration."""

from __future__ import annotations

import json
from pathlib import Path

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command
from mpigauge.cli.paths import InputFile


@click.command("validate", cls=Command)
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@click.option(
    "--on", "file", type=InputFile(), required=True, metavar="FILE.cal",
    help="The calibration, of `mpigauge calibrate`.",
)  # fmt: skip
@click.option(
    "--library", default="", metavar="NAME",
    help="Predict what this library chooses, such as openmpi-4.1.  [default: the best algorithm]",
)  # fmt: skip
@click.option(
    "--ppn", type=click.IntRange(1), metavar="N",
    help="Ranks of a node, where an imported run does not record them.",
)  # fmt: skip
@options.format_of(["table", "json"], about="table: for people; json: for programs.")
def command(run: str, file: Path, library: str, ppn: int | None, form: str) -> None:
    """Compare predictions with a stored run, and store how good they are in the calibration.

    The typical factor is exp of the mean of |ln(predicted / measured)|, the worst the largest.
    Every prediction of the calibration prints both from then on.
    """
    from mpigauge.cli.output import tell, write
    from mpigauge.products.predict.calibration import read_calibration, to_text
    from mpigauge.products.predict.libraries import check_library
    from mpigauge.products.predict.show import validation_json, validation_page
    from mpigauge.products.predict.validating import validated, with_validations
    from mpigauge.runs.store.files import write_whole
    from mpigauge.session.run_names import open_run

    calibration = read_calibration(file)
    if library:
        check_library(library)
    result = validated(calibration, open_run(run), library, ppn)
    write_whole(file, to_text(with_validations(calibration, result.validations)))
    if form == "json":
        click.echo(json.dumps(validation_json(result), indent=1, ensure_ascii=False))
    else:
        write(validation_page(result))
    tell(f"stored in {file}")
