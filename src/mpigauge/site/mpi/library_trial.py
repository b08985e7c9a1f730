# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Lets a kernel open a library in a process of its own, which may end in it."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from mpigauge.site.topology.busy import grown

if TYPE_CHECKING:
    from mpigauge.model.mpi import Kernels, Mpi

PATIENCE_S = 60.0


def try_library(
    option: str, file: str, mpi: Mpi, kernels: Kernels
) -> subprocess.CompletedProcess[str]:
    """Returns the ended kernel, whose output has a line `name=value` for each step that it reached.
    `option` is its word for this kind of library. subprocess.TimeoutExpired: it did not end."""
    words = [str(kernels.executable), "--libmpi", str(mpi.library)]
    words += ["--plugin", str(kernels.plugin), option, file]
    return subprocess.run(
        words,
        env={**os.environ, **mpi.env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=grown(PATIENCE_S),
        check=False,
    )


def read_values(output: str) -> dict[str, str]:
    """Returns the values in a kernel's output, by their names."""
    return dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
