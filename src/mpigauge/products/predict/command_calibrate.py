# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge calibrate: what predictions are computed from, out of stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import OUTPUT, Command, option
from mpigauge.cli.paths import OutputFile
from mpigauge.model.errors import UserError
from mpigauge.products.predict.calibration import PATHS

if TYPE_CHECKING:
    from mpigauge.runs.store import Run


@click.command("calibrate", cls=Command)
@click.argument("runs", metavar="RUN...", nargs=-1, shell_complete=completing.runs)
@option(
    "-o",
    "--output",
    "target",
    type=OutputFile(),
    required=True,
    metavar="FILE.cal",
    help="Where to write the calibration.",
    heading=OUTPUT,
    brief="Where to write the calibration.",
)
@option(
    "--path",
    "unplaced",
    type=click.Choice(list(PATHS)),
    help="The path of an imported PingPong whose run does not record it: network is between two "
    "nodes, socket within one, sockets between two sockets of a node.",
    brief="The path of a PingPong whose run has none.",
)
@option(
    "--measure",
    "measures",
    is_flag=True,
    help="Measure what the runs lack first: here, or on --hosts A,B.",
    brief="Measure what the runs lack first.",
)
@options.together(
    *options.all_shared(
        "mpi hosts hostfile ppn launcher rsh oversubscribe dry-run topology time timeout"
    ),
)
def command(
    runs: tuple[str, ...], target: Path, unplaced: str | None, measures: bool, **values: Any
) -> None:
    """Make a calibration of stored runs of one machine, for `mpigauge predict`.

    It takes times of messages from PingPong (between nodes, within a socket, between sockets), the
    rates of all cores at once from Biband or Uniband, and Reduce_local. What was not measured gets
    a stated default and the mark `assumed`, which all numbers derived from it carry. The file is
    text; the first RUN that has a value counts.
    """
    from mpigauge.cli.output import tell, write
    from mpigauge.products.predict.calibrating import calibrated, missing_lines
    from mpigauge.products.predict.calibration import to_text
    from mpigauge.products.predict.show import calibration_page
    from mpigauge.runs.store.files import write_whole
    from mpigauge.session.run_names import open_run

    _check_measuring(runs, measures, values)
    stored = [open_run(word) for word in runs]
    if measures:
        new = _measured(stored, unplaced or "", values)
        if new is None:
            return
        stored += new
    made = calibrated(stored, target.stem, unplaced or "")
    write_whole(target, to_text(made.calibration))
    write(calibration_page(made.calibration))
    for note in made.notes:
        tell(note)
    for line in missing_lines(made.calibration):
        click.echo(f"not measured: {line}")
    tell(f"written to {target}")


def _check_measuring(runs: tuple[str, ...], measures: bool, values: dict[str, Any]) -> None:
    if not (runs or measures):
        raise UserError(
            "name runs to calibrate by, such as last or ref:oci-optimized3-36-intel, or --measure"
        )
    given = [name for name, value in values.items() if value]
    if given and not measures:
        params = click.get_current_context().command.params
        flag = next(param.opts[0] for param in params if param.name == given[0])
        raise UserError(f"{flag} is for measuring; add --measure")


def _measured(runs: list[Run], unplaced: str, values: dict[str, Any]) -> list[Run] | None:
    """Measures what the runs lack; None: it was only planned."""
    from mpigauge.cli.output.terminal import TERMINAL
    from mpigauge.cli.runs.placing import print_seats
    from mpigauge.measuring.plan import read_request
    from mpigauge.products.predict.plan import calibration_plan
    from mpigauge.session.lookups import look_up
    from mpigauge.session.measuring import PlannedRun, check, measure
    from mpigauge.session.setup import set_up
    from mpigauge.session.targets import CommandOptions

    options = CommandOptions.taken(values)
    request = read_request(values, look_up(values))
    planned = []
    for setup in set_up(request, options, TERMINAL):
        plan = calibration_plan(
            setup.request, setup.cards, setup.resources, setup.mpi, _present(runs, unplaced)
        )
        planned.append(PlannedRun(setup, plan))
    check(planned, options)
    if options.dry_run:
        print_seats(planned[0])
        return None
    measured = measure(planned, None, "calibrate")
    measured.raise_problems()
    return list(measured.runs)


def _present(runs: list[Run], unplaced: str) -> frozenset[str]:
    """The names of what the runs have measured."""
    from mpigauge.products.predict.calibrating import calibrated

    if not runs:
        return frozenset()
    made = calibrated(runs, "", unplaced).calibration
    names = {*made.paths, *made.quantities}
    return frozenset(names - set(made.assumed))
