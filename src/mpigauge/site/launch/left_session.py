# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a killed mpirun of Open MPI 5 leaves on disk, which keeps a later one from starting.

Its PMIx server writes how to reach it into a folder that is named by its process number, and ends
with "The PMIx server's listener thread failed to start" where such a file lies already. The system
gives numbers out again, after 32768 processes on many machines.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path


def remove_left_session(pid: int, env: Mapping[str, str]) -> None:
    """Removes what an mpirun with this process number left. `env`: its environment, which says
    where its folders are. To be called by the process that becomes mpirun, or after its end: no
    other one of this number can be running."""
    shutil.rmtree(Path(env.get("TMPDIR") or "/tmp") / f"ompi.{pid}", ignore_errors=True)
