# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Queries the driver's library in a child process: its version, the GPUs that it offers, and
whether they reach each other's memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.site.topology.busy import grown

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 60.0
"""A driver without persistence mode takes seconds to initialise GPUs."""
_MEANING = {
    "CUDA_ERROR_NO_DEVICE": "it offers no GPU to this process",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "it is not of the same version as the kernel's driver",
    "CUDA_ERROR_SYSTEM_NOT_READY": "the system is not ready; the fabric manager may not run",
    "error 34": "it is the stub of a toolkit, not a driver",
}
"""Errors of initialisation; a stub (34) has no names for errors."""

# Prints a line for each step, so that what a crash leaves is kept. Functions that an older driver
# lacks are left out.
CHILD = """
import ctypes, json, sys
from ctypes import byref, c_char_p, c_int, c_size_t, create_string_buffer

def report(**facts):
    print(json.dumps(facts), flush=True)

try:
    cuda = ctypes.CDLL(sys.argv[1])
    version = c_int()
    cuda.cuDriverGetVersion(byref(version))
except (OSError, AttributeError) as error:
    report(problem=str(error))
    sys.exit()
report(version=version.value)
status = cuda.cuInit(0)
if status:
    text = c_char_p()
    cuda.cuGetErrorName(status, byref(text))
    report(problem=(text.value or b"error %d" % status).decode())
    sys.exit()
count = c_int()
cuda.cuDeviceGetCount(byref(count))
buses, devices = [], []
for index in range(count.value):
    device, bus, name = c_int(), create_string_buffer(64), create_string_buffer(256)
    cuda.cuDeviceGet(byref(device), index)
    cuda.cuDeviceGetPCIBusId(bus, len(bus), device)
    cuda.cuDeviceGetName(name, len(name), device)
    devices.append(device)
    buses.append(bus.value.decode().lower())
    report(bus=buses[-1], name=name.value.decode("utf-8", "replace"))
    size = c_size_t()
    if hasattr(cuda, "cuDeviceTotalMem_v2") and not cuda.cuDeviceTotalMem_v2(byref(size), device):
        report(memory=buses[-1], bytes=size.value)
if hasattr(cuda, "cuDeviceCanAccessPeer"):
    for one in range(count.value):
        for other in range(count.value):
            can = c_int()
            if one != other and not cuda.cuDeviceCanAccessPeer(
                byref(can), devices[one], devices[other]
            ):
                report(peers=[buses[one], buses[other]], can=bool(can.value))
"""


@dataclass(frozen=True)
class LibraryReport:
    """The driver and its GPUs, as the driver's library reports them."""

    version: int = 0
    """The newest version of CUDA that it supports: 13000 for 13.0; 0: unknown."""
    gpus: tuple[tuple[str, str], ...] = ()
    """The PCI address and name of each GPU, in the driver's order."""
    peers: tuple[tuple[str, str, bool], ...] = ()
    """Addresses of two GPUs, and whether the first reaches the second's memory."""
    problem: str = ""
    """The reason why it offers no GPU."""
    bytes: Mapping[str, int] = field(default_factory=dict, hash=False)
    """The memory of each GPU that is known, by its address."""

    @property
    def cuda(self) -> str:
        """The version of CUDA in words: 13.0; empty: unknown."""
        if not self.version:
            return ""
        return f"{self.version // 1000}.{self.version % 1000 // 10}"


def ask_library(library: Path, seconds: float = SECONDS) -> LibraryReport:
    """Returns what the driver reports. It initialises the GPUs, which takes a part of a second."""
    limit = grown(seconds)
    try:
        child = subprocess.run(
            [sys.executable, "-c", CHILD, str(library)],
            env=dict(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return LibraryReport(problem=f"it did not answer within {limit:.3g} s")
    report = parse(child.stdout)
    if child.returncode and not report.problem:
        how = f"signal {-child.returncode}" if child.returncode < 0 else "an error"
        return LibraryReport(report.version, problem=f"the query of its GPUs ended with {how}")
    return report


def parse(text: str) -> LibraryReport:
    """Returns the report that the lines of the child describe."""
    facts: list[dict[str, Any]] = [
        json.loads(line) for line in text.splitlines() if line.startswith("{")
    ]
    merged = {name: value for each in facts for name, value in each.items()}
    problem = merged.get("problem", "")
    if problem in _MEANING:
        problem = f"{_MEANING[problem]} ({problem})"
    return LibraryReport(
        version=merged.get("version", 0),
        gpus=tuple((each["bus"], each["name"]) for each in facts if "bus" in each),
        peers=tuple((*each["peers"], each["can"]) for each in facts if "peers" in each),
        problem=problem,
        bytes={each["memory"]: int(each["bytes"]) for each in facts if "memory" in each},
    )
