# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Installs an MPI from its wheel into a prefix of its own, which never gets onto PATH."""

from __future__ import annotations

import hashlib
import re
import shutil
import zlib
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.site.builds import folders, kernel_places
from mpigauge.site.mpi.find import find
from mpigauge.site.mpi.packages import wheels

if TYPE_CHECKING:
    from pathlib import Path
    from zipfile import ZipFile, ZipInfo

    from mpigauge.model.mpi import Mpi
    from mpigauge.site.builds.folders import Tell

_VERSION = re.compile(r"[0-9]+([.+-]?[0-9A-Za-z]+)*")
_CHUNK = 1 << 20


def install(spec: str, tell: Tell = folders.say_nothing, source: Path | None = None) -> Mpi:
    """Installs the MPI `name` or `name==version` unless it exists, and returns it. The wheel is
    downloaded, or taken from the folder `source`."""
    name, version = _name_and_version(spec)
    if name == "intel" and needs_headers():
        _make_sure_of_headers(tell, source)
    prefix = wheels.prefix_of(name, version)
    if prefix.exists():
        return _existing(name, version)
    tell(f"installing {name} {version} into {prefix}")
    if version != wheels.WHEELS[name].version:
        tell(f"its wheel is taken as it comes: only that of {_pinned(name)} is known by its hash")
    _install_into(prefix, name, version, tell, source)
    try:
        return find(f"{name}=={version}")
    except UserError as error:
        shutil.rmtree(prefix, ignore_errors=True)
        raise UserError(f"{_why(error)}; it was removed again") from None
    except BaseException:
        shutil.rmtree(prefix, ignore_errors=True)
        raise


def _existing(name: str, version: str) -> Mpi:
    """Returns an MPI that is already installed. UserError: it does not work."""
    try:
        return find(f"{name}=={version}")
    except UserError as error:
        prefix = wheels.prefix_of(name, version)
        raise UserError(f"{_why(error)}; remove {prefix} to have it installed anew") from None


def _why(error: UserError) -> str:
    """Returns the fault of an installed MPI, without the advice to remove it."""
    return str(error).partition("; remove ")[0]


def _pinned(name: str) -> str:
    return f"{name} {wheels.WHEELS[name].version}"


def is_installed(spec: str) -> bool:
    return wheels.prefix_of(*_name_and_version(spec)).exists()


def _name_and_version(spec: str) -> tuple[str, str]:
    name, named, version = spec.partition("==")
    if name not in wheels.WHEELS:
        raise UserError(
            f"cannot install an MPI named '{name}'{did_you_mean(name, wheels.WHEELS)} "
            f"(known: {', '.join(wheels.WHEELS)})"
        )
    if named and not _VERSION.fullmatch(version):
        raise UserError(
            f"'{version}' in '{spec}' is not a version; it would be as in {name}=="
            f"{wheels.WHEELS[name].version}"
        )
    return name, version or wheels.WHEELS[name].version


def needs_headers() -> bool:
    """True if kernels must be built; those shipped with mpigauge need no headers."""
    return kernel_places.shipped("kernels/mpich") is None


def _make_sure_of_headers(tell: Tell, source: Path | None) -> None:
    """Installs MPICH for its headers: Intel MPI's wheel has no mpi.h, and both have one ABI."""
    if not wheels.installed("mpich"):
        install("mpich", tell, source)


def _install_into(prefix: Path, name: str, version: str, tell: Tell, source: Path | None) -> None:
    pinned = wheels.WHEELS[name]
    parent = folders.make_folder(prefix.parent, "private MPIs", "MPIGAUGE_HOME")
    with folders.locked(parent / ".lock", tell=tell):
        if prefix.exists():
            return
        with folders.workplace(prefix) as work:
            for wheel in get_wheels(pinned, version, source, work / "wheels"):
                unpack(wheel, work / "prefix")
            (work / "prefix").rename(prefix)


def get_wheels(pinned: wheels.Wheel, version: str, source: Path | None, folder: Path) -> list[Path]:
    """Downloads a wheel into this folder, or copies it from the folder `source`. UserError: it
    does not exist, or is not the one that is known by its digest."""
    from mpigauge.site.mpi.packages.fetch import fetch, take

    if source is None:
        fetch(pinned.package, version, folder)
    else:
        take(pinned.package, version, source, folder)
    files = sorted(folder.glob("*.whl"))
    if version == pinned.version:
        _check(files, set(pinned.sha256.values()))
    return files


def _check(files: list[Path], digests: set[str]) -> None:
    """Raises a UserError if the digest of a wheel is not one of `digests`."""
    for wheel in files:
        sha256 = hashlib.sha256()
        with wheel.open("rb") as file:
            while piece := file.read(_CHUNK):
                sha256.update(piece)
        if sha256.hexdigest() not in digests:
            raise UserError(
                f"{wheel.name} is not the wheel that is known here: its SHA-256 is "
                f"{sha256.hexdigest()} instead of {' or '.join(sorted(digests))}; nothing was "
                "installed"
            )


def unpack(wheel: Path, prefix: Path, needed: re.Pattern[str] | None = None) -> None:
    """Extracts a wheel's files for pip's prefix into ours, with its metadata and licences; only
    the needed ones, if there is a pattern of their names.

    pip itself puts data files into other places on some distributions, so it is not used.
    """
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(wheel) as archive:
            for entry in archive.infolist():
                if not entry.is_dir() and (needed is None or needed.match(entry.filename)):
                    _extract(archive, entry, prefix)
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise UserError(f"{wheel.name} is not a wheel, or damaged: {error}") from None


def _extract(archive: ZipFile, entry: ZipInfo, prefix: Path) -> None:
    head, _, rest = entry.filename.partition("/")
    inside = rest.removeprefix("data/") if head.endswith(".data") else f"wheel/{entry.filename}"
    target = prefix / inside
    if not target.resolve().is_relative_to(prefix.resolve()):
        raise UserError(f"{archive.filename} wants to write outside its prefix: {entry.filename}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy)
    if mode := entry.external_attr >> 16:
        target.chmod(mode & 0o777 | 0o200)
