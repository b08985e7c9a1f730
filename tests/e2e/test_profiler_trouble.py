# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Threads, processes, jumps and ends without an end: what was done is there, and no more."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.read.files import read_folder
from mpigauge.products.profile.read.rank_file import RankFile
from mpigauge.site.mpi import find
from tests.conftest import MPIS
from tests.profiled import Profiled, build, build_library, profiled, started

pytestmark = pytest.mark.mpi
CALLS = Path(__file__).resolve().parents[2] / "profiler" / "calls.inc"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {
        name: build(find(name), "trouble.cpp", tmp_path_factory.mktemp(name), "-ldl")
        for name in MPIS
    }


class Trouble:
    """Starts the program on one MPI."""

    def __init__(self, mpi: Mpi, program: Path, folder: Path) -> None:
        self.mpi, self.program, self.folder = mpi, program, folder

    def run(self, *words: str, ranks: int = 1, **settings: str) -> Profiled:
        env = {f"MPIGAUGE_PROFILE{name}": value for name, value in settings.items()}
        return profiled(self.mpi, ranks, [self.program, *words], self.folder, env)


@pytest.fixture(params=MPIS)
def everywhere(
    programs: dict[str, Path], tmp_path: Path, request: pytest.FixtureRequest
) -> Trouble:
    name = str(request.param)
    return Trouble(find(name), programs[name], tmp_path / "profile")


def calls(file: RankFile) -> Counter[str]:
    """Of what the program does itself."""
    counted: Counter[str] = Counter()
    for site in file.sites:
        counted[site.call.removeprefix("MPI_")] += site.calls
    return counted


def calls_in_regions(file: RankFile) -> Counter[tuple[str, str]]:
    counted: Counter[tuple[str, str]] = Counter()
    for site in file.sites:
        counted[site.region, site.call] += site.calls
    return counted


def only_file(done: Profiled) -> RankFile:
    assert done.status == 0, done.output + done.errors
    assert len(done.files) == 1
    return done.files[0]


def test_threads_lose_no_call(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("threads"))
    assert calls(file)["Iprobe"] == 8000
    assert file.thread_level == 3
    assert file.lost.calls == file.nested == file.cut == 0


def test_calls_of_a_child_are_not_those_of_its_parent(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("child"))
    assert calls(file)["Barrier"] == 20
    assert calls(file)["Comm_size"] == 0


def test_a_process_that_becomes_another_program_leaves_two_files(everywhere: Trouble) -> None:
    done = everywhere.run("exec")
    assert done.status == 0
    after, before = done.files
    assert after.pid == before.pid
    assert calls(before) == {"Initialized": 1}
    assert calls(after)["Barrier"] == 10
    assert (after.rank, before.rank) == (0, None)


def test_what_a_killed_rank_did_is_there(everywhere: Trouble) -> None:
    done = everywhere.run("killed", ranks=2)
    assert done.status != 0
    killed = next(file for file in done.files if file.rank == 1)
    assert killed.ended == "killed"
    assert calls(killed)["Barrier"] == 100
    (barriers,) = (site for site in killed.sites if site.call == "MPI_Barrier")
    assert barriers.seconds <= killed.run_s


@pytest.mark.parametrize("end", ["aborted", "exited"])
def test_programs_may_end_as_they_like(everywhere: Trouble, end: str) -> None:
    done = everywhere.run(end)
    plain = started(everywhere.mpi, 1, [everywhere.program, end])
    assert done.status == plain.returncode
    assert calls(done.files[0])["Barrier"] == 10


def test_calls_that_are_left_by_exceptions_and_jumps_do_no_harm(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("left"))
    assert calls(file)["Barrier"] == 100
    assert calls(file)["Send"] == 0
    assert file.cut == 100


def test_a_program_turns_its_profile_off_and_on(everywhere: Trouble) -> None:
    assert calls(only_file(everywhere.run("off_and_on")))["Barrier"] == 10


def test_a_program_starts_its_profile_anew(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("anew"))
    assert calls(file) == {"Barrier": 4, "Finalize": 1}


def test_regions_nest_and_may_begin_before_mpi(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("regions"))
    where = calls_in_regions(file)
    assert where["early", "MPI_Init_thread"] == 1
    assert where["", "MPI_Barrier"] == 1
    assert where["loop", "MPI_Barrier"] == 1
    assert where["loop/inner", "MPI_Barrier"] == 6
    assert {region.path: region.entered for region in file.regions} == {
        "early": 1,
        "loop": 1,
        "loop/inner": 3,
    }


def test_ends_without_a_beginning_change_nothing(everywhere: Trouble) -> None:
    done = everywhere.run("unbalanced", ranks=2)
    file = next(file for file in done.files if file.rank == 0)
    where = calls_in_regions(file)
    assert where["", "MPI_Barrier"] == 1
    assert where["open", "MPI_Barrier"] == 2
    (region,) = file.regions
    assert 0 < region.seconds <= file.run_s
    assert done.errors.count("mpigauge_end() was called where no region is open") == 1


