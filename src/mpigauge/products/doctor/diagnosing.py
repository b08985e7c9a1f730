# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The diagnosis of this machine, of hosts, or of a program, and its output."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.output import write_lines
from mpigauge.cli.output.text_tables import print_rows, screen_width
from mpigauge.cli.runs.placing import to_ask
from mpigauge.model.errors import UserError
from mpigauge.products.doctor.check_finding import Host, MpiOffers, MpiStart
from mpigauge.products.doctor.measure import measure
from mpigauge.products.doctor.registry import CHECKS, diagnose
from mpigauge.products.doctor.show import pages
from mpigauge.site.mpi import find
from mpigauge.site.mpi.device_memory import on_gpus
from mpigauge.site.mpi.make.outlook import outlook
from mpigauge.site.mpi.programs import look, suits
from mpigauge.site.mpi.programs.suits import hindrances
from mpigauge.site.mpi.query import ask
from mpigauge.site.mpi.quick_start import quick_start
from mpigauge.site.mpi.transports.choose import transports
from mpigauge.site.mpi.transports.probe import offers
from mpigauge.site.topology.files import Files
from mpigauge.site.topology.read import read_files, read_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.mpi import Mpi
    from mpigauge.session.targets import Target


SPOILT = 1
ABOUT_MPI = frozenset({"transports", "kernels", "start-up", "device-memory"})
"""The checks that examine an MPI."""


def print_diagnosis(
    names: tuple[str, ...],
    seconds: float,
    file: Path | None,
    program: str | None,
    mpi_spec: str | None,
    as_json: bool,
    only_list: bool,
    **where: Any,
) -> int:
    """Prints the diagnosis. Returns 1 if something is bad, else 0. UserError: options are wrong."""
    from mpigauge.products.doctor.show import page, to_json

    if only_list:
        rows = [[check.name, check.about] for check in CHECKS.values()]
        print_rows({"check": "check", "about": "subject"}, rows, as_json)
        return 0
    if asked := to_ask(where, {"--from": file, "--binary": program}):
        words = (*names, "--noise", str(seconds), *(("--mpi", mpi_spec) if mpi_spec else ()))
        return _on_hosts(asked, words, seconds, as_json)
    if program is not None:
        _refuse_others(names, file)
        return _on_program(program, mpi_spec, as_json)
    for name in names:
        CHECKS.find(name)
    mpi = _mpi_for(names, mpi_spec) if file is None else None
    host = _host(file, seconds if not names or "noise" in names else 0.0)
    if mpi is not None:
        host = _with_mpi(host, names, mpi, mpi_spec)
    findings = diagnose(host, names)
    if as_json:
        click.echo(json.dumps(to_json(host, findings), indent=2))
    else:
        write_lines(page(host, findings, screen_width() or 96))
    if any(finding.state == "bad" for finding in findings):
        return SPOILT
    return 0


def _on_hosts(asked: Target, words: Sequence[str], seconds: float, as_json: bool) -> int:
    from mpigauge.products.doctor.examine import examine, findings_of
    from mpigauge.session.setup import agent_of

    reports = examine(asked.hosts, words, seconds, agent_of(asked))
    if as_json:
        click.echo(json.dumps(reports, indent=2))
    else:
        findings = {name: findings_of(each) for name, each in reports.items()}
        write_lines(pages(findings, screen_width() or 96))
    if any(each["worst"] == "bad" for each in reports.values()):
        return SPOILT
    return 0


def _refuse_others(names: Sequence[str], file: Path | None) -> None:
    if names or file is not None:
        other = names[0] if names else "--from"
        raise UserError(f"--binary checks a program, {other} at a machine; give one of them")


def _on_program(program: str, mpi_spec: str | None, as_json: bool) -> int:
    from mpigauge.products.doctor.show_program import page, to_json

    looked = look([program], os.environ)
    mpis = _mpis(mpi_spec) if looked.uses_mpi else []
    each = [suits(looked, mpi) for mpi in mpis]
    hinders = hindrances(looked)
    versions = _versions_by_path(
        {str(library.path) for library in looked.mpi_libraries if library.path}
    )
    if as_json:
        click.echo(json.dumps(to_json(looked, each, versions, hinders), indent=2))
    else:
        write_lines(page(looked, each, versions, hinders, screen_width() or 96))
    runs = not looked.mpi_libraries or all(library.path for library in looked.mpi_libraries)
    if runs or any(one.runs for one in each):
        return 0
    return SPOILT


def _mpis(mpi_spec: str | None) -> list[Mpi]:
    from mpigauge.site.mpi.listing import everything

    if mpi_spec:
        return [find(mpi_spec)]
    return [each.mpi for each in everything().listed]


def _versions_by_path(libraries: Iterable[str]) -> dict[str, str]:
    """The name and version of each of these libraries of MPI that can tell them."""
    versions = {}
    for path in sorted(libraries):
        try:
            name, version = ask(Path(path), {}).name_and_version
        except UserError:
            continue
        if name != "unknown":
            versions[path] = f"{name} {version}"
    return versions


def _host(file: Path | None, seconds: float) -> Host:
    """Everything is read through Files; only noise and memory of others are measured."""
    if file is not None:
        recorded, machine = read_record(file)
        return Host(recorded, machine, None)
    files = Files(Path("/"))
    machine = read_files(files)
    return Host(files, machine, measure(machine, seconds))


def _wants_mpi(names: Sequence[str]) -> set[str]:
    """The checks that ask an MPI."""
    return set(ABOUT_MPI & set(names) if names else ABOUT_MPI)


def _mpi_for(names: Sequence[str], mpi_spec: str | None) -> Mpi | None:
    """The MPI of this name has to be there, if a check asks it or not; where none is named, there
    may be none."""
    if mpi_spec is not None:
        return find(mpi_spec)
    if not _wants_mpi(names):
        return None
    try:
        return find(None)
    except UserError:
        return None


def _with_mpi(host: Host, names: Sequence[str], mpi: Mpi, mpi_spec: str | None) -> Host:
    """The host with what the MPI answers."""
    mpi_checks = _wants_mpi(names)
    if "kernels" in mpi_checks:
        host = replace(host, outlook=outlook(mpi))
    if "device-memory" in mpi_checks:
        host = replace(host, on_gpus=on_gpus(mpi))
    if "start-up" in mpi_checks:
        host = replace(host, start=_start(mpi))
    if "transports" in mpi_checks:
        return replace(host, asked=_asked(mpi, mpi_spec))
    return host


def _start(mpi: Mpi) -> MpiStart | None:
    """Times smallest jobs of this MPI; None if one fails."""
    from mpigauge.measuring.trials.trial import trial

    quick = quick_start(mpi, {}, os.environ)
    trials = [trial(mpi, settings=each) for each in ({}, quick)[: 1 + bool(quick)]]
    if not all(each.works for each in trials):
        return None
    return MpiStart(mpi.label, trials[0].seconds, trials[1].seconds if quick else None)


def _asked(mpi: Mpi, mpi_spec: str | None) -> MpiOffers | None:
    try:
        offered = offers(mpi)
        return MpiOffers(mpi.label, transports(mpi, offered), offered)
    except UserError:
        if mpi_spec is not None:
            raise
        return None
