# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings that a job's script printed, or was pasted with, between the outputs of its runs."""

from __future__ import annotations

import re

_LINE = re.compile(
    r"^\s*(?:export |setenv |\+ export |\+ )?"
    r"((?:MPI|I_MPI|OMPI|MPICH|MV2|UCX|FI|PSM2?|HCOLL|OMP)_[A-Z0-9_]+)(?:= ?|\s+)([^\s=]+)\s*$"
)


def setting_in(line: str) -> tuple[str, str] | None:
    """NAME and value of a line like `export MPI_BUFFER_MAX=4096` or `MPI_BUFFER_MAX= 4096`."""
    found = _LINE.match(line)
    if found:
        return (found[1], found[2].strip("\"'"))
    return None


def arm_of(settings: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(settings.items()))
