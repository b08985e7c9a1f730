# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs in Fortran are profiled, with the names of functions that their compiler gives them."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from mpigauge.products.profile.launch.library import library
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.read.files import read_folder
from mpigauge.products.profile.read.rank_file import RankFile
from mpigauge.site.builds.cxx import compiler_words
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make.translation import translation
from tests.conftest import MPIS
from tests.e2e.debian import installed, needs_root
from tests.profiled import HERE, build, profiled
from tests.profiled.pattern import counted, differences, pattern, sections_of

pytestmark = pytest.mark.mpi
RANKS = 2
SOURCE = HERE / "fortran.cpp"


@pytest.mark.skipif("intel" not in MPIS, reason="Intel MPI is there for x86-64 alone")
def test_calls_of_fortran_are_those_of_c(tmp_path: Path) -> None:
    """Of the MPIs that are installed for tests this one has a library for Fortran, whose functions
    call those of C."""
    mpi = find("intel")
    fortran = str(mpi.library.parent / "libmpifort.so.12")
    program = build(mpi, "fortran.cpp", tmp_path, "-Wl,--no-as-needed", fortran)
    done = profiled(mpi, RANKS, [program], tmp_path / "profile")
    assert done.status == 0, done.output + done.errors
    as_planned(done.files)


PAIRS = [(program, target) for program in ("mpich", "openmpi") for target in MPIS]


@pytest.mark.parametrize(("program", "target"), PAIRS)
def test_calls_of_fortran_through_a_translation(program: str, target: str, tmp_path: Path) -> None:
    """Subroutines of the translation, as no MPI that is installed for tests but Intel's has any."""
    own, other = find(program), find(target)
    translated = translation(own.abi, other)
    built = build(own, "fortran.cpp", tmp_path, str(translated.preload[0]))
    preload = ":".join(map(str, (library(), *translated.preload)))
    done = profiled(
        other, RANKS, [built], tmp_path / "profile", {**translated.env, "LD_PRELOAD": preload}
    )
    assert done.status == 0, done.output + done.errors
    as_planned(done.files)


@needs_root
@pytest.mark.heavy
def test_calls_of_fortran_that_go_past_those_of_c(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """As those of Open MPI do; Debian's has a library for Fortran."""
    folder = tmp_path / "profile"
    folder.mkdir()
    with installed(tmp_path_factory.mktemp("debian"), "libopenmpi-dev", "openmpi-bin") as machine:
        words = [*compiler_words("a test"), *["-std=c++20", "-O2", "-g"], str(SOURCE)]
        words += ["-o", "fortran", "-I/usr/lib/x86_64-linux-gnu/openmpi/include"]
        words += ["-Wl,--no-as-needed", "-lmpi_usempif08", "-lmpi_mpifh", "-lmpi"]
        built = machine.run(*words, cwd=tmp_path)
        assert built.returncode == 0, built.stderr
        told = ["-x", f"LD_PRELOAD={library()}", "-x", f"MPIGAUGE_PROFILE={folder}"]
        mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(RANKS)]
        done = machine.run(*mpirun, *told, "./fortran", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        as_planned(read_folder(folder))


F08 = {
    **dict.fromkeys(("Init", "Comm_rank", "Comm_size", "Comm_dup", "Comm_set_name"), 1),
    **dict.fromkeys(("Probe", "Recv", "Wait", "Iprobe", "Comm_free", "Finalize"), 1),
    "Barrier": 8,
    **dict.fromkeys(("Allreduce", "Irecv", "Waitall"), 20),
    "Isend": 21,
}
"""The calls of a rank of f08.f90."""
LARGE = {"mpich": {"Get_count_c": 1, "Type_size_c": 1}, "openmpi": {}}
"""Its calls with large counts, which mpi_f08 of Debian's Open MPI lacks."""


LAUNCHED = {
    "mpich": ["mpiexec.mpich", "-env", "LD_PRELOAD", "{0}", "-env", "MPIGAUGE_PROFILE", "{1}"],
    "openmpi": [
        *("mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe"),
        *("-x", "LD_PRELOAD={0}", "-x", "MPIGAUGE_PROFILE={1}"),
    ],
}
PACKAGES = {"mpich": ("libmpich-dev", "mpich"), "openmpi": ("libopenmpi-dev", "openmpi-bin")}


@needs_root
@pytest.mark.heavy
@pytest.mark.parametrize("name", LAUNCHED)
def test_calls_of_mpi_f08_are_seen_once(
    name: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """MPICH's with a buffer call functions of C, its others go past them, as all of Open MPI do."""
    folder = tmp_path / "profile"
    folder.mkdir()
    debian = tmp_path_factory.mktemp("debian")
    planned = F08 | LARGE[name]
    with installed(debian, *PACKAGES[name], "gfortran") as machine:
        words = [f"mpifort.{name}", "-g", "-O1", "-cpp", str(HERE / "f08.f90"), "-o", "f08"]
        words += ["-DLARGE"] if LARGE[name] else []
        built = machine.run(*words, cwd=tmp_path)
        assert built.returncode == 0, built.stderr
        launcher = [word.format(library(), folder) for word in LAUNCHED[name]]
        done = machine.run(*launcher, "-n", str(RANKS), "./f08", cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        files = read_folder(folder)
        for target in MPIS:
            output = str(tmp_path / target)
            words = ["profile", "--mpi", target, "--np", str(RANKS), "--output", output]
            other = machine.mpigauge(*words, "--", "./f08", cwd=tmp_path)
            assert other.returncode == 0, other.stdout + other.stderr
            shown = machine.mpigauge("show", output, "--format", "csv", cwd=tmp_path)
            assert calls_in(shown.stdout) == [planned] * RANKS, target
        if name == "mpich" and "intel" in MPIS:  # whose layer was made by another compiler
            words = ["exec", "--mpi", "intel", "--np", str(RANKS), "--", "./f08"]
            other = machine.mpigauge(*words, cwd=tmp_path)
            assert other.returncode == 0, other.stdout + other.stderr
            assert "below the program's own libmpichfort.so.12" in other.stderr
    assert [file.rank for file in files] == list(range(RANKS))
    for file in files:
        calls: Counter[str] = Counter()
        for site in file.sites:
            calls[site.call.removeprefix("MPI_")] += site.calls
        assert calls == planned
        assert file.nested == file.cut == 0
        assert "a copy" in {comm.name for comm in file.comms.values()}


def calls_in(table: str) -> list[Counter[str]]:
    """The calls of each rank in the table of call sites, which comes first."""
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for row in csv.DictReader(table.partition("\n\n")[0].splitlines()):
        counts[int(row["rank"])][row["call"].removeprefix("MPI_")] += int(row["calls"])
    return [counts[rank] for rank in sorted(counts)]


def as_planned(files: tuple[RankFile, ...]) -> None:
    assert [file.rank for file in files] == list(range(RANKS))
    profile = merged(files)
    for rank in range(RANKS):
        found = counted(profile, sections_of(profile), rank)
        assert differences(found, pattern(rank, RANKS, fortran=True)) == {}
    assert "a grid" in {comm.name for comm in profile.comms}
