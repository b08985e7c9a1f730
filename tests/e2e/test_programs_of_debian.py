# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs of others, with Debian's own MPI and compilers, do what they do without the profiler,
and come out of it with what another library counts."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.launch.library import include
from mpigauge.products.profile.store.stored import load_jobs
from tests.e2e.debian import installed, needs_root, sources
from tests.profiled import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.debian import Installed

pytestmark = [pytest.mark.mpi, pytest.mark.heavy, needs_root, pytest.mark.acceptance("programs")]
PACKAGES = ("lammps", "openmpi-bin", "libopenmpi-dev", "gfortran")
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe")
FLUID = """units lj
atom_style atomic
lattice fcc 0.8
region box block 0 5 0 5 0 5
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.5 4711 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0
fix 1 all nve
thermo 10
run 60
"""
STEPS = 40


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    with installed(tmp_path_factory.mktemp("programs"), *PACKAGES) as made:
        yield made


@pytest.fixture(scope="module")
def tally(machine: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("tally") / "tally.so"
    words = ["mpicxx", "-shared", "-fPIC", str(HERE / "tally.cpp"), "-o", str(library)]
    built = machine.run(*words, cwd=library.parent)
    assert built.returncode == 0, built.stderr
    return library


def counted(said: str) -> dict[int, Counter[str]]:
    """What tally.cpp has printed, by rank."""
    found: dict[int, Counter[str]] = {}
    for rank, call, count in re.findall(r"tally (\d+) (MPI_\w+) (\d+)", said):
        found.setdefault(int(rank), Counter())[call] = int(count)
    return found


def calls_of(account: Account, rank: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for called, row in account.of_rank(rank):
        found[called.spot.call] += int(row["calls"])
    return found


def numbers(said: str) -> list[str]:
    """What LAMMPS has computed, without what that took."""
    table = re.search(r"^ *Step .*?(?=^Loop time)", said, re.MULTILINE | re.DOTALL)
    assert table, said
    return table[0].splitlines()


@pytest.mark.parametrize("ranks", [2, 4])
def test_lammps(machine: Installed, tally: Path, tmp_path: Path, ranks: int) -> None:
    (tmp_path / "in.fluid").write_text(FLUID)
    program = ("lmp", "-in", "in.fluid", "-log", "none")
    line = (*MPIRUN, "-np", str(ranks))
    plain = machine.run(*line, "-x", f"LD_PRELOAD={tally}", *program, cwd=tmp_path)
    assert plain.returncode == 0, plain.stderr
    known = counted(plain.stderr)
    done = machine.mpigauge("profile", "--output", "out", "--", *line, *program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert numbers(done.stdout) == numbers(plain.stdout)
    assert f"{ranks} of {ranks} ranks seen" in done.stderr
    (job,) = load_jobs(tmp_path / "out")
    account = Account(job)
    assert sorted(known) == list(range(ranks))
    for rank, calls in known.items():
        found = calls_of(account, rank)
        assert {call: found[call] for call in calls} == dict(calls)
    assert all(each.where for each in account.inside)


@pytest.fixture(scope="module", params=["-g", "-s"])
def heat(
    request: pytest.FixtureRequest, machine: Installed, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """A program in Fortran, with debug information and without any symbols."""
    folder = tmp_path_factory.mktemp("heat")
    sources = [str(include() / "mpigauge.f90"), str(HERE / "heat.f90")]
    words = ["mpifort", "-O1", str(request.param), *sources, "-o", "heat"]
    built = machine.run(*words, cwd=folder)
    assert built.returncode == 0, built.stderr
    return folder / "heat", str(request.param)


def test_a_program_with_its_symbols(machine: Installed, tmp_path: Path) -> None:
    """Debian's NetPIPE, built from its sources with debug information: its places are lines."""
    code = sources(tmp_path, "netpipe") / "src"
    files = [str(code / name) for name in ("netpipe.c", "mpi.c")]
    # A function that ends with the call leaves no trace where it jumps there.
    flags = ("-g", "-O2", "-fno-optimize-sibling-calls", "-w", "-DMPI")
    build = ["mpicc.openmpi", *flags, *files, "-o", "NPmpi", "-lm"]
    made = machine.run(*build, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    words = (*MPIRUN, "-np", "2", "./NPmpi", "-i", "-u", "65536")
    done = machine.mpigauge("profile", "--output", "out", "--", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Integrity check passed" in done.stdout + done.stderr
    (job,) = load_jobs(tmp_path / "out")
    lines = {name: (code / name).read_text().splitlines() for name in ("netpipe.c", "mpi.c")}
    places = [(each.spot.call, each.where) for each in Account(job).inside]
    assert {"MPI_Send", "MPI_Recv", "MPI_Barrier"} <= {call for call, _ in places}
    for call, where in places:
        found = re.match(r"(\w+) at (\w+\.c):(\d+)\b", where)
        assert found, where
        assert call in lines[found[2]][int(found[3]) - 1], (call, where)


def test_a_program_in_fortran(machine: Installed, heat: tuple[Path, str], tmp_path: Path) -> None:
    program, option = heat
    line = (*MPIRUN, "-np", "2", str(program))
    plain = machine.run(*line, cwd=tmp_path)
    assert plain.returncode == 0, plain.stderr
    done = machine.mpigauge("profile", "--output", "out", "--", *line, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    (job,) = load_jobs(tmp_path / "out")
    account = Account(job)
    swaps = [each for each in account.inside if each.spot.call == "MPI_Sendrecv"]
    assert [each.calls for each in swaps] == [2 * STEPS] * 2
    assert {each.spot.region for each in swaps} == {"whole/swap"}
    (sums,) = (each for each in account.inside if each.spot.call == "MPI_Allreduce")
    assert (sums.calls, sums.sent, sums.spot.region) == (2 * STEPS // 10, 8 * STEPS // 5, "whole")
    entered = {each.region: each.entered for each in account.regions}
    assert entered == {"whole": 2, "whole/swap": 2 * STEPS}
    places = {each.where for each in swaps}
    if option == "-g":
        # Where it was inlined the compiler says the one or the other function.
        assert all(re.match(r"(swap_ends|MAIN__) at heat\.f90:4\d$", each) for each in places), (
            places
        )
    else:
        assert all(place.startswith("heat+0x") for place in places), places
