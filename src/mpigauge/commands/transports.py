# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge mpi transports: the ways in which an MPI can carry messages here."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.transport import Transport
    from mpigauge.site.mpi.device_memory import MpiOnGpus


@click.command("transports", cls=Command)
@options.mpi_option
@options.json_option
@click.option(
    "--try", "start", is_flag=True, help="Start two ranks here with each, and report the results."
)
def command(mpi_spec: str | None, as_json: bool, start: bool) -> None:
    """List the transports of an MPI here: shared memory, TCP, network cards.

    The first column is the value of --transport in other commands, the last one its environment
    variables. On a machine with NVIDIA GPUs, the MPI's support of their memory follows, and the
    path from each GPU to each network card.
    """
    from mpigauge.cli.output.text_tables import lines
    from mpigauge.site.mpi import find
    from mpigauge.site.mpi.device_memory import on_gpus
    from mpigauge.site.mpi.transports.choose import transports
    from mpigauge.site.mpi.transports.probe import offers

    mpi = find(mpi_spec)
    available = offers(mpi)
    listed = transports(mpi, available)
    tried = [_tried(mpi, each) if start else "" for each in listed]
    if as_json:
        records = [
            asdict(each) | {"tried": words} for each, words in zip(listed, tried, strict=True)
        ]
        whole = {"mpi": mpi.spec, "transports": records, "offers": asdict(available)}
        whole["device_memory"] = _as_json(on_gpus(mpi))
        click.echo(json.dumps(whole, indent=2))
        return
    heads = ["--transport", f"{mpi.label} uses", "tried" if start else "settings"]
    rows = [
        [each.name, each.through, words if start else _settings(each)]
        for each, words in zip(listed, tried, strict=True)
    ]
    for line in [*lines(heads, rows), *_device_memory(on_gpus(mpi))]:
        click.echo(line)


def _device_memory(about: MpiOnGpus) -> list[str]:
    """The lines about GPUs; none if there is neither a GPU nor a driver."""
    from mpigauge.show.device_memory import support_lines
    from mpigauge.show.topology.gpus import gpu_lines
    from mpigauge.site.topology import read

    table = gpu_lines(read())
    if about.libraries.driver is None and not table:
        return []
    block = ["", "Device memory:", *(f"  {line}" for line in support_lines(about))]
    return [*block, *(["", *table] if table else [])]


def _as_json(about: MpiOnGpus) -> Any:
    from mpigauge.site.topology.passport import plain

    facts = asdict(about)
    return plain({name: facts[name] for name in ("libraries", "support", "report", "trials")})


def _tried(mpi: Mpi, transport: Transport) -> str:
    from mpigauge.measuring.trials.trial import trial
    from mpigauge.site.mpi.transports.registry import report_of

    report = report_of(mpi.name)
    tried = trial(mpi, settings={**report.settings, **transport.settings})
    if not tried.works:
        return tried.reason
    if transport.is_reported and (used := report.read(tried.output)):
        return f"works: {used}"
    return "works"


def _settings(transport: Transport) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(transport.settings.items()))
