# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs that begin MPI with sessions are profiled, with their ranks in the world."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from tests.profiled import build, profiled

pytestmark = pytest.mark.mpi
RANKS = 2


def test_a_program_that_begins_with_a_session_has_ranks(mpi: Mpi, tmp_path: Path) -> None:
    done = profiled(mpi, RANKS, [build(mpi, "sessions.c", tmp_path)], tmp_path / "profile")
    assert done.status == 0, done.output + done.errors
    assert [(file.rank, file.ranks) for file in done.files] == [(0, RANKS), (1, RANKS)]
    for file in done.files:
        calls = {site.call: site.calls for site in file.sites}
        assert calls["MPI_Allreduce"] == 5
        assert calls["MPI_Session_finalize"] == 1
        assert file.ended == "finalized"
        assert (0, 1) in {comm.members for comm in file.comms.values()}
