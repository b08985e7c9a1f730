# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All ranks keep the same calls of a collective, and each is split without a rest.

How much is waited depends on what else the machine does; tests/unit/test_profile_waiting.py
plants it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.features.profile.merge import Profile, merged
from mpigauge.model.mpi import Mpi
from tests.profiled import build, profiled

pytestmark = pytest.mark.mpi
CALLS = 3000
"""More than a file keeps of one kind."""
LATE_US = 1000


def profile_of(mpi: Mpi, folder: Path, who: str, calls: int) -> Profile:
    program = build(mpi, "late.cpp", folder)
    words = [str(program), who, str(calls), str(LATE_US if who == "one" else 0)]
    done = profiled(mpi, 2, words, folder / "profile")
    assert done.status == 0, done.output + done.errors
    return merged(done.files)


def test_calls_are_split_without_a_rest(mpi: Mpi, tmp_path: Path) -> None:
    profile = profile_of(mpi, tmp_path, "one", 200)
    (spot,) = [n for n, spot in enumerate(profile.spots) if spot.call == "MPI_Allreduce"]
    first, last = profile.waits[profile.waits["site"] == spot]
    assert (first["rank"], last["rank"]) == (0, 1)
    assert first["calls"] == first["kept"] == 200
    for row in (first, last):
        whole = row["waiting_s"] + row["moving_s"] + row["disturbed_s"]
        assert whole == pytest.approx(row["seconds"])
        assert row["waiting_low_s"] <= row["waiting_s"] <= row["waiting_high_s"]


def test_of_many_calls_all_ranks_keep_the_same_ones(mpi: Mpi, tmp_path: Path) -> None:
    profile = profile_of(mpi, tmp_path, "nobody", CALLS)
    kinds = [each for each in profile.files[0].instances if each.call == "MPI_Allreduce"]
    others = [each for each in profile.files[1].instances if each.call == "MPI_Allreduce"]
    assert kinds[0].count == others[0].count == CALLS
    assert kinds[0].level == others[0].level == 2
    rows = profile.waits[profile.waits["kept"] > 1]
    assert set(rows["kept"]) == {CALLS >> 2}
    assert rows["calls"] == pytest.approx(CALLS)
