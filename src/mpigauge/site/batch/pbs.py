# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""PBS Professional, OpenPBS and their kin."""

from __future__ import annotations

import re
from collections import Counter
from shlex import quote

from mpigauge.model.hostlist import check_name
from mpigauge.model.hosts import NamedHost
from mpigauge.site.batch.registry import batch_system
from mpigauge.site.batch.system import BatchState, Environment, Read, System, Wish, clock

_FIELD = re.compile(r"^\s*(job_state|comment|Exit_status)\s*=\s*(.*)$", re.MULTILINE)
_PHASES = {"R": "running", "E": "running", "B": "running"}
_WALLTIME = 271
"""Exit status of a job that got SIGTERM, as at the end of its time or from qdel."""


@batch_system
class Pbs(System):
    name = "pbs"
    variable = "PBS_JOBID"
    submit = ("qsub",)
    cancel = "qdel"
    number = re.compile(r"^(\d+\S*)", re.MULTILINE)

    def hosts(self, environment: Environment, read: Read) -> tuple[NamedHost, ...]:
        """A line for each rank, with its host."""
        file = environment.get("PBS_NODEFILE", "")
        lines = [line.strip() for line in read(file).splitlines()] if file else []
        for number, line in enumerate(lines, 1):
            if line:
                check_name(line, f"{file}, line {number}")
        return tuple(NamedHost(name, n, file) for name, n in Counter(filter(None, lines)).items())

    def head(self, wish: Wish) -> list[str]:
        each = f":ncpus={wish.ppn}:mpiprocs={wish.ppn}" if wish.ppn else ""
        words = [
            f"-N {wish.name}",
            "-V",
            "-j oe",
            f"-o {quote(wish.log)}",
            f"-l select={wish.nodes}{each}",
            "-l place=scatter" if wish.ppn else "-l place=scatter:excl",
            f"-l walltime={clock(wish.minutes)}" if wish.minutes else "",
            f"-q {wish.queue}" if wish.queue else "",
            f"-A {wish.account}" if wish.account else "",
            *wish.options,
        ]
        return [f"#PBS {word}" for word in words if word]

    def ask(self, job: str) -> tuple[str, ...]:
        return ("qstat", "-x", "-f", job)

    def state(self, status: int, answer: str) -> BatchState:
        fields = dict(_FIELD.findall(answer))
        letter = fields.get("job_state", "").strip()
        if status or not letter:
            return BatchState("unknown")
        if letter in ("F", "X"):
            return BatchState("ended", _ending(fields.get("Exit_status", "0").strip()))
        if letter in _PHASES:
            return BatchState("running")
        return BatchState("waiting", fields.get("comment", "").strip())


def _ending(status: str) -> str:
    if status == "0":
        return ""
    if status == str(_WALLTIME):
        return "was cancelled or ran out of its time"
    return f"failed with status {status}"
