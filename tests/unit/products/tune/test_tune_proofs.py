# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs that show a candidate's fault: what each of them has to declare and to compare."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpigauge.products.tune.faults import (
    CASES,
    file_name,
    program,
    settings_of_fault,
    write_programs,
)
from mpigauge.runs.store.tuned_rules import Fault
from mpigauge.site.mpi.rule_files.candidates import candidates_of, collectives_of
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS
from tests.unit.measuring.plan.test_plan import MPICH, OPENMPI


@pytest.mark.parametrize("collective", sorted(CASES))
def test_a_program_declares_what_its_call_takes(collective: str) -> None:
    """An operation, counts of each rank, and a call in place only where it can be one."""
    fault = Fault(collective, 3, "", "7 wrong elements")
    text = program(fault, OPENMPI, {})
    call = re.search(rf"MPI_{collective}\(.*\);", text)
    assert call is not None
    has_op, has_counts = ", op," in call[0], ", each," in call[0]
    assert text.count("MPI_Op_create(join, 0, &op);") == has_op
    assert text.count("void join(") == has_op
    assert text.count("int each[ranks];") == has_counts
    in_place = "MPI_IN_PLACE" in call[0]
    assert f"in_place < {1 + in_place};" in text
    assert text.count("if (in_place) memcpy(got") == in_place
    assert "  MPI_Init(&argc, &argv);\n" in text
    assert f"// {collective} by the default goes wrong in openmpi 5.0.2: 7 wrong elements." in text
    assert "mpirun -n 3 ./wrong" in text
    assert not re.search(r"(?<!\{)\{[a-z_]+\}", text), "a field is left"


def test_a_program_asks_for_the_thread_level_and_sets_what_shows_the_fault() -> None:
    fault = Fault("Bcast", 2, "ring", "it hangs")
    text = program(fault, OPENMPI, {"b": "2", "a": "1"}, "multiple")
    assert "MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &(int){0});" in text
    variables = re.search(r"//   (.*)mpirun -n 2 \./wrong", text)
    assert variables is not None
    assert [word.partition("=")[2] for word in variables[1].split()] == ["1", "2"]
    assert program(Fault("Alltoallw", 2, "ring", "it hangs"), OPENMPI, {}) == ""


@pytest.mark.parametrize("mpi", sorted(RULE_FORMATS))
def test_each_collective_that_is_tuned_has_a_program(mpi: str) -> None:
    assert set(collectives_of(mpi)) <= set(CASES)


def test_a_candidate_has_one_program_that_shows_it_among_the_fewest_ranks(tmp_path: Path) -> None:
    name = next(each.name for each in candidates_of("mpich") if each.collective == "Bcast")
    faults = [
        Fault("Bcast", 2, name, "2 wrong elements"),
        Fault("Bcast", 3, name, "3 wrong elements"),
        Fault("Bcast", 2, "", "it hangs"),
    ]
    folder, unknown = tmp_path / "tuned", Fault("Nothing", 2, "", "it hangs")
    found = write_programs(folder, [unknown, *faults], MPICH)
    first = f"faults/{file_name(faults[0])}"
    assert file_name(faults[0]) == f"bcast-{name}.c".lower()
    assert [each.program for each in found] == ["", first, first, "faults/bcast-default.c"]
    assert [each.why for each in found] == [each.why for each in (unknown, *faults)]
    assert "2 wrong elements" in (folder / first).read_text()
    assert len(list((folder / "faults").iterdir())) == 2


def test_the_default_is_seen_without_a_candidate_s_settings() -> None:
    under = {"coll_tuned_use_dynamic_rules": "true"}
    assert settings_of_fault(Fault("Allreduce", 2, "", ""), OPENMPI) == under
    assert settings_of_fault(Fault("Allreduce", 2, "ring", ""), OPENMPI) == {
        **under, "coll_tuned_allreduce_algorithm": "4"
    }  # fmt: skip
