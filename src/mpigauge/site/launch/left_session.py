# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The files that a killed mpirun of Open MPI 5 leaves, which keep a later one from starting.

Its PMIx server writes its address into files of a folder named by its process number, and ends with
"The PMIx server's listener thread failed to start" if they exist already. The system reuses process
numbers, on many machines after 32768 processes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

CLOCK_STEP_S = 1.0
"""The maximum difference between the clock of any file system and ours, in seconds."""


def remove_left_session(pid: int, env: Mapping[str, str], begun: float | None = None) -> None:
    """Removes the files with the address of an mpirun with this process number on this host.

    Files of other hosts, which may share the folder, stay. `env` is the environment of mpirun,
    which names its folders. The caller is the process that becomes mpirun. If mpirun has begun
    already, `begun` is that time in seconds since 1970, and younger files stay.
    """
    folder = Path(temporary_folder(env)) / f"ompi.{pid}"
    of_host = tuple(f"pmix.{name}.tool" for name in own_names())
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name.startswith(of_host) and _is_older(path, begun):
                path.unlink()


def _is_older(path: Path, begun: float | None) -> bool:
    """True if a file was certainly there before an mpirun that has just begun."""
    return begun is None or path.stat().st_mtime < begun - CLOCK_STEP_S


def own_names() -> tuple[str, str]:
    """Returns the name of this host, and its first part."""
    host = os.uname().nodename
    return host, host.partition(".")[0]


def temporary_folder(env: Mapping[str, str]) -> str:
    """Returns the folder for temporary files, by the rules of Open MPI."""
    for name in ("TMPDIR", "TEMP", "TMP"):
        if env.get(name):
            return env[name]
    return "/tmp"
