# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The sources of MPIs: functions that yield candidates, listed in SOURCES."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path

from mpigauge.model.errors import UserError
from mpigauge.site.mpi import environment
from mpigauge.site.mpi.packages import wheels
from mpigauge.site.mpi.place import (
    MpiPlace,
    cray_place,
    first_launcher,
    module_place,
    place_on_path,
    prefix_place,
    private_place,
    script_place,
    site_place,
    wheel_place,
)

Candidate = Callable[[], MpiPlace]
"""Examines one place; a UserError has the reason if it is unusable."""

ROOT = Path("/")
USUAL = (
    "opt/intel/oneapi/mpi/latest",
    "usr/lib64/openmpi",
    "usr/lib64/mpich*",
    "opt/openmpi*",
    "opt/mpich*",
    "opt/mvapich*",
    "opt/hpcx*/ompi",
    "usr/local",
)
"""The default prefixes of distributions and vendors, below ROOT."""
ALTERNATIVES = "var/lib/dpkg/alternatives/mpirun"


def private() -> Iterator[Candidate]:
    """Yields MPIs installed by `mpigauge mpi install`."""
    for name in wheels.WHEELS:
        yield from (partial(private_place, prefix) for prefix in wheels.installed(name))


def on_path() -> Iterator[Candidate]:
    """Yields the launchers of all folders on PATH, the default one first."""
    if first_launcher(os.environ.get("PATH")):
        yield _first_on_path
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for program in _launchers_in(Path(folder)):
            yield partial(site_place, program, f"on PATH as {program}")


def of_cray() -> Iterator[Candidate]:
    """Yields the MPI of Cray's module, which has no launcher."""
    if place := cray_place():
        yield lambda: place


def modules() -> Iterator[Candidate]:
    yield from (partial(module_place, name) for name in environment.mpi_modules())


def alternatives() -> Iterator[Candidate]:
    """Yields the choices of Debian's update-alternatives."""
    try:
        text = (ROOT / ALTERNATIVES).read_text(encoding="utf-8")
    except OSError:
        return
    for choice in choices(text):
        yield partial(site_place, Path(choice), f"one of Debian's alternatives, {choice}")


def python_wheels() -> Iterator[Candidate]:
    """Yields wheels in the Python that runs mpigauge."""
    for name, wheel in wheels.WHEELS.items():
        for program in _files_of(wheel.package, "bin/mpiexec"):
            prefix = program.parent.parent
            origin = f"the wheel {wheel.package} in {prefix}"
            yield partial(wheel_place, name, prefix, origin)


def usual_prefixes() -> Iterator[Candidate]:
    for pattern in USUAL:
        for folder in sorted(ROOT.glob(pattern)):
            if program := _launcher_in(folder / "bin"):
                yield partial(site_place, program, f"in {folder}")


SOURCES = (private, on_path, of_cray, modules, alternatives, python_wheels, usual_prefixes)


def below(folders: Iterable[Path]) -> Iterator[Candidate]:
    """Yields MPIs in folders named by the user: each is a prefix, or holds prefixes."""
    for folder in folders:
        inside = [path for path in sorted(folder.glob("*")) if _launcher_in(path / "bin")]
        if inside and not _launcher_in(folder / "bin"):
            yield from (partial(_below, path) for path in inside)
        else:
            yield partial(_below, folder)


def after(scripts: Iterable[Path]) -> Iterator[Candidate]:
    yield from (partial(script_place, script) for script in scripts)


def choices(text: str) -> Iterator[str]:
    """Yields the programs that a file of dpkg's alternatives lists.

    Its first part has the mode, the link, and two lines for each further link that follows it.
    Then, for each choice, come the program, its priority, and a line for each further link.
    """
    head, _, rest = text.partition("\n\n")
    further = (len(head.splitlines()) - 2) // 2
    lines = rest.splitlines()
    for start in range(0, len(lines) - 1, 2 + further):
        if lines[start].startswith("/"):
            yield lines[start]


def _first_on_path() -> MpiPlace:
    return place_on_path()[0]


def _below(folder: Path) -> MpiPlace:
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}")
    return prefix_place(folder, f"in {folder}")


def _launcher_in(folder: Path) -> Path | None:
    for name in ("mpiexec", "mpiexec.hydra", "mpirun"):
        if os.access(folder / name, os.X_OK) and (folder / name).is_file():
            return (folder / name).absolute()
    return None


def _launchers_in(folder: Path) -> Iterator[Path]:
    """Yields the launcher of the usual name, and those with a suffix, as on Debian."""
    if program := _launcher_in(folder):
        yield program
    for name in ("mpirun.openmpi", "mpirun.mpich"):
        if os.access(folder / name, os.X_OK):
            yield (folder / name).absolute()


def _files_of(package: str, end: str) -> Iterator[Path]:
    try:
        files = metadata.distribution(package).files or []
    except metadata.PackageNotFoundError:
        return
    for file in files:
        if file.as_posix().endswith(end):
            yield Path(os.path.normpath(str(file.locate())))
