# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reports the properties of a host from a process on it: its machine, and its MPI library."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mpigauge.model.errors import UserError
from mpigauge.site.mpi.query import ask
from mpigauge.site.topology.files import Files
from mpigauge.site.topology.read import read_files

MARK = "mpigauge-host "


def print_facts(library: str) -> None:
    """Prints one line, in the environment of the library; if it is empty, of the machine alone."""
    files = Files(Path("/"))
    read_files(files)
    try:
        says, problem = ask(Path(library), {}).text if library else "", ""
    except UserError as error:
        says, problem = "", str(error)
    answer = {"machine": files.record(), "library": says, "problem": problem}
    sys.stdout.write(f"\n{MARK}{json.dumps(answer)}\n")
