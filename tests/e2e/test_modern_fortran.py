# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs of the module mpi_f08, as compilers make them, run on each MPI and see nothing wrong."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import MPIS
from tests.e2e.debian import installed, needs_root
from tests.translated import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.debian import Installed

pytestmark = [pytest.mark.mpi, pytest.mark.heavy, needs_root]
COMPILERS = {"mpich": ("mpifort.mpich", "-DLARGE"), "openmpi": ("mpifort.openmpi",)}
IN_CI = [("mpich", "openmpi"), ("openmpi", "mpich")]
OTHERS = sorted({(program, target) for program in COMPILERS for target in MPIS} - set(IN_CI))
PAIRS = [
    *(pytest.param(*pair) for pair in IN_CI),
    *(pytest.param(*pair, marks=pytest.mark.acceptance("translation")) for pair in OTHERS),
]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    packages = ("gfortran", "libmpich-dev", "libopenmpi-dev")
    with installed(tmp_path_factory.mktemp("fortran"), *packages) as made:
        yield made


@pytest.mark.parametrize(("program", "target"), PAIRS)
def test_a_program_of_mpi_f08(
    machine: Installed, program: str, target: str, tmp_path: Path
) -> None:
    """Debian's MPIs have the modules; those that are installed for tests have no layer for Fortran,
    or one of another compiler, so that ours is taken."""
    shutil.copy(HERE / "modern.F90", tmp_path)
    compiler, *flags = COMPILERS[program]
    built = machine.run(compiler, *flags, "modern.F90", "-o", "modern", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    line = ("exec", "--mpi", target, "--np", "2", "--", "./modern", str(tmp_path))
    done = machine.mpigauge(*line, cwd=tmp_path)
    assert done.stdout == "ranks 2 wrong 0\n", done.stdout + done.stderr
    assert done.returncode == 0
    assert "through a translation" in done.stderr
