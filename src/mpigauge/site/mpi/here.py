# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a host is, told by a process on it: its machine, and what the MPI library is there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mpigauge.model.errors import UserError
from mpigauge.site.mpi.query import ask
from mpigauge.site.topology.files import Files
from mpigauge.site.topology.read import read_files

MARK = "mpigauge-host "


def tell(library: str) -> None:
    """One line on standard output; the environment is the one that the library needs. Without a
    library only the machine is told."""
    files = Files(Path("/"))
    read_files(files)
    try:
        says, problem = ask(Path(library), {}).text if library else "", ""
    except UserError as error:
        says, problem = "", str(error)
    answer = {"machine": files.record(), "library": says, "problem": problem}
    sys.stdout.write(f"\n{MARK}{json.dumps(answer)}\n")
