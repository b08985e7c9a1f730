# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs `mpigauge doctor` on all hosts in parallel."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from mpigauge.measuring.jobs.agent import (
    Agent,
    HostAnswer,
    all_answers,
    python_line,
    refuse_problems,
)
from mpigauge.model.hosts import NamedHost
from mpigauge.products.doctor.check_finding import CheckFinding
from mpigauge.site.batch import SYSTEMS

SECONDS = 60.0
"""The time for a host besides that of watching noise; probing an MPI starts programs."""
VARIABLES = ("MPIGAUGE_HOME", "MPIGAUGE_CACHE", "MPIGAUGE_KERNELS")
"""The variables by which MPIs and kernels are found there as here."""
_PROGRAM = """
import os
for name in {jobs!r}:
    os.environ.pop(name, None)
sys.argv = {words!r}
from mpigauge.cli import main
main()
"""


def examine(
    hosts: Sequence[NamedHost], words: Sequence[str], noise_s: float, agent: Agent | None = None
) -> dict[str, dict[str, Any]]:
    """The output of `mpigauge doctor --json` with these words on each host, by its name.

    UserError: a host does not answer, or refuses the words.
    """
    env = {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}
    # Each examines itself alone, though it may be in a batch job of all of them.
    jobs = [system.variable for system in SYSTEMS.values()]
    program = _PROGRAM.format(words=["mpigauge", "doctor", "--json", *words], jobs=jobs)
    answers = all_answers(
        [host.name for host in hosts], python_line(program, env), agent, SECONDS + noise_s
    )
    outcomes = [_report_of(host.name, answer) for host, answer in zip(hosts, answers, strict=True)]
    refuse_problems(outcomes)
    reports: dict[str, dict[str, Any]] = {}
    for host, outcome in zip(hosts, outcomes, strict=True):
        if isinstance(outcome, dict):
            reports[host.name] = outcome
    return reports


def findings_of(report: Mapping[str, Any]) -> tuple[CheckFinding, ...]:
    """The findings in a host's report."""
    return tuple(CheckFinding(**each) for each in report["findings"])


def _report_of(host: str, answer: HostAnswer) -> dict[str, Any] | str:
    """The report of a host, or one sentence why it has none."""
    start = answer.output.find("{")
    try:
        report: dict[str, Any] = json.loads(answer.output[start:]) if start >= 0 else {}
    except ValueError:
        report = {}
    return report or f"host {host} could not examine itself: {answer.last_words}"
