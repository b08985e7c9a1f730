# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs of each ABI of MPI run on MPIs of the others, and nothing that they see is wrong."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make.translation import Translation, translation
from tests.profiled import build, started
from tests.translated import IN_CI, OTHERS

pytestmark = pytest.mark.mpi
FEATURES, FORTRAN = "../translated/features.cpp", "../translated/fortran.cpp"
PAIRS = [
    *(pytest.param(pair, id=" on ".join(pair)) for pair in IN_CI),
    *(
        pytest.param(pair, id=" on ".join(pair), marks=pytest.mark.acceptance("translation"))
        for pair in OTHERS
    ),
]
LEAST_GROWTH_KB = 4096
"""Less is what the MPIs themselves need for more of the same, too."""


def started_on(
    target: Mpi, ranks: int, words: Sequence[str | Path], translated: Translation
) -> subprocess.CompletedProcess[str]:
    """A job of the target whose program finds the translation first, whatever its RPATH."""
    paths = [str(translated.folder), target.env.get("LD_LIBRARY_PATH", "")]
    paths += [os.environ.get("LD_LIBRARY_PATH", "")]
    env = {**translated.env, "LD_LIBRARY_PATH": ":".join(filter(None, paths))}
    return started(target, ranks, ["env", f"LD_PRELOAD={translated.preload[0]}", *words], env)


@pytest.fixture(scope="module", params=PAIRS)
def pair(request: pytest.FixtureRequest) -> tuple[Mpi, Mpi]:
    program, target = request.param
    return find(program), find(target)


@pytest.fixture(scope="module")
def features(pair: tuple[Mpi, Mpi], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(pair[0], FEATURES, tmp_path_factory.mktemp("features"))


@pytest.mark.parametrize("ranks", [1, 2])
def test_nothing_that_a_program_sees_is_wrong(
    pair: tuple[Mpi, Mpi], features: Path, tmp_path: Path, ranks: int
) -> None:
    program, target = pair
    done = started_on(target, ranks, [features, tmp_path], translation(program.abi, target))
    said = [line for line in done.stdout.splitlines() if line.startswith(("rank", "ranks"))]
    assert said == [f"ranks {ranks} wrong 0"], done.stdout + done.stderr
    assert done.returncode == 0


def test_what_is_made_and_freed_leaves_nothing(
    pair: tuple[Mpi, Mpi], features: Path, tmp_path: Path
) -> None:
    """Requests, types and communicators; a million of them in `make acceptance`."""
    program, target = pair
    words = (features, tmp_path, "20000")
    done = started_on(target, 1, words, translation(program.abi, target))
    line = next(line for line in done.stdout.splitlines() if line.startswith("grown"))
    assert max(int(word) for word in line.split()[1:3]) < LEAST_GROWTH_KB


@pytest.mark.parametrize("program", ["mpich", "openmpi"])
@pytest.mark.parametrize("target", ["mpich", "openmpi"])
def test_calls_of_fortran(program: str, target: str, tmp_path: Path) -> None:
    """No wheel of these has a library for Fortran, so the program is linked to ours."""
    own, other = find(program), find(target)
    translated = translation(own.abi, other)
    built = build(own, FORTRAN, tmp_path, str(translated.preload[0]))
    done = started_on(other, 2, [built], translated)
    said = [line for line in done.stdout.splitlines() if line.startswith("rank")]
    assert said == ["ranks 2 wrong 0"], done.stdout + done.stderr


@pytest.mark.parametrize("program", ["mpich", "openmpi"])
def test_several_programs_started_from_fortran(program: str, tmp_path: Path) -> None:
    own, other = find(program), find("mpich")
    translated = translation(own.abi, other)
    built = build(own, FORTRAN, tmp_path, str(translated.preload[0]))
    done = started_on(other, 1, [built, "spawns"], translated)
    said = [line for line in done.stdout.splitlines() if line.startswith("rank")]
    assert said == ["ranks 1 wrong 0"], done.stdout + done.stderr


def test_what_the_target_lacks_is_named_when_it_is_called(tmp_path: Path) -> None:
    """Open MPI 5.0 has no MPI_Comm_attach_buffer of MPI 4.1; the program starts all the same."""
    source = tmp_path / "lacking.cpp"
    source.write_text(
        """
        #include <mpi.h>
        #include <cstdio>
        int main(int argc, char** argv) {
          static char room[1000];
          MPI_Init(&argc, &argv);
          MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
          int found = 0;
          MPI_Error_class(MPI_Comm_attach_buffer(MPI_COMM_SELF, room, 1000), &found);
          std::printf("class %d", found == MPI_ERR_UNSUPPORTED_OPERATION);
          return MPI_Finalize();
        }
        """,
        encoding="utf-8",
    )
    own, other = find("mpich"), find("openmpi")
    translated = translation(own.abi, other)
    done = started_on(other, 1, [build(own, str(source), tmp_path)], translated)
    assert "class 1" in done.stdout
    assert "MPI_Comm_attach_buffer: the MPI that this program was given has no such" in done.stderr


ASKS = r"""
#include <dlfcn.h>
#include <mpi.h>
#include <cstdio>
#include <initializer_list>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const char* name : {"MPIX_Query_cuda_support", "MPIX_Query_hip_support",
                           "MPIX_Query_rocm_support", "MPIX_Query_ze_support"}) {
    const auto asked = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, name));
    std::printf("%s %d\n", name, asked == nullptr ? 0 : asked());
  }
  return MPI_Finalize();
}
"""


def test_extensions_that_ask_get_the_answer_of_the_target(
    pair: tuple[Mpi, Mpi], tmp_path: Path
) -> None:
    """Where the target has no such function, the answer is no."""
    program, target = pair
    (tmp_path / "asks.cpp").write_text(ASKS, encoding="utf-8")
    asking = build(program, str(tmp_path / "asks.cpp"), tmp_path)
    done = started_on(target, 1, [asking], translation(program.abi, target))
    (tmp_path / "native").mkdir()
    native = started(target, 1, [build(target, str(tmp_path / "asks.cpp"), tmp_path / "native")])
    assert done.stdout.count("MPIX_Query") == 4, done.stderr
    assert done.stdout == native.stdout
