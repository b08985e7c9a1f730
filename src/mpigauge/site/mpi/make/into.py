# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Puts kernels into a site's folder, for users who can only read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.site.builds import folders, kernel_build, kernel_places
from mpigauge.site.mpi.make import built, keep

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.mpi import Kernels, Mpi
    from mpigauge.site.builds.folders import Tell

READABLE_FOLDER, READABLE, RUNNABLE = 0o755, 0o644, 0o755


def build_into(site: Path, mpi: Mpi, tell: Tell) -> Kernels:
    """Builds in the user's cache and copies the kernels. Kernels there for these sources and this
    kind of machine are replaced. UserError: the build fails, or the folder is not writable."""
    made = built(mpi, tell)
    if made.build is None:  # an older mpigauge built them
        raise AssertionError(f"{made.cards.parent} does not record how it was made")
    parent = folders.make_folder(site.absolute(), "the site's kernels", "--into")
    folder = parent / kernel_places.name_of(mpi.abi, made.build.sources)
    with folders.workplace(folder) as work:
        kept = work / "kept"
        keep(made, made.build, kept, folder, folder)
    _let_all_read(folder)
    return kernel_build.kernels_in(folder, mpi.abi, "the site's")


def _let_all_read(folder: Path) -> None:
    """Makes the files readable, whatever the umask of their builder."""
    folder.chmod(READABLE_FOLDER)
    for path in folder.iterdir():
        is_program = path.suffix == ".so" or path.name == kernel_build.HOST
        path.chmod(RUNNABLE if is_program else READABLE)
