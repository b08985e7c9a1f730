# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All ranks keep the same calls and messages, and each is split without a rest.

How much is waited depends on what else the machine does; tests/process/test_profile_waiting.py and
tests/unit/products/profile/test_profile_later.py plant it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.match.merge import Profile, merged
from tests.profiled import build, profiled

pytestmark = pytest.mark.mpi
CALLS = 5000
"""More than a file keeps of one kind."""
LATE_US = 1000
LATER = {
    "recv": ("MPI_Recv", [0]),
    "probe": ("MPI_Probe", [0]),
    "sendrecv": ("MPI_Sendrecv", [0, 1]),
    "irecv": ("MPI_Waitall", [0, 1]),
    "persistent": ("MPI_Waitall", [0, 1]),
    "waitany": ("MPI_Waitany", [0, 1]),
    "iallreduce": ("MPI_Wait", [0, 1]),
    "ibcast": ("MPI_Wait", [0, 1]),
}
"""What ranks meet in: the call that waits, and the ranks that do."""


def profile_of(mpi: Mpi, folder: Path, who: str, calls: int, what: str = "allreduce") -> Profile:
    program = build(mpi, "late.cpp", folder)
    words = [str(program), who, str(calls), str(LATE_US if who == "one" else 0), what]
    done = profiled(mpi, 2, words, folder / "profile")
    assert done.status == 0, done.output + done.errors
    return merged(done.files)


def rows_of(profile: Profile, call: str) -> Any:
    """Of what could be split of a call."""
    spots = [n for n, spot in enumerate(profile.spots) if spot.call == call]
    return profile.waits[[int(row["site"]) in spots for row in profile.waits]]


def assert_without_a_rest(rows: Any) -> None:
    for row in rows:
        whole = row["waiting_s"] + row["moving_s"] + row["disturbed_s"]
        assert whole == pytest.approx(row["seconds"])
        assert row["waiting_low_s"] <= row["waiting_s"] <= row["waiting_high_s"]


def test_calls_are_split_without_a_rest(mpi: Mpi, tmp_path: Path) -> None:
    rows = rows_of(profile_of(mpi, tmp_path, "one", 200), "MPI_Allreduce")
    assert rows["rank"].tolist() == [0, 1]
    assert rows["calls"][0] == rows["kept"][0] == 200
    assert_without_a_rest(rows)


def test_of_many_calls_all_ranks_keep_the_same_ones(mpi: Mpi, tmp_path: Path) -> None:
    profile = profile_of(mpi, tmp_path, "nobody", CALLS)
    kinds = [each for each in profile.files[0].instances if each.call == "MPI_Allreduce"]
    others = [each for each in profile.files[1].instances if each.call == "MPI_Allreduce"]
    assert kinds[0].count == others[0].count == CALLS
    assert kinds[0].level == others[0].level == 1
    rows = profile.waits[profile.waits["kept"] > 1]
    assert set(rows["kept"]) == {CALLS >> 1}
    assert rows["calls"] == pytest.approx(CALLS)


@pytest.mark.parametrize("what", LATER)
def test_messages_and_requests_are_split_without_a_rest(
    mpi: Mpi, tmp_path: Path, what: str
) -> None:
    call, ranks = LATER[what]
    rows = rows_of(profile_of(mpi, tmp_path, "one", 200, what), call)
    assert rows["rank"].tolist() == ranks
    assert (rows["kept"] == 200).all()
    assert (rows["calls"] == 200).all()
    assert_without_a_rest(rows)


def test_of_many_messages_both_sides_keep_the_same_ones(mpi: Mpi, tmp_path: Path) -> None:
    rows = rows_of(profile_of(mpi, tmp_path, "nobody", CALLS, "irecv"), "MPI_Waitall")
    assert rows["kept"].tolist() == [CALLS >> 3] * 2
