# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The setting that spares Open MPI 5 a second in MPI_Init.

The component btl/ofi of Open MPI 5 sleeps for one second while it starts: MPI_Init of 5.0.11 takes
1.02 s with it and 0.02 s without. Only one-sided communication uses that component, and only over
a network that it supports.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

VARIABLE = "OMPI_MCA_btl"
SLEEP_S = 1.0
WITHOUT_OFI: Mapping[str, str] = {VARIABLE: "^ofi"}
_PARAMETER_FILES = "OMPI_MCA_mca_base_param_files"
_FIRST_MAJOR = 5
_SETS_BTL = re.compile(r"^\s*btl\s*=", re.MULTILINE)


def quick_start(mpi: Mpi, chosen: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings that shorten this MPI's start on one host, if it has any.

    A value of `btl` takes precedence if it is among the `chosen` settings and variables, in the
    environment `env`, or in a parameter file of Open MPI.
    """
    if not is_slow_version(mpi.name, mpi.version) or {"btl", VARIABLE} & {*chosen, *env}:
        return {}
    if any(map(_SETS_BTL.search, _parameter_texts(mpi, env))):
        return {}
    return dict(WITHOUT_OFI)


def is_slow_version(name: str, version: str) -> bool:
    """True if an MPI of this name and version sleeps in MPI_Init unless it leaves out btl/ofi."""
    major = version.partition(".")[0]
    return name == "openmpi" and major.isdigit() and int(major) >= _FIRST_MAJOR


def _parameter_texts(mpi: Mpi, env: Mapping[str, str]) -> Iterator[str]:
    """Yields the texts of the files in which Open MPI looks for parameters."""
    usual = (
        Path(env.get("HOME", "~")).expanduser() / ".openmpi" / "mca-params.conf",
        mpi.prefix / "etc" / "openmpi-mca-params.conf",
    )
    listed = env.get(_PARAMETER_FILES, "").split(os.pathsep)
    for file in (*map(Path, filter(None, listed)), *usual):
        try:
            yield file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
