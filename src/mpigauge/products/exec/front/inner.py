# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A launcher of ours under the name of another: it translates its options for the launcher of one
MPI, and prepares the programs for that MPI."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.measuring.jobs.on_mpi import apps_on_their_mpi, on_its_mpi
from mpigauge.model.errors import UserError
from mpigauge.products.exec.front.environment import told_apart
from mpigauge.products.exec.front.reading import read_any
from mpigauge.products.exec.front.to_job import job_of, untold
from mpigauge.site import batch
from mpigauge.site.launch import command
from mpigauge.site.launch.left_session import remove_left_session
from mpigauge.site.mpi import find
from mpigauge.site.mpi.programs.ways import TRANSLATED, UNSEEN, way_of, way_told

if TYPE_CHECKING:
    from mpigauge.model.mpi import Abi, Mpi
    from mpigauge.site.launch import Command, Job
    from mpigauge.site.launch.lines import Line
    from mpigauge.site.mpi.programs.ways import Way

WRONG_INPUT = 2
ASKS = ("--version", "-V", "-version", "--help", "-h", "-help", "-info")
"""Words alone that ask a launcher for something."""


def main(spec: str, dialect: str, strict: bool, abi: Abi | None = None) -> None:
    """Becomes the launcher of this MPI. The words are those of the front, and its name. `abi`: that
    of programs that a script starts."""
    front, *rest = sys.argv[1:]
    try:
        here = behind(Path(front).absolute().parent, os.environ)
        mpi = find(spec)
        if rest and rest[0] in ASKS:
            os.execve(mpi.mpiexec, [str(mpi.mpiexec), *rest], {**here, **mpi.env})
        made = translated([front, *rest], mpi, dialect, strict, here, abi)
        words = with_files_in_memory(made)
        remove_left_session(os.getpid(), here)
        os.execve(made.words[0], words, {**here, **made.env})
    except UserError as error:
        print(f"mpigauge: {error}", file=sys.stderr)
    except OSError as error:
        print(f"mpigauge: cannot start {error.filename}: {error.strerror}", file=sys.stderr)
    sys.exit(WRONG_INPUT)


def behind(folder: Path, env: Mapping[str, str]) -> dict[str, str]:
    """An environment without this folder on PATH: some launchers start others by their names."""
    path = env.get("PATH", os.defpath).split(os.pathsep)
    kept = (each for each in path if Path(each).absolute() != folder)
    return {**env, "PATH": os.pathsep.join(kept)}


def translated(
    words: Sequence[str],
    mpi: Mpi,
    dialect: str,
    strict: bool,
    here: Mapping[str, str],
    abi: Abi | None = None,
) -> Command:
    """A launch line of another MPI as a command of this one. UserError: it cannot be read, or a
    program cannot run there, or (`strict`) the line says what this MPI cannot be told."""
    line = read_any(words, here, dialect)
    name = Path(words[0]).name
    _say_untold(name, line, mpi, strict)
    job = _through(_bound(job_of(line, mpi, here), line), line)
    given = batch.here(here)
    job = replace(
        job,
        system=given.system.name if given else "",
        stem="front",
    )
    return command(told_apart(_ready(job, here, abi), line, here))


def with_files_in_memory(made: Command) -> list[str]:
    """The words of the command, with the files that they name in memory that the launcher inherits:
    they have no name that another user could take first, and end with it."""
    words = list(made.words)
    for name, text in made.files.items():
        handle = os.memfd_create(name, flags=0)
        os.write(handle, text.encode())
        words[words.index(name)] = f"/proc/{os.getpid()}/fd/{handle}"
    return words


def _say_untold(name: str, line: Line, mpi: Mpi, strict: bool) -> None:
    """Each word without a counterpart by its name."""
    left = untold(line, mpi)
    if not left:
        return
    sentence = f"{name}: {mpi.label} has no counterpart of {', '.join(left)}"
    if strict:
        raise UserError(sentence)
    print(f"mpigauge: {sentence}; started without", file=sys.stderr)


def _ready(job: Job, here: Mapping[str, str], abi: Abi | None) -> Job:
    """The job, with each program prepared for its MPI."""
    if not job.apps:
        way = _way(job.program, job.mpi, {**here, **job.env}, job.wdir, abi)
        return on_its_mpi(job, way, here)
    ways = [
        _way(app.program, job.mpi, {**here, **job.env, **app.env}, app.wdir, abi)
        for app in job.apps
    ]
    return apps_on_their_mpi(job, ways, here)


def _way(
    words: Sequence[str], mpi: Mpi, here: Mapping[str, str], wdir: str, abi: Abi | None
) -> Way:
    way = way_of(words, mpi, here, Path(wdir))
    if abi and way.how == UNSEEN:
        way = way_told(words[0], abi, mpi)
    for note in (way.summary, *way.notes) if way.how in (TRANSLATED, UNSEEN) else way.notes:
        print(f"mpigauge: {note}", file=sys.stderr)
    return way


def _bound(job: Job, line: Line) -> Job:
    """Places are known on this host alone; on others the launcher is told of hosts and counts."""
    if not line.place or line.unbound:
        return job
    if job.hosts or job.apps:
        print(
            f"mpigauge: {Path(line.launcher).name}: places of ranks ({line.place}) are taken over "
            "on this host and for one program only; started without",
            file=sys.stderr,
        )
        return job
    return replace(job, bind=_cores(line.place, job.ranks))


def _through(job: Job, line: Line) -> Job:
    """The job with the settings of the transport that the line requires. UserError: this MPI has
    none of this name here."""
    if not line.transport:
        return job
    from mpigauge.site.mpi.transports.choose import choose
    from mpigauge.site.mpi.transports.probe import offers

    chosen = choose(line.transport, job.mpi, offers(job.mpi), Path(line.launcher).name)
    return replace(job, settings={**chosen.settings, **job.settings})


def _cores(place: str, ranks: int) -> tuple[tuple[int, ...], ...]:
    """The cores of each rank under this policy."""
    from mpigauge.site import placement, topology

    machine = topology.read()
    hosts = [placement.HostResources(machine.hostname, machine)]
    files = {}
    for name in placement.files_in((place,)):
        from mpigauge.site.launch.lines.read import file_text

        files[name] = file_text(name)
    (chosen,) = placement.place(place, hosts, ranks, ranks, files)
    (block,) = placement.blocks(chosen)
    return tuple(tuple(sorted(placement.cores_of(entry))) for entry in block.bind)
