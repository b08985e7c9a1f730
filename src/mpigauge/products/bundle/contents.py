# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The contents of a bundle: mpigauge and its packages, kernels, MPIs, and programs like IMB's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mpigauge
from mpigauge.products.bundle import start
from mpigauge.products.bundle.archive import Entry, File, Link
from mpigauge.products.bundle.distributions import files_of, metadata_of
from mpigauge.site.builds import kernel_build
from mpigauge.site.mpi.make import source_folder
from mpigauge.site.mpi.make.imb_programs import HOME, LINK, LIST, PROGRAMS, list_text

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from mpigauge.model.mpi import Abi, Kernels, Mpi
    from mpigauge.products.bundle.start import Needs

SOURCES = ("CMakeLists.txt", "kernels", "profiler", "translate", "schema")
"""The folders and files that a wheel carries in `_source`: all that is compiled or enters the
kernels' digest."""
PACKAGE = f"{start.PYTHON}/mpigauge"
KERNELS = "_shipped/kernels"
MPIS = "_shipped/mpi"
IMB = "imb"
README = "README.txt"


def starting(needed: Needs) -> Iterator[Entry]:
    yield File(start.PROGRAM, start.program(needed).encode(), runs=True)
    yield File(f"{start.PYTHON}/{start.MAIN}", start.main(needed).encode())
    yield File(README, start.readme(needed).encode())


def packages(installed: Sequence[Distribution]) -> Iterator[Entry]:
    """The files of the packages. mpigauge is the first; it is taken from where it runs, which may
    be a clone."""
    own, *others = installed
    yield from own_package(Path(mpigauge.__file__).resolve().parent)
    parts = [metadata_of(own), *map(files_of, others)]
    for file in (file for part in parts for file in part):
        yield File(f"{start.PYTHON}/{file.name}", file.content)


def own_package(package: Path) -> Iterator[Entry]:
    """The files of mpigauge itself, with the sources of the kernels, and without the kernels that
    came with it."""
    for file in below(package, PACKAGE):
        if not file.name.startswith((f"{PACKAGE}/{KERNELS}/", f"{PACKAGE}/{MPIS}/")):
            yield file
    if not (package / "_source").is_dir():
        for name in SOURCES:
            path = source_folder() / name
            target = f"{PACKAGE}/_source/{name}"
            yield from below(path, target) if path.is_dir() else [File(target, path)]


def kernels(built: Mapping[Abi, Kernels]) -> Iterator[Entry]:
    """The kernels, in the folder where mpigauge looks for those that came with it."""
    for abi, each in built.items():
        made = each.cards.with_name(kernel_build.FILE)
        for path in (each.executable, each.plugin, each.cards, made):
            yield File(f"{PACKAGE}/{KERNELS}/{abi}/{path.name}", path)


def imb(built: Mapping[Abi, Kernels]) -> Iterator[Entry]:
    """Programs that know no MPI by its path: they find that of the node."""
    home = f"{IMB}/{HOME}"
    first = next(iter(built.values()))
    yield File(f"{home}/{kernel_build.HOST}", first.executable)
    for each in built.values():
        yield File(f"{home}/{each.plugin.name}", each.plugin)
    yield File(f"{home}/{LIST}", list_text(()).encode())
    for name in PROGRAMS:
        yield Link(f"{IMB}/{name}", LINK)


def mpi(chosen: Mpi) -> Iterator[Entry]:
    """One that mpigauge has installed, where it looks for those that came with it."""
    yield from below(chosen.prefix, f"{PACKAGE}/{MPIS}/{chosen.prefix.name}")


def below(folder: Path, name: str) -> Iterator[File]:
    """All files below a folder, by names that begin with this one."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in inside.parts)
        if path.is_file() and not is_hidden and "__pycache__" not in inside.parts:
            yield File(f"{name}/{inside.as_posix()}", path)
