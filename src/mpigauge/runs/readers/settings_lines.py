# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings in the lines between the outputs of runs: those that a script exports or prints, and
those of the commands that start jobs."""

from __future__ import annotations

import re

from mpigauge.site.launch.lines.count import MEANINGS

_NAME = (
    r"(?:MPI|I_MPI|OMPI|MPICH|MPIR|MV2|MVP|UCX|UCC|FI|PSM[23]?|[NR]CCL|HCOLL|SHARP|OMP)_[A-Z0-9_]+"
)
_LINE = re.compile(rf"^\s*(?:export |setenv |\+ export |\+ )?({_NAME})(?:= ?|\s+)([^\s=]+)\s*$")
_LAUNCHER = re.compile(rf"(?<![\w=-])(?:{'|'.join(sorted(MEANINGS, reverse=True))})(?![\w-])")
_BEFORE_COMMAND = ("$", "#", ">", "%", "+", "time", "exec")
_IN_COMMAND = (
    re.compile(rf"(?<!\S)(?:-x[ =]?|--?genv[ =]|--?env[ =])?({_NAME})[= ](?!-)(\S+)"),
    re.compile(rf"(?<=[=,])({_NAME})=([^\s,]+)"),  # srun --export=ALL,NAME=VALUE
    re.compile(r"(?<!\S)--?(?:[a-z]*mca|gmca) (\w+) (\S+)"),
)
"""Variables and parameters of MPIs, as launchers take them."""
_PLACEMENT = re.compile(r"(?<!\S)--?(map-by|bind-to|rank-by|ppn|distribution|cpu-bind)[ =](\S+)")
_CORES = re.compile(r"(?:taskset -c|numactl (?:--physcpubind=|-C )) ?(\d+(?:[,-]\d+)*)")


def setting_in(line: str) -> tuple[str, str] | None:
    """The name and value in a line like `export MPI_BUFFER_MAX=4096` or `MPI_BUFFER_MAX= 4096`."""
    match = _LINE.match(line)
    if match:
        return (match[1], match[2].strip("\"'"))
    return None


def is_command(line: str) -> bool:
    """True if a line starts a job: its first word, after a prompt and variables, is a launcher."""
    match = _LAUNCHER.search(line)
    if not match:
        return False
    words = line[: match.start()].split()
    if words and words[-1].endswith("/"):
        words.pop()  # the folder of the launcher
    return not words or "=" in words[-1] or words[-1].endswith(_BEFORE_COMMAND)


def settings_in_command(line: str) -> dict[str, str]:
    """The settings in a line that starts a job: UCX_TLS of `mpirun -x UCX_TLS=tcp ...`."""
    settings: dict[str, str] = {}
    for pattern in _IN_COMMAND:
        for name, value in pattern.findall(line):
            settings[name] = value.strip("\"'")
    return settings


def placement_in_command(line: str) -> str:
    """The placement in such a line: map-by:core, or cores:0,3 for `taskset -c 0,3`."""
    places = [*_PLACEMENT.findall(line), *(("cores", cores) for cores in _CORES.findall(line))]
    return " ".join(f"{name}:{value}" for name, value in places)


def arm_of(settings: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(settings.items()))
