# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Slurm."""

from __future__ import annotations

import re
from dataclasses import replace
from shlex import quote

from mpigauge.model.errors import UserError
from mpigauge.model.hostlist import parse_hosts
from mpigauge.model.hosts import NamedHost
from mpigauge.site.batch.registry import batch_system
from mpigauge.site.batch.system import BatchState, Environment, Read, System, Wish, clock

_EACH = "SLURM_NTASKS_PER_NODE"
_COUNT = re.compile(r"(\d{1,6})(?:\(x(\d{1,6})\))?")
_FIELD = re.compile(r"\b(JobState|Reason)=(\S+)")
_ENDED = {
    "COMPLETED": "",
    "TIMEOUT": "ran out of its time",
    "DEADLINE": "ran out of its time",
    "CANCELLED": "was cancelled",
    "PREEMPTED": "had to make room for another job",
    "NODE_FAIL": "lost a node",
    "BOOT_FAIL": "lost a node",
    "OUT_OF_MEMORY": "ran out of memory",
    "FAILED": "failed",
}


@batch_system
class Slurm(System):
    name = "slurm"
    variable = "SLURM_JOB_ID"
    submit = ("sbatch",)
    cancel = "scancel"
    number = re.compile(r"^Submitted batch job (\d+)", re.MULTILINE)
    agent = (
        *("srun", "--quiet", "--nodes=1", "--ntasks=1", "--overlap", "--input=none"),
        *("--cpu-bind=none", "--nodelist"),
    )
    shell = ("sh", "-c")

    def hosts(self, environment: Environment, read: Read) -> tuple[NamedHost, ...]:
        """Returns the hosts with their tasks if a number of tasks was requested, else with their
        CPUs."""
        del read
        names = environment.get("SLURM_JOB_NODELIST", "")
        if not names:
            return ()
        hosts = parse_hosts(names, "SLURM_JOB_NODELIST")
        variable = _variable(environment)
        counts = _counts(environment.get(variable, ""))
        if variable == _EACH:
            counts *= len(hosts)
        if len(counts) != len(hosts):
            raise UserError(
                f"{variable} names {len(counts)} hosts, not the {len(hosts)} of "
                f"SLURM_JOB_NODELIST={names}; unset SLURM_JOB_ID if this is not a job"
            )
        return tuple(replace(h, slots=n) for h, n in zip(hosts, counts, strict=True))

    def head(self, wish: Wish) -> list[str]:
        words = [
            f"--job-name={wish.name}",
            f"--output={quote(wish.log).replace('%', '%%')}",
            f"--nodes={wish.nodes}",
            f"--ntasks-per-node={wish.ppn}" if wish.ppn else "--exclusive",
            f"--time={clock(wish.minutes)}" if wish.minutes else "",
            f"--partition={wish.queue}" if wish.queue else "",
            f"--account={wish.account}" if wish.account else "",
            *wish.options,
        ]
        return [f"#SBATCH {word}" for word in words if word]

    def ask(self, job: str) -> tuple[str, ...]:
        return ("scontrol", "--oneliner", "show", "job", job)

    def state(self, status: int, answer: str) -> BatchState:
        fields = dict(_FIELD.findall(answer))
        name, reason = fields.get("JobState", ""), fields.get("Reason", "None")
        if status or not name:
            return BatchState("unknown")
        if name in _ENDED:
            return BatchState("ended", _ENDED[name])
        if name in ("RUNNING", "COMPLETING"):
            return BatchState("running")
        return BatchState("waiting", "" if reason == "None" else reason)


def _variable(environment: Environment) -> str:
    """Returns the variable that holds the ranks of each host. With --ntasks-per-node alone, Slurm
    does not set SLURM_NTASKS, and SLURM_TASKS_PER_NODE may count CPUs."""
    if environment.keys() & {"SLURM_NTASKS", "SLURM_NPROCS"}:
        return "SLURM_TASKS_PER_NODE"
    return _EACH if _EACH in environment else "SLURM_JOB_CPUS_PER_NODE"


def _counts(text: str) -> list[int]:
    """Returns the number for each host in a list such as 2(x3),1."""
    matches = [_COUNT.fullmatch(word) for word in text.split(",")]
    return [int(m[1]) for m in matches if m for _ in range(int(m[2] or 1))]
