# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The passport of a run: everything about machine and environment that may explain a number."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import mpigauge
from mpigauge.model.secrets import SECRETS
from mpigauge.site.topology.differences import differences
from mpigauge.site.topology.read import read
from mpigauge.site.topology.remarks import remarks

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.hosts import ProbedHost
    from mpigauge.model.machine import Machine
    from mpigauge.model.mpi import Mpi

# Variables that change how MPI behaves or which files are used. Others may be private.
PREFIXES = (
    "MPI",
    "OMPI_",
    "PMIX_",
    "PMI_",
    "PRTE_",
    "OPAL_",
    "MPICH_",
    "I_MPI_",
    "MV2_",
    "CRAY_",
    "HYDRA_",
    "UCX_",
    "FI_",
    "PSM",
    "SLURM_",
    "PBS_",
    "LSB_",
    "OMP_",
    "KMP_",
    "GOMP_",
    "HWLOC_",
    "MALLOC_",
    "LOADEDMODULES",
)
NAMES = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "CXX", "CXXFLAGS", "LANG", "LC_ALL", "TMPDIR")
TRANSPORTS = ("libfabric.so*", "libuc?.so*", "libpmix.so*", "libopen-pal.so*", "libhwloc.so*")


def passport(
    mpi: Mpi | None,
    machine: Machine | None = None,
    nodes: Sequence[ProbedHost] = (),
    digest: Callable[[Path], str] | None = None,
) -> dict[str, Any]:
    """Returns the passport as JSON-able data. `mpi`: None if the user's launch line selects it.
    `machine`: None: this one, read now. `nodes`: the hosts that are measured. `digest`: computes or
    looks up the digest of a file."""
    machine = machine or read()
    libraries = _libraries(mpi) if mpi else []
    return {
        "taken": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "mpigauge": mpigauge.__version__,
        "python": sys.version.split()[0],
        "libc": " ".join(platform.libc_ver()),
        "machine": plain(asdict(machine)),
        "remarks": [*remarks(machine), *differences(nodes)],
        "hosts": [_host(node) for node in nodes],
        "mpi": plain(asdict(mpi)) if mpi else {},
        "libraries": [_library(path, digest or digest_of) for path in libraries],
        "environment": relevant(os.environ),
    }


def _host(node: ProbedHost) -> dict[str, Any]:
    sentences = remarks(node.machine)
    machine = plain(asdict(node.machine))
    return {"name": node.name, "mpi": node.library, "remarks": sentences, "machine": machine}


def relevant(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that affect MPI, without those whose names look like a secret's."""

    def matters(name: str) -> bool:
        is_relevant = name.startswith(PREFIXES) or name in NAMES
        return is_relevant and not any(word in name.upper() for word in SECRETS)

    return {name: environment[name] for name in sorted(environment) if matters(name)}


def plain(value: Any) -> Any:
    """Converts sets, tuples and paths to JSON types."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _libraries(mpi: Mpi) -> list[Path]:
    """Returns the MPI library and the transport libraries next to it."""
    folder = mpi.library.parent
    folders = [folder, *(folder / name for name in ("mpich", "openmpi"))]
    transports: set[Path] = set()
    for place in folders:
        for glob in TRANSPORTS:
            transports.update(place.glob(glob))
    return [mpi.library, *sorted(path for path in transports if path.is_file())]


def _library(path: Path, digest: Callable[[Path], str]) -> dict[str, Any]:
    try:
        return {"path": str(path), "bytes": path.stat().st_size, "sha256": digest(path)}
    except OSError as error:
        return {"path": str(path), "unreadable": error.strerror}


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
