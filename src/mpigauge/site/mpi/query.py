# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Queries an MPI library in a child process, which a broken library cannot crash with us."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.builds.remembered import remembered
from mpigauge.site.topology.busy import grown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

SECONDS = 30.0
LOADER = ("LD_LIBRARY_PATH", "LD_PRELOAD")
MARK = "mpigauge-answer "

# Both calls are allowed before MPI_Init, so no job is started. MPI_Get_library_version
# came with MPI-3.
CHILD = """
import ctypes, json, sys
try:
    library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
except OSError as error:
    sys.exit(str(error))
text, length = ctypes.create_string_buffer(65536), ctypes.c_int()
major, minor = ctypes.c_int(), ctypes.c_int()
library.MPI_Get_version(ctypes.byref(major), ctypes.byref(minor))
if hasattr(library, "MPI_Get_library_version"):
    library.MPI_Get_library_version(text, ctypes.byref(length))
else:
    text.value = b"MPI-%d.%d library" % (major.value, minor.value)
print(sys.argv[2] + json.dumps({
    "text": text.value.decode("utf-8", "replace").strip(),
    "standard": "%d.%d" % (major.value, minor.value),
    "ompi": hasattr(library, "ompi_mpi_comm_world"),
}))
"""

LOOK_UP = """
import ctypes, json, sys
try:
    library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
except OSError as error:
    sys.exit(str(error))
print(sys.argv[2] + json.dumps([name for name in sys.argv[3:] if not hasattr(library, name)]))
"""

# How each library's own words give its name and version; the first that fits counts.
FAMILIES = (
    ("spectrum", r"IBM Spectrum MPI v?(?P<version>[\d.]+)"),
    ("openmpi", r"Open MPI v?(?P<version>[\w.]+)"),
    ("intel", r"Intel\(R\) MPI Library (?P<version>[\d.]+)"),
    ("cray-mpich", r"CRAY MPICH version (?P<version>[\d.]+)"),
    ("mvapich", r"MVAPICH\S* [Vv]ersion\s*:\s*(?P<version>[\w.]+)"),
    ("mpich", r"MPICH Version:\s*(?P<version>[\w.]+)"),
)


@dataclass(frozen=True)
class LibraryAnswer:
    text: str
    standard: str
    ompi: bool
    """True if it has Open MPI's data symbols, and thus Open MPI's ABI."""

    @property
    def name_and_version(self) -> tuple[str, str]:
        return name_and_version(self.text)


def name_and_version(text: str) -> tuple[str, str]:
    """Returns the name and version of a library, by its version string."""
    for name, pattern in FAMILIES:
        if match := re.search(pattern, text):
            return name, match["version"]
    return "unknown", (text.splitlines() or [""])[0][:60]


def ask(library: Path, env: Mapping[str, str], seconds: float = SECONDS) -> LibraryAnswer:
    """Returns the library's version and ABI. It is queried once: see `remembered`.

    The answer depends on its file, and on the paths of the libraries below it. UserError: it does
    not work.
    """
    where = [f"{name}={os.environ.get(name, '')}" for name in LOADER]
    own_variables = [f"{name}={value}" for name, value in sorted(env.items())]
    content = remembered(
        *("library", [str(library), *where, *own_variables], [library]),
        lambda: answer(CHILD, library, env, seconds),
    )
    return LibraryAnswer(**json.loads(content))


def missing(library: Path, env: Mapping[str, str], calls: Iterable[str]) -> frozenset[str]:
    """Returns the calls that the library lacks."""
    return frozenset(json.loads(answer(LOOK_UP, library, env, SECONDS, *calls)))


def answer(
    script: str,
    library: Path,
    env: Mapping[str, str],
    seconds: float,
    *arguments: str,
    without: Iterable[str] = (),
) -> str:
    """Returns the text after MARK in the output of a child with this script; its arguments are the
    library, MARK and these. `without` names variables of ours to remove. UserError: it fails."""
    left = set(without)
    ours = {name: value for name, value in os.environ.items() if name not in left}
    words = [sys.executable, "-c", script, str(library), MARK, *arguments]
    limit = grown(seconds)
    try:
        child = subprocess.run(
            words,
            env={**ours, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _broken(library, f"it did not answer within {limit:.3g} s") from None
    for line in child.stdout.splitlines():
        if line.startswith(MARK):
            return line[len(MARK) :]
    raise _broken(library, _why(child))


def _why(child: subprocess.CompletedProcess[str]) -> str:
    if child.returncode < 0:
        return f"it was killed by signal {-child.returncode}"
    lines = child.stderr.strip().splitlines()
    if lines:
        return lines[-1]
    return f"it ended with status {child.returncode}"


def _broken(library: Path, why: str) -> UserError:
    return UserError(f"the MPI library {library} does not work: {why}")
