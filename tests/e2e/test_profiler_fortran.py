# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs in Fortran are profiled, with the names of functions that their compiler gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.features.profile.merge import merged
from mpigauge.site.mpi import find
from tests.conftest import MPIS
from tests.profiled import build, profiled
from tests.profiled.pattern import counted, differences, pattern, sections_of

pytestmark = pytest.mark.mpi
RANKS = 2


@pytest.mark.skipif("intel" not in MPIS, reason="Intel MPI is there for x86-64 alone")
def test_calls_of_fortran_are_those_of_c(tmp_path: Path) -> None:
    """Of the MPIs that are installed for tests this one has a library for Fortran, whose functions
    call those of C."""
    mpi = find("intel")
    library = str(mpi.library.parent / "libmpifort.so.12")
    program = build(mpi, "fortran.cpp", tmp_path, "-Wl,--no-as-needed", library)
    done = profiled(mpi, RANKS, [program], tmp_path / "profile")
    assert done.status == 0, done.output + done.errors
    profile = merged(done.files)
    for rank in range(RANKS):
        found = counted(profile, sections_of(profile), rank)
        assert differences(found, pattern(rank, RANKS, fortran=True)) == {}
    names = {comm.name for comm in profile.comms}
    assert "a grid" in names
