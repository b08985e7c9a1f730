# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Provides an MPI if none is installed and none is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.mpi.find import WHAT_TO_DO
from mpigauge.site.mpi.packages import wheels
from mpigauge.site.mpi.packages.install import install
from mpigauge.site.mpi.place import place_on_path

if TYPE_CHECKING:
    from mpigauge.site.builds.folders import Tell


def provide(tell: Tell) -> None:
    """Installs the default MPI if none is installed and none is on PATH. UserError: it fails."""
    if wheels.installed(wheels.EMBEDDED) or place_on_path():
        return
    tell(f"no MPI is here, so {wheels.EMBEDDED} is fetched")
    try:
        install(wheels.EMBEDDED, tell)
    except UserError as error:
        raise UserError(f"no MPI found, and {error}; {WHAT_TO_DO}") from None
