# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The info programs of an MPI, UCX and libfabric, and the libraries that they describe."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.site.topology.busy import grown

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

SECONDS = 30.0
UCT, FABRIC_LIBRARY = "libuct.so.0", "libfabric.so.1"


def program(mpi: Mpi, name: str, library: str) -> str | None:
    """Returns the program that describes the library that this MPI uses.

    If the MPI has a library of its own, a program on PATH would describe another one, so only those
    next to it count.
    """
    if folder_with(mpi, library):
        beside = (mpi.prefix / "bin" / "libfabric" / name, mpi.prefix / "bin" / name)
        return next((str(path) for path in beside if _is_program(path)), None)
    return shutil.which(name, path=mpi.env.get("PATH") or os.environ.get("PATH"))


def folder_with(mpi: Mpi, library: str) -> Path | None:
    """Returns the folder with an MPI's own copy of a library; None: it has none."""
    beside = mpi.library.parent
    below = ("", "mpich", "openmpi", "libfabric", "../opt/mpi/libfabric/lib", "../libfabric/lib")
    return next((beside / name for name in below if (beside / name / library).is_file()), None)


def output(words: list[str], env: Mapping[str, str]) -> str:
    """Returns the output of a program; empty if it is missing or fails."""
    try:
        done = subprocess.run(
            words,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=grown(SECONDS),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if done.returncode == 0:
        return done.stdout
    return ""


def _is_program(path: Path) -> bool:
    """True for a binary; Intel MPI has a script of this name that runs a program elsewhere."""
    try:
        with path.open("rb") as handle:
            return handle.read(4) == b"\x7fELF" and os.access(path, os.X_OK)
    except OSError:
        return False
