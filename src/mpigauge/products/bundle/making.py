# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes a bundle: refuses what is wrong before anything is built, then writes one file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import mpigauge
from mpigauge.model.errors import UserError
from mpigauge.model.units import listed
from mpigauge.products.bundle import archive, contents, distributions, start
from mpigauge.site.builds import folders, kernel_places
from mpigauge.site.mpi.find import find
from mpigauge.site.mpi.make import kernels
from mpigauge.site.mpi.make.imb_programs import mpis_for
from mpigauge.site.mpi.packages import wheels

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from mpigauge.model.mpi import Abi, Kernels, Mpi
    from mpigauge.products.bundle.archive import Entry
    from mpigauge.site.builds.folders import Tell


@dataclass(frozen=True)
class PackRequest:
    file: Path
    force: bool = False
    """Replace the file if it is there."""
    mpis: tuple[str, ...] = ()
    """Kernels for these; none: all that came with mpigauge, else for all MPIs that are found."""
    packed_mpis: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()


class PackPart(NamedTuple):
    about: str
    bytes: int


@dataclass(frozen=True)
class Bundle:
    file: Path
    top: str
    """The folder that it is unpacked into."""
    parts: tuple[PackPart, ...]
    needs: start.Needs
    libc: tuple[int, int]
    """The oldest glibc that the programs like IMB's run with."""

    @property
    def glibc(self) -> str:
        return start.glibc(self.libc)

    @property
    def how_to_run(self) -> list[str]:
        """Lines for a shell, where it was unpacked."""
        return start.how_to_run(self.top)


def make(request: PackRequest, tell: Tell = folders.say_nothing) -> Bundle:
    """UserError: something is not here, or the file cannot be written."""
    kind = archive.ending(request.file)
    _check(request.file, request.force)
    packed = [_private(spec) for spec in request.packed_mpis]
    packages = distributions.distributions(request.extras)
    of_packages = [*contents.packages(packages)]
    built = _kernels(request, tell)
    of_kernels = max(map(libc_of, built.values()))
    needed = start.needs(max(of_kernels, *map(distributions.libc_of, packages)))
    top = f"mpigauge-{mpigauge.__version__}"
    described = {
        _about_packages(packages): [*contents.starting(needed), *of_packages],
        f"kernels for {listed(built)}": [*contents.kernels(built)],
        "programs like IMB's": [*contents.imb(built)],
    }
    for mpi in packed:
        described[mpi.label] = [*contents.mpi(mpi)]
    tell(f"writing {request.file}")
    _write(request.file, kind, top, [each for part in described.values() for each in part])
    parts = tuple(PackPart(about, _bytes(part)) for about, part in described.items())
    return Bundle(request.file, top, parts, needed, of_kernels)


def _check(file: Path, force: bool) -> None:
    if file.is_dir():
        raise UserError(f"{file} is a folder; name a file with --output")
    if file.exists() and not force:
        raise UserError(
            f"{file} is there already; name another file with --output, or replace it with --force"
        )
    if not file.absolute().parent.is_dir():
        raise UserError(f"there is no folder {file.absolute().parent} for {file.name}")


def _private(spec: str) -> Mpi:
    """An MPI that can be packed, as all that it needs lies in its own folder."""
    name = spec.partition("==")[0]
    if name not in wheels.WHEELS:
        raise UserError(
            f"--with-mpi packs what `mpigauge mpi install` has installed: "
            f"{', '.join(wheels.WHEELS)}, and '{spec}' is none of them"
        )
    return find(spec)


def _kernels(request: PackRequest, tell: Tell) -> dict[Abi, Kernels]:
    """The kernels for each ABI that mpigauge would use here, built now if need be."""
    specs = (*request.mpis, *request.packed_mpis)
    came = kernel_places.all_shipped()
    if came and not request.mpis:
        return came
    mpis = mpis_for(specs if request.mpis else (), "to bundle kernels for", tell)
    first = {mpi.abi: mpi for mpi in reversed(mpis)}
    return {abi: kernels(mpi, tell) for abi, mpi in sorted(first.items())}


def libc_of(built: Kernels) -> tuple[int, int]:
    """Kernels that do not say how they were made are not taken on another machine."""
    if built.build is None:
        raise AssertionError(f"{built.cards.parent} does not record how it was made")
    numbers = re.match(r"glibc (\d+)\.(\d+)", built.build.libc)
    if numbers is None:
        raise UserError(f"{built.plugin} is for another C library than glibc, so it is not packed")
    return int(numbers[1]), int(numbers[2])


def _about_packages(packages: Sequence[Distribution]) -> str:
    return ", ".join(f"{each.name} {each.version}" for each in packages)


def _write(file: Path, kind: str, top: str, entries: Iterable[Entry]) -> None:
    with folders.workplace(file.absolute()) as work:
        archive.write(work / file.name, kind, top, entries)
        (work / file.name).replace(file)


def _bytes(entries: Iterable[Entry]) -> int:
    return sum(map(archive.size, entries))