def test_regions_of_threads_are_their_own(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("regions_of_threads"))
    where = calls_in_regions(file)
    assert where["all", "MPI_Iprobe"] == 3 + 4 * 7
    assert where["all/own", "MPI_Iprobe"] == 4 * 5
    assert where["all", "MPI_Barrier"] == where["", "MPI_Barrier"] == 1
    assert {region.path: region.entered for region in file.regions} == {"all": 1, "all/own": 4}


def test_a_program_may_call_before_and_after_mpi(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("around"))
    assert calls(file)["Barrier"] == 10
    assert calls(file)["Initialized"] == calls(file)["Finalized"] == 2
    assert (file.rank, file.ended) == (0, "finalized")


@pytest.mark.parametrize("when", ["early", "late"])
def test_a_call_at_a_wrong_time_ends_as_it_does_without_us(everywhere: Trouble, when: str) -> None:
    plain = started(everywhere.mpi, 1, [everywhere.program, when])
    done = everywhere.run(when)
    assert plain.returncode != 0
    assert done.status == plain.returncode


def test_a_program_may_end_without_finalize(everywhere: Trouble) -> None:
    plain = started(everywhere.mpi, 1, [everywhere.program, "unfinished"])
    done = everywhere.run("unfinished")
    assert done.status == plain.returncode
    (file,) = done.files
    assert (file.rank, file.ended) == (0, "exited")
    assert calls(file)["Barrier"] == 10


def test_programs_find_the_calls_that_their_mpi_has_and_no_others(everywhere: Trouble) -> None:
    text = CALLS.read_text(encoding="utf-8")
    names = [f"MPI_{line.split('(')[1].split(',')[0]}" for line in text.splitlines()
             if line.startswith("MPIGAUGE_CALL(")]  # fmt: skip
    words = ["asks", str(everywhere.mpi.library), "MPI_Wtime", "MPI_No_such_call", *names]
    plain = started(everywhere.mpi, 1, [everywhere.program, *words])
    done = everywhere.run(*words)
    assert done.output == plain.stdout
    assert "MPI_No_such_call 0 0" in plain.stdout
    assert "MPI_Send 1 1" in plain.stdout
    assert calls(only_file(done))["Barrier"] == 6


def test_weak_references_to_calls_that_the_mpi_lacks_are_null(
    everywhere: Trouble, tmp_path: Path
) -> None:
    library = build_library("weak.cpp", tmp_path)
    plain = started(everywhere.mpi, 1, [everywhere.program, "opens", library])
    done = everywhere.run("opens", str(library))
    assert done.output == plain.stdout
    assert "MPI_Barrier 1" in plain.stdout
    assert ("MPI_Win_create_c 0" in plain.stdout) == (everywhere.mpi.name == "openmpi")


def test_a_library_that_is_closed_makes_no_new_places(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("closes"))
    assert [site.calls for site in file.sites if site.call == "MPI_Barrier"] == [20]


def test_a_full_file_ends_the_profile_and_not_the_program(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("many_places", _FRAMES="16", _LIMIT="1000000"))
    assert file.lost.reason == "limit"
    assert calls(file)["Barrier"] + file.lost.calls >= 4096


def test_a_full_disk_ends_the_profile_and_not_the_program(
    everywhere: Trouble, small_disk: Path
) -> None:
    trouble = Trouble(everywhere.mpi, everywhere.program, small_disk)
    file = only_file(trouble.run("many_places", _FRAMES="16"))
    assert file.lost.reason == "disk"
    assert calls(file)["Barrier"] > 0


def test_a_folder_that_cannot_be_written_is_said_in_a_line(
    everywhere: Trouble, tmp_path: Path
) -> None:
    nowhere = tmp_path / "missing" / "as well"
    words = [str(everywhere.program), "plain"]
    done = profiled(everywhere.mpi, 1, words, tmp_path, {"MPIGAUGE_PROFILE": str(nowhere)})
    assert done.status == 0
    assert done.files == ()
    assert f"mpigauge profile: cannot make {nowhere}/" in done.errors


def test_a_folder_that_is_missing_is_made(everywhere: Trouble, tmp_path: Path) -> None:
    """On a host that nobody has prepared."""
    words = [str(everywhere.program), "plain"]
    folder = tmp_path / "missing"
    done = profiled(everywhere.mpi, 2, words, tmp_path, {"MPIGAUGE_PROFILE": str(folder)})
    assert (done.status, done.errors) == (0, "")
    assert [file.rank for file in read_folder(folder)] == [0, 1]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_window_keeps_its_communicator(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("window_alone"))
    puts = [n for n, site in enumerate(file.sites) if site.call == "MPI_Put"]
    cells = file.cells[np.isin(file.cells["site"], puts)]
    assert (cells["count"].sum(), cells["amount"].sum()) == (2, 16)
    assert {*cells["least"], *cells["most"]} == {8}
    assert {file.comms[int(number)].maker for number in cells["comm"]} == {"MPI_Comm_dup"}


def test_a_message_from_nobody_outlives_its_communicator(everywhere: Trouble) -> None:
    file = only_file(everywhere.run("message_from_nobody"))
    assert calls(file)["Mrecv"] == 2
