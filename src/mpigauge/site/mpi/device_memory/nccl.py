# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""NCCL on this host, as a kernel opens it in a process of its own."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.topology.busy import grown

if TYPE_CHECKING:
    from mpigauge.model.mpi import Kernels, Mpi

PATIENCE_S = 60.0


def check_nccl(library: str, mpi: Mpi, kernels: Kernels) -> str:
    """Lets a kernel open the library, and returns its version: 2.28.3. UserError: it cannot be
    used."""
    words = [str(kernels.executable), "--libmpi", str(mpi.library)]
    words += ["--plugin", str(kernels.plugin), "--try-nccl", library]
    try:
        done = subprocess.run(
            words,
            env={**os.environ, **mpi.env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=grown(PATIENCE_S),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"--nccl: {library} did not report its version") from None
    return read_version(done.stdout, library, done.returncode)


def read_version(output: str, library: str, status: int) -> str:
    """The version in the output of a kernel. UserError: the library cannot be used, and why."""
    lines = dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
    if problem := lines.get("problem"):
        raise UserError(f"--nccl: {problem}")
    if "version" not in lines:
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        raise UserError(f"--nccl: {library} ended its process while it was opened, with {how}")
    return lines["version"]
