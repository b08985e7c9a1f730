# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge exec` and `mpigauge mpi front`: programs made for each MPI, on each MPI."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.runs.store import load
from mpigauge.site.builds import folders
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import headers
from mpigauge.site.mpi.programs import look
from tests import patience
from tests.conftest import MPIS
from tests.e2e.commands import command, mpigauge

pytestmark = pytest.mark.mpi
SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char** words) {
  int rank, size, sum, status;
  char line[99] = "";
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rank++;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 1) {
    const char* told = getenv("TOLD");
    if (count > 2 && fgets(line, sizeof line, stdin)) fputs(line, stdout);
    printf("%d ranks, sum %d, told %s\\n", size, sum, told ? told : "nothing");
    fprintf(stderr, "to stderr\\n");
  }
  fflush(stdout);
  status = count > 1 ? atoi(words[1]) : 0;
  if (status < 0) pause();
  MPI_Finalize();
  return status;
}
"""
SAID = "2 ranks, sum 3, told nothing\n"
ALONE = """#!/bin/sh
for name in $(env | sed -n 's/^\\(\\(PMI\\|PMIX\\|OMPI\\|PRTE\\|HYD\\)[^=]*\\)=.*/\\1/p'); do
  unset $name
done
exec "$@"
"""


@pytest.fixture(scope="session", params=MPIS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made for each MPI, and bound to it by an RPATH, which goes before LD_LIBRARY_PATH."""
    made_for = find(str(request.param))
    folder = tmp_path_factory.mktemp(f"exec-{made_for.name}")
    (folder / "app.c").write_text(SOURCE)
    words = ["gcc", "-O1", "-isystem", str(headers(made_for)), "app.c", "-o", "app"]
    bound = f"-Wl,--disable-new-dtags,-rpath,{made_for.library.parent}"
    subprocess.run([*words, str(made_for.library), bound], cwd=folder, check=True)
    return folder / "app"


