# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""NCCL on this host, as a kernel opens it in a process of its own."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.mpi.library_trial import read_values, try_library

if TYPE_CHECKING:
    from mpigauge.model.mpi import Kernels, Mpi


def check_nccl(library: str, mpi: Mpi, kernels: Kernels) -> str:
    """Lets a kernel open the library, and returns its version: 2.28.3. UserError: it cannot be
    used."""
    try:
        done = try_library("--try-nccl", library, mpi, kernels)
    except subprocess.TimeoutExpired:
        raise UserError(f"--nccl: {library} did not report its version") from None
    return read_version(done.stdout, library, done.returncode)


def read_version(output: str, library: str, status: int) -> str:
    """The version in the output of a kernel. UserError: the library cannot be used, and why."""
    lines = read_values(output)
    if problem := lines.get("problem"):
        raise UserError(f"--nccl: {problem}")
    if "version" not in lines:
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        raise UserError(f"--nccl: {library} ended its process while it was opened, with {how}")
    return lines["version"]
