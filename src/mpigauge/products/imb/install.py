# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Puts the kernels into a folder by the names of IMB's programs, to be used without Python."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.builds import folders
from mpigauge.site.builds.kernel_build import HOST
from mpigauge.site.mpi.make import kernels
from mpigauge.site.mpi.make.imb_programs import (
    HEAD,
    HOME,
    LINK,
    LIST,
    PROGRAMS,
    list_text,
    mpis_for,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.mpi import Kernels, Mpi
    from mpigauge.site.builds.folders import Tell


@dataclass(frozen=True)
class Installed:
    folder: Path
    mpis: tuple[Mpi, ...]


def install(
    folder: Path, specs: Sequence[str], force: bool, tell: Tell = folders.say_nothing
) -> Installed:
    """The programs in `folder`, for the MPIs named, else for all that are found."""
    folder = folder.expanduser().absolute()
    _check(folder, force)
    mpis = mpis_for(specs, "to install for", tell)
    first_of_abi = {mpi.abi: mpi for mpi in reversed(mpis)}
    built = [kernels(mpi, tell) for mpi in first_of_abi.values()]
    _fill(folder, mpis, built)
    return Installed(folder, mpis)


def _check(folder: Path, force: bool) -> None:
    """Checks the folder: files of others are not overwritten."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; name a folder to install into")
    for path in _foreign(folder):
        if path.is_dir() and not path.is_symlink():
            raise UserError(f"{path} is a folder that mpigauge did not make; name another folder")
        if not force:
            raise UserError(
                f"{path} was not put there by mpigauge; name another folder, or replace it with "
                "--force"
            )


def _foreign(folder: Path) -> Iterator[Path]:
    home = folder / HOME
    if os.path.lexists(home) and not _is_ours(home):
        yield home
    for name in PROGRAMS:
        path = folder / name
        if os.path.lexists(path) and not _is_our_link(path):
            yield path


def _is_ours(home: Path) -> bool:
    try:
        with (home / LIST).open(encoding="utf-8") as handle:
            return handle.readline().rstrip("\n") == HEAD
    except (OSError, UnicodeDecodeError):
        return home.is_dir() and not any(home.iterdir())


def _is_our_link(path: Path) -> bool:
    return path.is_symlink() and path.readlink() == Path(LINK)


def _fill(folder: Path, mpis: Sequence[Mpi], built: Sequence[Kernels]) -> None:
    """Each file takes its place at once, so that jobs that run meanwhile go on undisturbed.

    The list comes after the kernels that it needs, the names after what they are names for.
    """
    home = folder / HOME
    plugins = {kernel.plugin.name: kernel.plugin for kernel in built}
    try:
        if home.is_file() or (home.is_symlink() and not _is_ours(home)):
            home.unlink()
        home.mkdir(parents=True, exist_ok=True)
        with folders.workplace(home / LIST) as work:
            for name, source in plugins.items():
                _place(source, work / name, home / name, 0o777)
            _place(built[0].executable, work / HOST, home / HOST, 0o777)
            (work / "list").write_text(list_text(mpis), encoding="utf-8")
            _place(work / "list", work / LIST, home / LIST, 0o666)
            for name in PROGRAMS:
                (work / name).symlink_to(LINK)
                (work / name).replace(folder / name)
        for left in home.glob(f"{HOST}.*.so"):
            if left.name not in plugins:
                left.unlink()
    except OSError as error:
        raise UserError(
            f"cannot write into {folder}: {error.strerror or error}; name another folder"
        ) from None


def _place(source: Path, work: Path, target: Path, mode: int) -> None:
    """Copies a file into place, with the user's usual permissions for new files, so that others of
    the site may use it."""
    shutil.copyfile(source, work)
    work.chmod(mode & ~_umask())
    work.replace(target)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