@pytest.fixture(scope="session")
def plain(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made for an MPI of the same ABI, whose library it does not know where to find."""
    name = "openmpi" if mpi.abi == "ompi" else "mpich"
    return made_for(name, tmp_path_factory.mktemp(f"exec-plain-{mpi.name}"))


def made_for(name: str, folder: Path) -> Path:
    """A program in this folder, made for this MPI."""
    own = find(name)
    folder.mkdir(exist_ok=True)
    (folder / "app.c").write_text(SOURCE)
    words = ["gcc", "-O1", "-isystem", str(headers(own)), "app.c", "-o", "app"]
    subprocess.run([*words, str(own.library)], cwd=folder, check=True)
    return folder / "app"


def is_of_another_abi(program: Path, mpi: Mpi) -> bool:
    return look([str(program)], {}).abis != (mpi.abi,)


def on(
    mpi: Mpi, *words: str, cwd: Path, np: int = 2, **more: str
) -> subprocess.CompletedProcess[str]:
    options = ("--mpi", mpi.spec, "--np", str(np), "--oversubscribe")
    return mpigauge("exec", *options, "--", *words, cwd=cwd, env=more)


def test_each_program_runs_on_each_mpi_and_stays_what_it_was(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    done = on(mpi, str(program), "3", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, SAID), done.stderr
    assert "to stderr" in done.stderr
    assert f"2 ranks on {mpi.label}, which see each other" in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_would_be_done_is_said_and_not_done(mpi: Mpi, plain: Path, tmp_path: Path) -> None:
    options = ("--mpi", mpi.spec, "--np", "2", "--oversubscribe", "--env", "TOLD=x", "--dry-run")
    done = mpigauge("exec", *options, "--", str(plain), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{plain} " in done.stdout.splitlines()[0]
    assert "2 ranks" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert str(mpi.mpiexec) in last
    assert "LD_PRELOAD" in last
    assert "TOLD" in last
    assert "sum" not in done.stdout


def test_no_kernels_are_built_to_run_a_program(mpi: Mpi, plain: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    done = on(mpi, str(plain), "3", cwd=tmp_path, MPIGAUGE_CACHE=str(cache))
    assert done.returncode == 3, done.stderr
    assert "kernels" not in done.stderr
    assert not (cache / "kernels").exists()


def test_ranks_that_fall_apart_are_found(mpi: Mpi, plain: Path, tmp_path: Path) -> None:
    (tmp_path / "alone.sh").write_text(ALONE)
    (tmp_path / "alone.sh").chmod(0o755)
    done = on(mpi, "./alone.sh", str(plain), "-1", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "the ranks do not see each other: 2 were started, and rank 0 is in a world of 1" in (
        done.stderr
    )


def test_a_program_that_loads_another_mpi_all_the_same_is_found(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    """A script takes away what we have preloaded, but not the witness. Ranks that the launcher of
    another MPI starts may also end within MPI_Init."""
    if is_of_another_abi(program, mpi) or mpi.name in program.parent.name:
        pytest.skip("it is not for this MPI, or for this one only")
    (tmp_path / "back.sh").write_text(
        '#!/bin/sh\nexport LD_PRELOAD="${LD_PRELOAD%%:*}"\nunset LD_LIBRARY_PATH\nexec "$@"\n'
    )
    (tmp_path / "back.sh").chmod(0o755)
    done = on(mpi, "./back.sh", str(program), "-1", cwd=tmp_path)
    assert done.returncode != 0
    found = (f"not on {mpi.label}", "do not see each other", "no rank was seen")
    assert any(words in done.stderr for words in found), done.stderr


def test_one_rank_on_another_mpi_ends_the_job(
    mpi: Mpi, plain: Path, program: Path, tmp_path: Path
) -> None:
    """Mixed binaries: the others would wait in MPI_Init for a rank that they cannot see."""
    if mpi.name in program.parent.name:
        pytest.skip("it is for this MPI")
    (tmp_path / "mixed.sh").write_text(
        '#!/bin/sh\n[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ] && exec "$1"\n'
        'export LD_PRELOAD="${LD_PRELOAD%%:*}"\nunset LD_LIBRARY_PATH\nexec "$2"\n'
    )
    (tmp_path / "mixed.sh").chmod(0o755)
    done = on(mpi, "./mixed.sh", str(plain), str(program), cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "mpigauge: rank 1 runs on " in done.stderr
    assert f", not on {mpi.label}" in done.stderr


def test_a_rank_that_ends_without_mpi_ends_the_job(mpi: Mpi, plain: Path, tmp_path: Path) -> None:
    """As where a library is not there: Hydra would let the others wait for it, and of Open MPI
    the launcher may stay without ranks."""
    (tmp_path / "lost.sh").write_text(
        '#!/bin/sh\n[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] && exit 127\nexec "$@"\n'
    )
    (tmp_path / "lost.sh").chmod(0o755)
    done = on(mpi, "./lost.sh", str(plain), cwd=tmp_path)
    assert done.returncode != 0, done.stderr
    found = ("rank 1 has ended without MPI_Init", "exited with non-zero", "all ranks have ended")
    assert any(words in done.stderr for words in found), done.stderr


def test_a_rank_that_comes_late_is_waited_for(mpi: Mpi, plain: Path, tmp_path: Path) -> None:
    """For longer than it takes to find one that has ended."""
    (tmp_path / "late.sh").write_text(
        '#!/bin/sh\n[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] && sleep 6\nexec "$@"\n'
    )
    (tmp_path / "late.sh").chmod(0o755)
    done = on(mpi, "./late.sh", str(plain), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, SAID), done.stderr
    assert f"2 ranks on {mpi.label}, which see each other" in done.stderr


def test_signals_go_to_the_program(mpi: Mpi, plain: Path, tmp_path: Path) -> None:
    options = ("--mpi", mpi.spec, "--np", "1", "--")
    process = subprocess.Popen(
        command(("exec", *options, str(plain), "-1")),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "1 ranks, sum 1, told nothing\n"
    process.send_signal(signal.SIGTERM)
    output, errors = patience.communicate(process)
    assert process.returncode != 0, (output, errors)


def test_input_is_the_programs(mpi: Mpi, plain: Path, tmp_path: Path) -> None:
    words = command(("exec", "--mpi", mpi.spec, "--np", "1", "--", str(plain), "0", "reads"))
    done = subprocess.run(
        words, cwd=tmp_path, input="a line\n", capture_output=True, text=True, check=False
    )
    assert done.stdout == "a line\n1 ranks, sum 1, told nothing\n", done.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("/bin/cat",), "/bin/cat is not a program of MPI"),
        (("./none",), "there is no program ./none"),
        (("mpirun", "-np", "2", "./app"), "mpirun starts ranks itself"),
    ],
)
def test_wrong_words_are_refused(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    done = mpigauge("exec", "--mpi", "mpich", "--np", "1", "--", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_number_of_ranks_has_to_be_said(plain: Path, tmp_path: Path) -> None:
    done = mpigauge("exec", "--mpi", "mpich", "--", str(plain), cwd=tmp_path)
    assert done.returncode == 2
    assert "give the number of ranks of" in done.stderr
    assert "with --np N" in done.stderr


BELOW = ("usr", "lib", "lib64", "bin", "dev", "proc", "sys", "tmp")
CONTAINER = """
set -e
for folder in $BELOW; do
  [ -e "/$folder" ] || continue
  mkdir -p "image/$folder"
  mount --rbind "/$folder" "image/$folder"
done
for folder in $BOUND; do
  mkdir -p "image$folder"
  mount --bind "$folder" "image$folder"
done
exec "$@"
"""


@pytest.mark.parametrize("namespaces", ["--mount", "--user --map-root-user --mount"])
def test_the_hosts_mpi_is_bound_into_an_image(
    mpi: Mpi, plain: Path, namespaces: str, tmp_path: Path
) -> None:
    """As Apptainer does it, with a mount namespace and chroot, which takes the rights of root, or
    those that everybody has in a namespace of users."""
    unshare = ["unshare", *namespaces.split(), "--propagation", "private"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip(f"cannot make namespaces ({namespaces})")
    (tmp_path / "image/app").mkdir(parents=True)
    shutil.copy(plain, tmp_path / "image/app/app")
    options = ("--mpi", mpi.spec, "--abi", mpi.abi, "--np", "2", "--oversubscribe")
    words = command(("exec", *options, "--", "chroot", "image", "/app/app"))
    bound = f"{mpi.prefix} {folders.cache()}"
    env = {**os.environ, "BELOW": " ".join(BELOW), "BOUND": bound}
    done = patience.run([*unshare, "sh", "-c", CONTAINER, "sh", *words], cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (0, SAID), done.stderr
    assert f"2 ranks on {mpi.label}, which see each other" in done.stderr


# --- fronts ---------------------------------------------------------------------------------------
LINES = {
    "openmpi": "mpirun -np 2 --oversubscribe -x TOLD=front --report-bindings APP",
    "hydra": "mpiexec -n 2 -genv TOLD front -prepend-rank APP",
    "platform": "mpirun -np 2 -e TOLD=front -prot -TCP -subnet localhost APP",
}
WITHOUT = {"openmpi": "--report-bindings", "hydra": "-prepend-rank", "platform": "-prot"}


@pytest.mark.parametrize("dialect", LINES)
def test_a_script_starts_on_the_mpi_of_the_front(
    mpi: Mpi, plain: Path, dialect: str, tmp_path: Path
) -> None:
    done = mpigauge("mpi", "front", "front", "--mpi", mpi.spec, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "vendor.sh").write_text(f"#!/bin/sh\n{LINES[dialect].replace('APP', str(plain))}\n")
    path = f"{tmp_path / 'front'}:{os.environ['PATH']}"
    words = ["sh", "vendor.sh"]
    done = patience.run(words, cwd=tmp_path, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2 ranks, sum 3, told front\n"
    assert f"has no counterpart of {WITHOUT[dialect]}" in done.stderr


def test_a_front_with_an_abi_starts_a_program_behind_a_script(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    """Without --abi the script takes its own MPI, whose ranks may not see each other; then the
    message names the option."""
    wrapper = tmp_path / "wrapper.sh"
    wrapper.write_text(f"#!/bin/sh\nexec {program}\n")
    wrapper.chmod(0o755)
    (abi,) = look([str(program)], dict(os.environ)).abis[:1]
    path = f"{tmp_path / 'front'}:{os.environ['PATH']}"
    words = ["mpirun", "-np", "2", "./wrapper.sh"]
    mpigauge("mpi", "front", "front", "--mpi", mpi.spec, "--abi", abi, cwd=tmp_path)
    done = patience.run(words, cwd=tmp_path, env={**os.environ, "PATH": path})
    assert (done.returncode, done.stdout) == (0, SAID), done.stderr
    if is_of_another_abi(program, mpi):
        mpigauge("mpi", "front", "front", "--mpi", mpi.spec, cwd=tmp_path)
        done = patience.run(words, cwd=tmp_path, env={**os.environ, "PATH": path})
        assert done.returncode != 0
        assert "./wrapper.sh is a script" in done.stderr
        assert "with --abi" in done.stderr, done.stderr


def test_several_programs_of_a_file_start_together(mpi: Mpi, plain: Path, tmp_path: Path) -> None:
    mpigauge("mpi", "front", "front", "--mpi", mpi.spec, cwd=tmp_path)
    (tmp_path / "apps").write_text(f"-np 1 -e TOLD=first {plain}\n-np 1 {plain} 0\n")
    path = f"{tmp_path / 'front'}:{os.environ['PATH']}"
    done = patience.run(["mpirun", "-f", "apps"], cwd=tmp_path, env={**os.environ, "PATH": path})
    assert (done.returncode, done.stdout) == (0, "2 ranks, sum 3, told first\n"), done.stderr
    env = {**os.environ, "PATH": path, "MPIRUN_OPTIONS": "-e TOLD=%TOLD,all"}
    done = patience.run(["mpirun", "-f", "apps"], cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (0, "2 ranks, sum 3, told first,all\n"), done.stderr


@pytest.mark.parametrize(
    ("first", "found"), [("-envnone", "nothing"), ("-envlist TOLD", "here"), ("", "here")]
)
def test_ranks_find_no_more_than_the_line_lists(
    mpi: Mpi, plain: Path, first: str, found: str, tmp_path: Path
) -> None:
    """Rank 0 says what it finds; the first program's variables are not those of the second."""
    mpigauge("mpi", "front", "front", "--mpi", mpi.spec, cwd=tmp_path)
    (tmp_path / "apps").write_text(f"-n 1 {first} {plain}\n-n 1 -env TOLD second {plain}\n")
    env = {**os.environ, "PATH": f"{tmp_path / 'front'}:{os.environ['PATH']}", "TOLD": "here"}
    done = patience.run(["mpiexec.hydra", "-configfile", "apps"], cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (0, f"2 ranks, sum 3, told {found}\n"), done.stderr


def test_programs_of_two_abis_run_in_one_job(mpi: Mpi, tmp_path: Path) -> None:
    made = [made_for(name, tmp_path / name) for name in ("mpich", "openmpi")]
    mpigauge("mpi", "front", "front", "--mpi", mpi.spec, cwd=tmp_path)
    path = f"{tmp_path / 'front'}:{os.environ['PATH']}"
    words = ["mpirun", "-np", "1", str(made[0]), ":", "-np", "1", str(made[1])]
    done = patience.run(words, cwd=tmp_path, env={**os.environ, "PATH": path})
    assert (done.returncode, done.stdout) == (0, SAID), done.stderr
    assert "it runs there through a translation" in done.stderr


# --- the other commands ---------------------------------------------------------------------------
def test_one_binary_is_compared_over_mpis(program: Path, tmp_path: Path) -> None:
    lines = [
        f"mpi = {json.dumps(MPIS)}",
        "launches = 2",
        "oversubscribe = true",
        f'[[command]]\nname = "app"\nrun = "{program}"\nranks = 2',
    ]
    (tmp_path / "plan.toml").write_text("\n".join(lines))
    done = mpigauge("sweep", "plan.toml", "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "app on " in done.stdout
    assert "undecided" in done.stdout
    again = mpigauge("resume", "out", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "app on " in again.stdout
    assert "undecided" in again.stdout
    runs = [load(folder) for folder in sorted((tmp_path / "out").iterdir())]
    assert not any("kernels" in run.passport for run in runs)  # nothing of ours was measured
    ways = {run.header["mpi"]["name"]: run.header["programs"][0]["how"] for run in runs}
    for name in MPIS:
        translated = is_of_another_abi(program, find(name))
        expected = {"own"} if name in program.parent.name else {"directly"}
        assert {ways[name]} == ({"translated"} if translated else expected)


def test_a_profile_takes_the_same_way(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    options = ("--mpi", mpi.spec, "--np", "2", "--oversubscribe")
    done = mpigauge("profile", *options, "--", str(program), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, SAID), done.stderr
    assert "2 of 2 ranks seen" in done.stderr
    assert "Allreduce" in done.stderr


def test_the_doctor_says_who_can_run_it(program: Path, tmp_path: Path) -> None:
    done = mpigauge("doctor", "--binary", str(program), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = {each["spec"].partition("==")[0]: each for each in json.loads(done.stdout)["mpis"]}
    for name in MPIS:
        translated = is_of_another_abi(program, find(name))
        assert (said[name]["directly"], said[name]["translated"]) == (not translated, translated)
