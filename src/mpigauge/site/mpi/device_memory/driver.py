# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The driver of NVIDIA GPUs on this host, as the kernels report it from a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.topology.busy import grown

if TYPE_CHECKING:
    from mpigauge.model.mpi import Kernels, Mpi

PATIENCE_S = 60.0


@dataclass(frozen=True)
class OfferedGpu:
    """A GPU that the driver offers to programs."""

    index: int
    bus: str
    """Its PCI address: 0000:19:00.0."""
    name: str
    bytes: int
    """Its memory; 0: unknown."""


@dataclass(frozen=True)
class DriverReport:
    version: str
    """The version of CUDA that it supports: 13.0."""
    gpus: tuple[OfferedGpu, ...]


def query_driver(library: str, mpi: Mpi, kernels: Kernels) -> DriverReport:
    """Lets a kernel open the driver, and copy 1 MiB to a GPU and back. UserError: it cannot."""
    words = [str(kernels.executable), "--libmpi", str(mpi.library)]
    words += ["--plugin", str(kernels.plugin), "--try-gpu", library]
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
        raise UserError(f"the driver of the GPU ({library}) did not answer") from None
    return read_report(done.stdout, done.stderr, library, done.returncode)


def read_report(output: str, errors: str, library: str, status: int) -> DriverReport:
    """The report in the output of a kernel. UserError: the driver cannot be used, and why."""
    version, problem = "", ""
    gpus: list[OfferedGpu] = []
    for line in output.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        version = str(record.get("version", version))
        problem = str(record.get("problem", problem))
        if "bus" in record:
            gpus.append(
                OfferedGpu(
                    index=int(record.get("index", len(gpus))),
                    bus=str(record["bus"]),
                    name=str(record.get("name", "")),
                    bytes=int(record.get("bytes", 0)),
                )
            )
    if problem:
        raise UserError(f"--memory: {problem}")
    if status:
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        words = errors.strip().splitlines()
        said = f": {words[-1]}" if words else ""
        raise UserError(f"--memory: the driver of the GPU ({library}) ended with {how}{said}")
    return DriverReport(version, tuple(gpus))
