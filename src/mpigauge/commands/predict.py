# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge predict: times of collectives on a calibrated machine of any size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import OUTPUT, Command, option
from mpigauge.cli.paths import InputFile, OutputFolder
from mpigauge.model.errors import UserError
from mpigauge.model.limits import MOST_HOSTS, MOST_RANKS

if TYPE_CHECKING:
    from mpigauge.products.predict.model import Machine

SCALINGS = ("strong", "weak")


@click.command("predict", cls=Command)
@click.argument("operation", metavar="COLLECTIVE", required=False)
@option(
    "--on", "file", type=InputFile(), required=True, metavar="FILE.cal",
    help="The calibration of the machine, of `mpigauge calibrate`.",
    brief="The calibration of the machine.",
)  # fmt: skip
@option(
    "--nodes", type=click.IntRange(1, MOST_HOSTS), required=True, metavar="N",
    help="Nodes.", brief="Nodes.",
)  # fmt: skip
@option(
    "--ppn", type=click.IntRange(1), required=True, metavar="N",
    help="Ranks on each node.", brief="Ranks on each node.",
)  # fmt: skip
@option(
    "--network", "network_word", metavar="NETWORK",
    help="What lies between the nodes: fattree:32x10/16 (10 switches of 32 nodes, 16 links up from "
    "each), dragonfly:9x4x8/2 (groups, routers, nodes, links between two groups), torus:8x8x5.  "
    "[default: no contention beyond the network cards]",
    brief="fattree:32x10/16, dragonfly:9x4x8/2, torus:8x8x5.",
)  # fmt: skip
@option(
    "--library", default="", metavar="NAME",
    help="Predict what this library chooses, such as openmpi-4.1.  [default: the best algorithm]",
    brief="What this library chooses, not the best.",
)  # fmt: skip
@option(
    "--sizes", metavar="SIZES", help="Sizes of messages: 8,4Ki,1Mi or 8..1Mi.  [default: 8 B to "
    "256 MiB]", brief="Sizes of messages: 8,4Ki,1Mi.",
)  # fmt: skip
@option(
    "--profile", metavar="RUN", shell_complete=completing.runs,
    help="Predict the time in MPI of this profiled program, in place of a collective.",
    brief="Predict the time in MPI of a profiled program.",
)  # fmt: skip
@option(
    "--scaling", type=click.Choice(SCALINGS),
    help="With --profile: strong, the whole problem stays the same; weak, that of a rank.",
    brief="With --profile: strong or weak.",
)  # fmt: skip
@option(
    "--trace", type=OutputFolder(), metavar="DIR",
    help="Write the chosen schedules as traces for SimGrid's replay, too.", heading=OUTPUT,
)  # fmt: skip
@option(
    "--output", type=OutputFolder(), metavar="DIR",
    help="Store the prediction as a run, for compare and plot.", heading=OUTPUT,
    brief="Store the prediction as a run.",
)  # fmt: skip
@options.format_of(["table", "json", "csv"], about="table: for people; json, csv: for programs.")
def command(
    operation: str | None,
    file: Path,
    nodes: int,
    ppn: int,
    network_word: str | None,
    library: str,
    sizes: str | None,
    profile: str | None,
    scaling: str | None,
    trace: Path | None,
    output: Path | None,
    form: str,
) -> None:
    """Predict a collective on a machine that was calibrated: every algorithm, the best, why.

    Times are computed step by step from those of messages (docs/explain/predict.md has the
    formulas). Each carries an interval from the calibration's, the mark * if it derives from
    anything that was assumed, and below it how good predictions of this calibration were.
    """
    from mpigauge.cli.output import tell
    from mpigauge.products.predict.calibration import read_calibration
    from mpigauge.products.predict.effort import check_memory, effort_of
    from mpigauge.products.predict.model import Machine
    from mpigauge.products.predict.network import parse_network
    from mpigauge.products.predict.prediction import check_operation
    from mpigauge.site.topology import read

    _check(operation, profile, scaling, {"--sizes": sizes, "--trace": trace, "--output": output})
    if nodes * ppn > MOST_RANKS:
        raise UserError(f"--nodes {nodes} --ppn {ppn} are more than {MOST_RANKS} ranks")
    calibration = read_calibration(file)
    network = parse_network(network_word, nodes) if network_word else None
    machine = Machine(calibration, nodes, ppn, network)
    name = check_operation(operation) if operation else ""
    effort = effort_of(nodes, ppn, name)
    check_memory(effort, read().memory_bytes)
    if effort.words:
        tell(effort.words)
    if profile:
        return _predict_program(machine, profile, scaling or "", library, form)
    return _predict_collective(machine, name, sizes, library, trace, output, form)


def _check(
    operation: str | None, profile: str | None, scaling: str | None, others: dict[str, object]
) -> None:
    """UserError: the words contradict each other."""
    if bool(operation) == bool(profile):
        raise UserError("name a collective, such as Allreduce, or --profile RUN, and not both")
    if bool(profile) != bool(scaling):
        raise UserError(
            "--scaling strong (the whole problem stays the same) or weak (that of a rank does) "
            "goes with --profile RUN"
        )
    for name, value in others.items():
        if profile and value is not None:
            raise UserError(f"{name} is of a collective; leave it out with --profile")


def _predict_collective(
    machine: Machine,
    operation: str,
    sizes: str | None,
    library: str,
    trace: Path | None,
    output: Path | None,
    form: str,
) -> None:
    from mpigauge.cli.output import tell, write
    from mpigauge.model.sizes import parse_sizes
    from mpigauge.products.predict import show
    from mpigauge.products.predict.prediction import SIZES, predict
    from mpigauge.products.predict.storing import store
    from mpigauge.products.predict.trace import write_traces

    result = predict(machine, operation, parse_sizes(sizes) if sizes else SIZES, library)
    if trace is not None:
        write_traces(result, trace)
        tell(f"traces are in {trace}")
    if output is not None:
        tell(f"stored in {store(result, output)}")
    if form == "json":
        click.echo(json.dumps(show.to_json(result), indent=1, ensure_ascii=False))
    elif form == "csv":
        click.echo(show.to_csv(result), nl=False)
    else:
        write(show.page(result))


def _predict_program(machine: Machine, word: str, scaling: str, library: str, form: str) -> None:
    from mpigauge.cli.output import write
    from mpigauge.products.predict.program import program_json, program_page, scaled
    from mpigauge.products.profile.beside.mix import mix_of
    from mpigauge.products.profile.store.stored import load_jobs
    from mpigauge.session.run_names import find_run

    folder = find_run(word)
    jobs = load_jobs(folder) if folder.is_dir() else ()
    mix = mix_of(folder.name, jobs)
    if mix is None:
        raise UserError(f"{word} holds no profile; `mpigauge profile PROGRAM` makes one")
    hosts = [file.host for file in jobs[0].ranks]
    result = scaled(mix, hosts, machine, scaling, library)
    if form == "table":
        write(program_page(result))
    elif form == "json":
        click.echo(json.dumps(program_json(result), indent=1, ensure_ascii=False))
    else:
        raise UserError("--format csv is of a collective; a program has table and json")
