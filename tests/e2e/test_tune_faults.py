# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs that show what an algorithm does wrong, compiled and run with real MPIs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.tune.faults import (
    CASES,
    file_name,
    program,
    settings_of_fault,
    write_programs,
)
from mpigauge.runs.store.tuned_rules import Fault
from mpigauge.runs.store.tunings import as_variables
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import headers
from tests import patience

pytestmark = pytest.mark.mpi
RING = Fault("Allreduce", 3, "ring", "9 wrong elements among 3 ranks")


def run(
    mpi: Mpi, source: Path, ranks: int, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    made = source.with_suffix("")
    words = ["gcc", "-Wall", "-Werror", "-isystem", str(headers(mpi)), str(source), "-o", str(made)]
    words += [str(mpi.library), f"-Wl,-rpath,{mpi.library.parent}"]
    subprocess.run(words, check=True)
    crowded = ["--oversubscribe", "--allow-run-as-root"] if mpi.name == "openmpi" else []
    line = [str(mpi.mpiexec), "-n", str(ranks), *crowded, str(made)]
    return patience.run(line, cwd=source.parent, env={**os.environ, **mpi.env, **env})


@pytest.mark.parametrize("collective", CASES)
def test_no_program_blames_the_default(collective: str, mpi: Mpi, tmp_path: Path) -> None:
    fault = Fault(collective, 3, "", "made up")
    source = tmp_path / file_name(fault)
    source.write_text(program(fault, mpi, {}))
    for ranks in (1, 3):
        done = run(mpi, source, ranks, {})
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count(": 0 wrong elements") == ranks


def test_the_program_shows_what_open_mpis_ring_does_wrong(tmp_path: Path) -> None:
    openmpi = find("openmpi")
    twice = [RING, Fault("Allreduce", 4, "ring", "8 wrong elements among 4 ranks")]
    faults = write_programs(tmp_path, twice, openmpi)
    assert {fault.program for fault in faults} == {"faults/allreduce-ring.c"}
    source = tmp_path / faults[0].program
    text = source.read_text()
    assert "OMPI_MCA_coll_tuned_allreduce_algorithm=4" in text
    assert "mpirun -n 3 ./wrong" in text
    assert max(map(len, text.splitlines()[4:])) <= 100
    with_ring = as_variables(settings_of_fault(RING, openmpi))
    assert run(openmpi, source, 3, with_ring).returncode != 0
    assert run(openmpi, source, 3, {}).returncode == 0


def test_a_collective_without_a_program_keeps_its_command(tmp_path: Path) -> None:
    fault = Fault("Barrier", 3, "", "hangs")
    assert write_programs(tmp_path, [fault], find("openmpi")) == [fault]
    assert not list(tmp_path.iterdir())
