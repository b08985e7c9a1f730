# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The command that reproduces the fault of a candidate, for the MPI's developers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from mpigauge.products.tune.plan import RIGHT
from mpigauge.site.mpi.rule_files.candidates import find_candidate
from mpigauge.site.mpi.rule_files.registry import rule_format_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.mpi import Mpi
    from mpigauge.runs.store.tuned_rules import Fault
    from mpigauge.site.mpi.rule_files.candidates import Candidate


def settings_of_fault(fault: Fault, candidates: Iterable[Candidate], mpi: Mpi) -> dict[str, str]:
    """Returns the settings with which the fault occurs."""
    settings = dict(rule_format_of(mpi.name).measured_with)
    if fault.candidate:
        settings |= find_candidate(candidates, fault.collective, fault.candidate).settings
    return settings


def proof_of(fault: Fault, candidates: Iterable[Candidate], mpi: Mpi, level: str = "") -> str:
    """Returns the command that reproduces the fault of one of these candidates, or of the MPI's own
    choice. `level`: the requested thread level."""
    settings = settings_of_fault(fault, candidates, mpi)
    words = [f"--set {name}={value}" for name, value in settings.items()]
    if level:
        words.insert(0, f"--thread-level {level}")
    options = " ".join(words)
    return (
        f"mpigauge run {RIGHT.format(fault.collective)} --mpi {shlex.quote(mpi.spec)} "
        f"--ranks {fault.ranks} --oversubscribe --launches 1 {options}".rstrip()
    )
