# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs with a known pattern come out of the profiler with exactly that, on all MPIs."""

from __future__ import annotations

import numpy as np
import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.match.merge import Profile, Spot, merged
from mpigauge.products.profile.read.rank_file import bin_edges
from mpigauge.site.mpi import find
from tests.conftest import ABIS
from tests.profiled import Profiled, build, profiled
from tests.profiled.pattern import counted, differences, pattern, sections_of

pytestmark = pytest.mark.mpi
RANKS = 3


@pytest.fixture(scope="module", params=ABIS)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return find(str(request.param))


@pytest.fixture(scope="module")
def job(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    folder = tmp_path_factory.mktemp(mpi.name)
    program = build(mpi, "pattern.cpp", folder)
    done = profiled(mpi, RANKS, [program, folder / "data"], folder / "profile")
    assert done.status == 0, done.output + done.errors
    return done


@pytest.fixture(scope="module")
def profile(job: Profiled) -> Profile:
    return merged(job.files)


@pytest.fixture(scope="module")
def sections(profile: Profile) -> dict[Spot, str]:
    return sections_of(profile)


@pytest.mark.parametrize("rank", range(RANKS))
def test_calls_bytes_and_peers_of_every_class_are_exact(
    profile: Profile, sections: dict[Spot, str], rank: int
) -> None:
    assert differences(counted(profile, sections, rank), pattern(rank, RANKS)) == {}


def test_a_cell_has_its_smallest_and_its_largest_message(
    profile: Profile, sections: dict[Spot, str]
) -> None:
    of = [n for n, spot in enumerate(profile.spots) if sections[spot] == "sizes"]
    cells = [cell for cell in profile.cells if cell["site"] in of]
    assert len(cells) == RANKS * 3  # sent, received, and of the collective
    assert {(int(cell["least"]), int(cell["most"])) for cell in cells} == {(64, 127)}


def test_each_call_s_time_is_in_its_bin(job: Profiled) -> None:
    """The shortest and the longest call are in the first and the last bin that has any."""
    for file in job.files:
        edges = bin_edges() / file.hz
        for site in file.sites:
            used = np.flatnonzero(site.times)
            assert site.times.sum() == site.calls
            assert edges[used[0]] <= site.least_s * (1 + 1e-9)
            assert site.least_s < edges[used[0] + 1]
            assert edges[used[-1]] <= site.most_s * (1 + 1e-9)
            assert site.most_s < edges[used[-1] + 1]


def test_ranks_share_their_sites_whatever_their_addresses(profile: Profile) -> None:
    ranks_of = [profile.rows["rank"][profile.rows["site"] == n] for n in range(len(profile.spots))]
    assert {len(ranks) for ranks in ranks_of} == {RANKS}


def test_a_site_is_one_stack(profile: Profile, sections: dict[Spot, str]) -> None:
    where = [(sections[spot], spot.call) for spot in profile.spots]
    assert where.count(("recursion", "MPI_Barrier")) == 8  # from below all levels
    assert where.count(("in_variable_frame", "MPI_Barrier")) == 1
    assert where.count(("communicators", "MPI_Allreduce")) == 2  # two lines
    deepest = next(spot for spot in profile.spots if sections[spot] == "recursion")
    assert len(deepest.frames) == 8


def test_failed_calls_are_counted_and_move_nothing(
    profile: Profile, sections: dict[Spot, str]
) -> None:
    failed = [n for n, spot in enumerate(profile.spots) if sections[spot] == "failures"]
    rows = profile.rows[[row["site"] in failed for row in profile.rows]]
    assert set(rows["failures"]) == {0, 3}
    assert not any(cell["amount"] for cell in profile.cells if cell["site"] in failed)


def test_communicators_are_known_by_ranks_name_and_maker(profile: Profile) -> None:
    comms = {comm.maker: comm for comm in profile.comms}
    world = next(comm for comm in profile.comms if comm.name == "MPI_COMM_WORLD")
    turned = next(comm for comm in profile.comms if comm.name == "turned round")
    assert world.members == tuple(range(RANKS))
    assert turned.members == tuple(reversed(range(RANKS)))
    assert comms["MPI_Comm_dup"].births == 10
    assert comms["MPI_Intercomm_create"].remote_size > 0
    assert profile.files[0].comms[comms["MPI_Comm_dup"].parent].name == "MPI_COMM_WORLD"


def test_ranks_say_what_they_are(job: Profiled, mpi: Mpi) -> None:
    assert [file.rank for file in job.files] == list(range(RANKS))
    for file in job.files:
        assert file.ranks == RANKS
        assert file.abi == mpi.abi
        assert file.words[0].endswith("pattern")
        assert file.ended == "finalized"
        assert file.lost.calls == file.lost.cells == 0
        assert file.usage.peak_bytes > 0
        assert file.library
    assert len({file.job for file in job.files}) == 1


def test_times_are_whole(profile: Profile) -> None:
    """No time is known beforehand; but parts and wholes fit together."""
    for rank, file in enumerate(profile.files):
        rows = profile.rows[profile.rows["rank"] == rank]
        assert all(rows["least_s"] <= rows["p50_s"])
        assert all(rows["p50_s"] <= rows["p99_s"])
        assert all(rows["p99_s"] <= rows["most_s"])
        assert all(rows["seconds"] <= rows["most_s"] * rows["calls"] * (1 + 1e-9))
        assert profile.mpi_s[rank] <= file.run_s
        in_steps = sum(line.mpi_s.sum() for line in file.timelines)
        assert in_steps == pytest.approx(file.mpi_s, rel=1e-6)
