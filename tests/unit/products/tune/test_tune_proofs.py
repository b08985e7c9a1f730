# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Commands that reproduce the fault of a candidate."""

from __future__ import annotations

import shlex
from dataclasses import asdict

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.tune.faults import proof_of, settings_of_fault
from mpigauge.runs.store.tuned_rules import Fault
from mpigauge.site.mpi.rule_files.candidates import candidates_of
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS
from tests.unit.measuring.plan.test_plan import MPICH, OPENMPI

CANDIDATES = candidates_of("openmpi")
RING = Fault("Allreduce", 3, "ring", "9 wrong elements among 3 ranks")


def test_the_default_has_no_settings_of_a_candidate() -> None:
    under = {"coll_tuned_use_dynamic_rules": "true"}
    assert settings_of_fault(Fault("Allreduce", 2, "", ""), (), OPENMPI) == under
    with_ring = settings_of_fault(RING, CANDIDATES, OPENMPI)
    assert with_ring == {**under, "coll_tuned_allreduce_algorithm": "4"}


@pytest.mark.parametrize("mpi", [MPICH, OPENMPI], ids=lambda each: each.name)
def test_each_candidate_has_a_command_with_its_settings(mpi: Mpi) -> None:
    assert mpi.name in RULE_FORMATS
    every = candidates_of(mpi.name)
    for each in every:
        words = shlex.split(proof_of(Fault(each.collective, 5, each.name, "it hangs"), every, mpi))
        assert words[:3] == ["mpigauge", "run", f"SELFTEST:{each.collective}_right"]
        assert words[words.index("--ranks") + 1] == "5"
        assert {f"{name}={value}" for name, value in each.settings.items()} <= set(words)


def test_the_command_requests_the_thread_level_of_the_tuning() -> None:
    assert "--thread-level multiple" in proof_of(RING, CANDIDATES, OPENMPI, "multiple")
    assert "--thread-level" not in proof_of(RING, CANDIDATES, OPENMPI)


def test_programs_of_older_tunings_are_read() -> None:
    stored = {"collective": "Allreduce", "ranks": 3, "candidate": "ring", "why": "7 wrong elements"}
    old = Fault.from_json({**stored, "program": "faults/allreduce-ring.c"})
    assert old.proof == "faults/allreduce-ring.c"
    assert Fault.from_json(asdict(old)) == old
