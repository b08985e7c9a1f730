# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge profile` with real programs and launchers, on each MPI."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.launch.library import archive, include
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import headers
from tests import patience
from tests.e2e.cluster import needs_root
from tests.e2e.commands import command, mpigauge, preload
from tests.profiled import HERE

pytestmark = pytest.mark.mpi
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SUMS = 20
SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <unistd.h>
static void sums(void) {
  double in = 1, out;
  for (int i = 0; i < 20; i++) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
int main(int count, char** words) {
  int rank;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sums();
  if (count > 2 && rank == 1) raise(SIGKILL);
  if (rank == 0) printf("done\\n");
  fflush(stdout);
  if (count > 1 && words[1][0] == 'w') pause();
  MPI_Finalize();
  return count > 1 ? atoi(words[1]) : 0;
}
"""


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(f"profile-{mpi.name}")
    (folder / "app.c").write_text(SOURCE)
    words = ["gcc", "-g", "-O1", "-isystem", str(headers(mpi)), "app.c", "-o", "app"]
    subprocess.run([*words, str(mpi.library)], cwd=folder, check=True)
    return folder / "app"


def launcher_env(mpi: Mpi) -> dict[str, str]:
    return {**mpi.env, **AS_ROOT, "PATH": f"{mpi.mpiexec.parent}:{os.environ['PATH']}"}


def the_run(folder: Path) -> Path:
    (run,) = (folder / "mpigauge-runs").iterdir()
    return run


def account(folder: Path) -> Account:
    (job,) = load_jobs(the_run(folder))
    return Account(job)


def test_a_users_own_line_is_profiled_and_stays_what_it_was(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    words = ("mpiexec", "-n", "2", str(program), "3")
    done = mpigauge("profile", "--", *words, cwd=tmp_path, env=launcher_env(mpi))
    assert done.returncode == 3, done.stderr
    assert done.stdout == "done\n"
    assert "2 of 2 ranks seen" in done.stderr
    found = account(tmp_path)
    top = next(each for each in found.sites if each.spot.call == "MPI_Allreduce")
    assert (top.calls, top.sent) == (2 * SUMS, 2 * SUMS * 8)
    assert top.where.startswith("sums at app.c:")
    assert mpi.version in mpigauge("ls", cwd=tmp_path).stdout
    shown = mpigauge("show", "last", cwd=tmp_path)
    assert "Allreduce  sums at app.c" in shown.stdout
    asked = "SELECT value FROM figures WHERE name = 'calls of MPI_Allreduce'"
    answer = mpigauge("sql", asked, "--format", "json", cwd=tmp_path)
    assert json.loads(answer.stdout) == [{"value": 2.0 * SUMS}]


def test_a_program_is_launched_by_us_several_times(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    options = ("--launches", "2", "--mpi", str(mpi.spec), "--np", "2")
    done = mpigauge("profile", *options, "--", str(program), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\ndone\n"
    assert "2 launches" in done.stderr
    assert len(load_jobs(the_run(tmp_path))) == 2


def test_a_script_may_start_the_launcher(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    script = tmp_path / "go.sh"
    script.write_text(f"#!/bin/sh\necho begin\nmpiexec -n 2 {program}\n")
    script.chmod(0o755)
    done = mpigauge("profile", "./go.sh", cwd=tmp_path, env=launcher_env(mpi))
    assert (done.returncode, done.stdout) == (0, "begin\ndone\n"), done.stderr
    assert "2 of 2 ranks seen" in done.stderr


def test_what_a_killed_rank_did_until_then_is_there(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    words = ("mpiexec", "-n", "2", str(program), "0", "die")
    done = mpigauge("profile", "--", *words, cwd=tmp_path, env=launcher_env(mpi))
    assert done.returncode != 0
    found = account(tmp_path)
    killed = [file.rank for file in found.ranks if file.ended == "killed"]
    assert 1 in killed
    sums = next(each for each in found.sites if each.spot.call == "MPI_Allreduce")
    assert sums.calls_of[1] == SUMS


def test_ranks_that_we_launch_sit_where_they_shall(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two ranks with a core each need two cores")
    options = ("--mpi", str(mpi.spec), "--np", "2", "--place", "compact")
    done = mpigauge("profile", *options, "--", str(program), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    cores = [set(file.cpus) for file in account(tmp_path).ranks]
    assert all(cores)
    assert not cores[0] & cores[1]


def test_a_program_without_launcher_is_one_rank(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    done = mpigauge("profile", "--", str(program), cwd=tmp_path, env=launcher_env(mpi))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "runs as one rank" in done.stderr
    assert "1 of 1 rank seen" in done.stderr


def test_what_is_preloaded_already_stays(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    theirs = preload(tmp_path, "int theirs = 1;")
    env = {**launcher_env(mpi), "LD_PRELOAD": str(theirs)}
    words = ("mpiexec", "-n", "2", "sh", "-c", f"echo $LD_PRELOAD; exec {program}")
    done = mpigauge("profile", "--", *words, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert f"LD_PRELOAD is set already ({theirs}): that is kept" in done.stderr
    told = [line for line in done.stdout.splitlines() if line != "done"]
    assert [line.partition(":")[2] for line in told] == [str(theirs)] * 2
    assert "2 of 2 ranks seen" in done.stderr


def test_several_jobs_of_a_script_are_told(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    line = f"mpiexec -n 1 {program}; mpiexec -n 2 {program}; true"
    done = mpigauge("profile", "sh", "-c", line, cwd=tmp_path, env=launcher_env(mpi))
    assert done.stdout == "done\ndone\n", done.stderr
    assert "app: 2 ranks" in done.stderr
    assert "- job 0, app: 1 rank, run time" in done.stderr
    alone = mpigauge("show", "last", "--job", "0", cwd=tmp_path)
    assert alone.stdout.startswith("app: 1 rank "), alone.stderr


def profile_of_spawns(mpi: Mpi, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A profile of spawns.c with these arguments."""
    shutil.copy(HERE / "spawns.c", folder / "spawns.c")
    build = ["gcc", "-g", "-isystem", str(headers(mpi)), "spawns.c", "-o", "spawns"]
    subprocess.run([*build, str(mpi.library)], cwd=folder, check=True)
    env = {**launcher_env(mpi), "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    env["I_MPI_SPAWN"] = "on"
    line = ["mpiexec", "-n", "1", "./spawns", *words]
    done = mpigauge("profile", "--", *line, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    return done


def test_a_rank_that_was_spawned_alone_is_not_apart(mpi: Mpi, tmp_path: Path) -> None:
    """It inherits the variables of the launcher that started its parents."""
    done = profile_of_spawns(mpi, tmp_path, "one")
    _, child = load_jobs(the_run(tmp_path))
    assert [each.launched for each in child.ranks] == [1]
    assert not child.is_apart
    assert "do not see each other" not in done.stderr


def test_spawned_ranks_and_their_parent_are_both_there(mpi: Mpi, tmp_path: Path) -> None:
    done = profile_of_spawns(mpi, tmp_path)
    parent, children = load_jobs(the_run(tmp_path))
    assert [len(parent.ranks), len(children.ranks)] == [1, 2]
    assert [each.spot.call for each in Account(parent).sites].count("MPI_Comm_spawn") == 1
    assert max(each.calls for each in Account(children).sites) == 2 * 7
    assert "- job 0, spawns: 1 rank" in done.stderr


def test_a_profile_through_a_front_counts_the_calls_of_the_program_alone(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    """The library that checks ranks behind a front calls MPI, too."""
    mpigauge("mpi", "front", "front", "--mpi", mpi.spec, cwd=tmp_path)
    env = {**launcher_env(mpi), "PATH": f"{tmp_path / 'front'}:{os.environ['PATH']}"}
    words = ("mpiexec", "-n", "2", str(program))
    done = mpigauge("profile", "--", *words, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert {
        each.spot.call.removeprefix("MPI_"): each.calls for each in account(tmp_path).sites
    } == {
        "Allreduce": 2 * SUMS,
        "Comm_rank": 2,
        "Init": 2,
        "Finalize": 2,
    }


def test_a_static_program_runs_and_is_told(tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text('#include <stdio.h>\nint main() { puts("hello"); }\n')
    words = ["gcc", "-static", "app.c", "-o", "app"]
    if subprocess.run(words, cwd=tmp_path, check=False).returncode:
        pytest.skip("the C library cannot be linked statically here")
    done = mpigauge("profile", "./app", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "./app is statically linked" in done.stderr
    assert "no rank was seen" in done.stderr


def one_rank(folder: Path, *more: str) -> Path:
    """A program with an MPI of one rank in it."""
    sources = [str(HERE / "alone.c"), *more, str(HERE / "one_rank.c")]
    words = ["gcc", "-g", f"-I{include()}", *sources, "-o", "alone"]
    subprocess.run(words, cwd=folder, check=True)
    return folder / "alone"


@needs_root
@pytest.mark.parametrize("linked", [False, True])
def test_a_program_with_anothers_rights_runs_and_is_told(tmp_path: Path, linked: bool) -> None:
    if os.statvfs(tmp_path).f_flag & os.ST_NOSUID:
        pytest.skip("no program gets another's rights in this folder")
    program = one_rank(tmp_path, *([str(archive())] if linked else []))
    nobody = 65534
    os.chown(program, nobody, nobody)
    program.chmod(0o4755)
    done = mpigauge("profile", "./alone", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert "./alone runs with another's rights (setuid)" in done.stderr
    assert "no rank was seen" in done.stderr


def test_an_mpi_of_an_unknown_abi_runs_and_is_told(tmp_path: Path) -> None:
    flags = ["-shared", "-fPIC", str(HERE / "one_rank.c")]
    subprocess.run(["gcc", *flags, "-o", "libodd.so"], cwd=tmp_path, check=True)
    words = ["gcc", f"-I{include()}", str(HERE / "alone.c"), "./libodd.so", "-o", "alone"]
    subprocess.run([*words, f"-Wl,-rpath,{tmp_path}"], cwd=tmp_path, check=True)
    done = mpigauge("profile", "./alone", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "3\n")
    said = "the MPI of this program has an ABI that mpigauge does not know; it is not profiled"
    assert done.stderr.count(said) == 1
    assert "no rank was seen" in done.stderr


def test_a_program_with_two_mpis_runs_and_is_told(mpi: Mpi, tmp_path: Path) -> None:
    """What it was linked to first is what it calls."""
    if mpi.name == "intel":
        pytest.skip("its libfabric takes the place of that which the other MPI needs")
    other = find("openmpi" if mpi.abi == "mpich" else "mpich")
    (tmp_path / "app.c").write_text(SOURCE)
    words = ["gcc", "-isystem", str(headers(mpi)), "app.c", "-o", "app", "-Wl,--no-as-needed"]
    for each in (mpi, other):
        words += [str(each.library), f"-Wl,-rpath,{each.library.parent}"]
    subprocess.run(words, cwd=tmp_path, check=True)
    line = ("mpiexec", "-n", "2", "./app")
    done = mpigauge("profile", "--", *line, cwd=tmp_path, env=launcher_env(mpi))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "./app loads two MPIs" in done.stderr
    assert "2 of 2 ranks seen" in done.stderr
    assert {file.abi for file in account(tmp_path).ranks} == {mpi.abi}


def test_two_profiles_are_compared(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    words = ("--mpi", str(mpi.spec), "--np", "2")
    for name in ("before", "after"):
        done = mpigauge("profile", *words, "--output", name, "--", str(program), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    compared = mpigauge("compare", "before", "after", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    assert "Allreduce in sums" in compared.stdout
    assert "decide nothing" in " ".join(compared.stdout.split())
    page = mpigauge("report", "before", "-o", "page.html", cwd=tmp_path)
    assert page.returncode == 0, page.stderr
    assert "sums at app.c:" in (tmp_path / "page.html").read_text()


def test_a_program_that_is_ended_leaves_its_profile(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    """What would end mpigauge ends the program, and what was seen is stored."""
    words = ("profile", "--", "mpiexec", "-n", "2", str(program), "wait")
    process = subprocess.Popen(
        command(words),
        cwd=tmp_path,
        env={**os.environ, **launcher_env(mpi)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        process.send_signal(signal.SIGTERM)
        _, errors = patience.communicate(process)
    assert process.returncode != 0
    assert "did not end in order" in errors
    sums = next(each for each in account(tmp_path).sites if each.spot.call == "MPI_Allreduce")
    assert sums.calls == 2 * SUMS


def test_a_program_without_mpi_runs_and_is_told(tmp_path: Path) -> None:
    done = mpigauge("profile", "--", "sh", "-c", "echo hello; exit 5", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (5, "hello\n")
    assert "no rank was seen" in done.stderr


def test_a_full_disk_keeps_no_program_from_running(
    mpi: Mpi, program: Path, small_disk: Path, tmp_path: Path
) -> None:
    env = launcher_env(mpi)
    output = small_disk / "run"
    filled = small_disk / "filler"
    script = tmp_path / "go.sh"
    script.write_text(
        f"#!/bin/sh\nmpiexec -n 2 {program}\ndd if=/dev/zero of={filled} bs=1k 2>/dev/null\ntrue\n"
    )
    script.chmod(0o755)
    words = ("profile", "--output", str(output), "./go.sh")
    done = mpigauge(*words, cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "No space left on device" in done.stderr
    shutil.rmtree(output)
