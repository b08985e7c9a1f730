# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs that the profiler is linked to: on all MPIs, with an MPI linked statically, and fully
static ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.launch.library import archive, include
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.site.mpi import find
from mpigauge.site.mpi.programs.elf import read_elf
from tests.conftest import ABIS
from tests.e2e.commands import mpigauge
from tests.profiled import HERE, build, profiled, started
from tests.profiled.pattern import counted, differences, pattern, sections_of

pytestmark = pytest.mark.mpi
RANKS = 2
ONE_RANK = ["alone.c", "one_rank.c"]


@pytest.fixture(scope="module", params=ABIS)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return find(str(request.param))


def test_calls_of_a_program_that_is_linked_to_it_are_exact(mpi: Mpi, tmp_path: Path) -> None:
    program = build(mpi, "pattern.cpp", tmp_path, str(archive()))
    assert read_elf(program).holds_profiler
    plain = started(mpi, RANKS, [program, tmp_path / "data"])
    assert plain.returncode == 0, plain.stderr
    told = {"LD_PRELOAD": ""}
    done = profiled(mpi, RANKS, [program, tmp_path / "data"], tmp_path / "profile", told)
    assert done.status == 0, done.errors
    assert sorted(done.output.splitlines()) == sorted(plain.stdout.splitlines())
    profile = merged(done.files)
    for rank in range(RANKS):
        found = counted(profile, sections_of(profile), rank)
        assert differences(found, pattern(rank, RANKS)) == {}


def test_a_program_may_be_linked_to_it_and_have_it_preloaded(mpi: Mpi, tmp_path: Path) -> None:
    program = build(mpi, "pattern.cpp", tmp_path, str(archive()))
    done = profiled(mpi, RANKS, [program, tmp_path / "data"], tmp_path / "profile")
    assert done.status == 0, done.errors
    assert [file.rank for file in done.files] == list(range(RANKS))
    profile = merged(done.files)
    assert differences(counted(profile, sections_of(profile), 0), pattern(0, RANKS)) == {}


@pytest.mark.parametrize("options", [[], ["-static"], ["-static-pie"], ["-no-pie", "-O2"]])
def test_a_program_with_its_mpi_within_is_seen(tmp_path: Path, options: list[str]) -> None:
    words = ["gcc", "-g", *options, f"-I{include()}", *(str(HERE / name) for name in ONE_RANK)]
    words.insert(-1, str(archive()))
    linked = subprocess.run(
        [*words, "-o", "alone"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if "-static" in " ".join(options) and "cannot find -lc" in linked.stderr:
        pytest.skip("the C library cannot be linked statically here")
    assert linked.returncode == 0, linked.stderr
    done = mpigauge("profile", "--output", "out", "--", "./alone", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
    assert "no call is seen" not in done.stderr
    assert "1 of 1 rank seen" in done.stderr
    (job,) = load_jobs(tmp_path / "out")
    account = Account(job)
    sums, barriers = (
        [each for each in account.inside if each.spot.call == call]
        for call in ("MPI_Allreduce", "MPI_Barrier")  # compilers make several of one in a loop
    )
    assert (sum(each.calls for each in sums), sum(each.sent for each in sums)) == (5, 5 * 3 * 8)
    assert (sum(each.calls for each in barriers), {each.spot.region for each in barriers}) == (
        *(4, {"quiet"}),
    )
    assert all(each.where.startswith("main at alone.c:") for each in barriers)


def test_without_the_profiler_such_a_program_is_what_it_was(tmp_path: Path) -> None:
    words = ["gcc", f"-I{include()}", str(HERE / "alone.c"), str(archive())]
    subprocess.run([*words, str(HERE / "one_rank.c"), "-o", "alone"], cwd=tmp_path, check=True)
    done = subprocess.run(["./alone"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("3\n", "")


def test_the_archive_is_named_by_a_command(tmp_path: Path) -> None:
    done = mpigauge("profile", "--archive", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{archive()}\n"
