# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Jobs of many more ranks than cores are joined like small ones, and nothing of them is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.products.profile.match.merge import merged
from mpigauge.site.mpi import find
from tests.profiled import build, profiled

CALLS = 50


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [8, pytest.param(64, marks=pytest.mark.acceptance("many-ranks"))])
def test_all_ranks_are_joined(ranks: int, tmp_path: Path) -> None:
    mpi = find("mpich")
    program = build(mpi, "late.cpp", tmp_path)
    words = [str(program), "nobody", str(CALLS), "0", "irecv"]
    done = profiled(mpi, ranks, words, tmp_path / "profile")
    assert done.status == 0, done.output + done.errors
    profile = merged(done.files)
    assert [file.rank for file in profile.files] == list(range(ranks))
    for call in ("MPI_Barrier", "MPI_Irecv", "MPI_Isend", "MPI_Waitall"):
        (spot,) = [n for n, each in enumerate(profile.spots) if each.call == call]
        rows = profile.rows[profile.rows["site"] == spot]
        assert rows["rank"].tolist() == list(range(ranks))
        assert set(rows["calls"]) == {CALLS}
    split = profile.waits[profile.waits["kept"] == CALLS]
    assert sorted(split["rank"].tolist()) == sorted([*range(ranks)] * 2)
