# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Installs an MPI from its wheel into a prefix of its own, which never gets onto PATH."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING
from zipfile import ZipFile

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.mpi import folders, wheels
from mpigauge.mpi.find import find

if TYPE_CHECKING:
    from pathlib import Path
    from zipfile import ZipInfo

    from mpigauge.model.mpi import Mpi
    from mpigauge.mpi.folders import Tell


def install(spec: str, tell: Tell = folders.say_nothing) -> Mpi:
    """The MPI `name` or `name==version`, installed if it is not there yet."""
    name, version = _name_and_version(spec)
    if name == "intel":
        _make_sure_of_headers(tell)
    prefix = wheels.prefix_of(name, version)
    if not prefix.exists():
        tell(f"installing {name} {version} into {prefix}")
        _install_into(prefix, f"{wheels.WHEELS[name].package}=={version}")
    return find(f"{name}=={version}")


def is_installed(spec: str) -> bool:
    return wheels.prefix_of(*_name_and_version(spec)).exists()


def _name_and_version(spec: str) -> tuple[str, str]:
    name, _, version = spec.partition("==")
    if name not in wheels.WHEELS:
        raise UserError(
            f"cannot install an MPI named '{name}'{did_you_mean(name, wheels.WHEELS)} "
            f"(known: {', '.join(wheels.WHEELS)})"
        )
    return name, version or wheels.WHEELS[name].version


def _make_sure_of_headers(tell: Tell) -> None:
    """Intel MPI's wheel has no mpi.h; MPICH's fits, as both have one ABI."""
    if not wheels.installed("mpich"):
        install("mpich", tell)


def _install_into(prefix: Path, requirement: str) -> None:
    parent = folders.make_folder(prefix.parent, "private MPIs", "MPIGAUGE_HOME")
    with folders.locked(parent / ".lock"):
        if prefix.exists():
            return
        with folders.workplace(prefix) as work:
            _download(requirement, work / "wheels")
            for wheel in sorted((work / "wheels").glob("*.whl")):
                _unpack(wheel, work / "prefix")
            (work / "prefix").rename(prefix)


def _download(requirement: str, folder: Path) -> None:
    words = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    words += ["--only-binary", ":all:", "--dest", str(folder), requirement]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise UserError(f"cannot download {requirement} with pip: {_last_line(done.stderr)}")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines() or ["it gave no reason"]
    return lines[-1].removeprefix("ERROR: ")


def _unpack(wheel: Path, prefix: Path) -> None:
    """What pip would put below its prefix goes below ours; its metadata and licences too.

    pip itself puts data files into other places on some distributions, hence by hand.
    """
    with ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                _extract(archive, entry, prefix)


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
