# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a program has to be told so that it runs on an MPI, and what is refused before it starts."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.measuring.jobs.on_mpi import on_its_mpi
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.products.exec.show import all_seen, some_seen
from mpigauge.products.exec.watching import Watching
from mpigauge.site.launch import Job, command
from mpigauge.site.mpi.programs import look, suits
from mpigauge.site.mpi.programs.elf import read_elf
from mpigauge.site.mpi.programs.stand_ins import LACKING, empty, lacking
from mpigauge.site.mpi.programs.ways import (
    DIRECTLY,
    NONE,
    OWN,
    UNSEEN,
    check_told,
    way_of,
    way_told,
)
from mpigauge.site.mpi.programs.witness import (
    SeenRank,
    digest,
    seen_ranks,
    variables_for_ranks,
    witness,
)
from tests.elf_files import AARCH64, I386, Made
from tests.unit.site.launch.test_launch import INTEL, MPICH, OPENMPI5

MPI_C = ("MPI_Init", "MPI_Send")
HERE = {"PATH": "/usr/bin:/bin"}


def library(name: str, *offers: str) -> Made:
    return Made(soname=name, interpreter="", offers=offers or MPI_C)


@pytest.fixture
def mpich(tmp_path: Path) -> Mpi:
    path = library("libmpi.so.12").write(tmp_path / "mpich/lib/libmpi.so.12")
    return replace(MPICH, library=path, prefix=tmp_path / "mpich", env={})


def app(folder: Path, made: Made, name: str = "app") -> str:
    return str(made.write(folder / name))


# --- the same ABI ---------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ["rpath", "runpath"])
def test_a_program_bound_to_another_mpi_of_its_abi_is_freed(
    tmp_path: Path, mpich: Mpi, how: str
) -> None:
    other = library("libmpi.so.12").write(tmp_path / "old/libmpi.so.12")
    made = Made(needed=("libmpi.so.12",), wants=MPI_C)
    bound = replace(made, **{how: str(other.parent)})  # type: ignore[arg-type]
    found = way_of([app(tmp_path, bound)], mpich, HERE)
    assert found.how == DIRECTLY
    assert found.preload == (mpich.library,)
    assert f"in place of {other} (by {how.upper()})" in found.summary


def test_a_path_that_lies_counts_for_nothing(tmp_path: Path, mpich: Mpi) -> None:
    library("libmpi.so.12").write(tmp_path / "old/libmpi.so.12")
    program = app(tmp_path, Made(needed=("libmpi.so.12",), wants=MPI_C))
    found = way_of([program], mpich, {**HERE, "LD_LIBRARY_PATH": str(tmp_path / "old")})
    assert "(by LD_LIBRARY_PATH)" in found.summary
    assert found.variables(HERE) == {"LD_PRELOAD": str(mpich.library)}


def test_a_program_without_its_mpi_is_the_good_case(tmp_path: Path, mpich: Mpi) -> None:
    found = way_of([app(tmp_path, Made(needed=("libmpi.so.12",), wants=MPI_C))], mpich, HERE)
    assert found.how == DIRECTLY
    assert "in place of libmpi.so.12, which is not here" in found.summary


def test_its_own_mpi_is_its_own(tmp_path: Path, mpich: Mpi) -> None:
    here = {**HERE, "LD_LIBRARY_PATH": str(mpich.library.parent)}
    found = way_of([app(tmp_path, Made(needed=("libmpi.so.12",), wants=MPI_C))], mpich, here)
    assert (found.how, found.abi) == (OWN, "mpich")
    assert not found.is_special


def test_a_renamed_library_gets_one_of_its_name(tmp_path: Path, mpich: Mpi) -> None:
    """As Debian's MPICH: the loader is not to look for it."""
    found = way_of([app(tmp_path, Made(needed=("libmpich.so.12",), wants=MPI_C))], mpich, HERE)
    assert [path.name for path in found.preload] == ["libmpi.so.12", "libmpich.so.12"]
    assert read_elf(found.preload[1]).soname == "libmpich.so.12"
    assert found.notes[0].endswith("under the name libmpich.so.12, which its libmpi.so.12 has not")


def test_what_the_mpi_lacks_names_itself_when_it_is_called(tmp_path: Path, mpich: Mpi) -> None:
    program = app(tmp_path, Made(needed=("libmpi.so.12",), wants=(*MPI_C, "MPI_Send_c")))
    found = way_of([program], mpich, HERE)
    assert found.preload[-1].name == LACKING
    assert "it lacks 1 function of MPI" in found.notes[0]
    (tmp_path / "calls.c").write_text("void MPI_Send_c(void); int main(void) { MPI_Send_c(); }")
    words = ["gcc", "calls.c", str(found.preload[-1]), "-o", "calls"]
    subprocess.run(words, cwd=tmp_path, check=True)
    env = {**os.environ, "LD_LIBRARY_PATH": str(found.preload[-1].parent)}
    done = subprocess.run(["./calls"], cwd=tmp_path, env=env, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode < 0
    assert (
        done.stderr == "mpigauge: the program called MPI_Send_c, which mpich 5.0.2 does not have\n"
    )


def test_small_libraries_are_built_once() -> None:
    assert empty("libmpich.so.12") == empty("libmpich.so.12")
    assert lacking(["MPI_A"], "x 1") != lacking(["MPI_A"], "x 2")


def test_fortran_stays_the_programs_own_where_it_can(tmp_path: Path, mpich: Mpi) -> None:
    layer = replace(library("libmpifort.so.12", "mpi_init_"), needed=("libmpi.so.12",))
    path = replace(layer, wants=("MPI_Init",)).write(tmp_path / "old/libmpifort.so.12")
    needed = ("libmpifort.so.12", "libmpi.so.12")
    program = Made(needed=needed, wants=("mpi_init_",), runpath=str(path.parent))
    found = way_of([app(tmp_path, program)], mpich, HERE)
    assert found.preload == (mpich.library, path)
    replace(layer, wants=("MPI_Init", "MPII_Inner")).write(path)
    one = suits(look([app(tmp_path, program)], HERE), mpich)
    assert (one.directly, one.translated) == (False, True)


def test_the_layer_of_the_mpi_is_taken_where_it_has_one(tmp_path: Path, mpich: Mpi) -> None:
    path = library("libmpifort.so.12", "mpi_init_").write(mpich.library.parent / "libmpifort.so.12")
    needed = ("libmpichfort.so.12", "libmpich.so.12")
    found = way_of([app(tmp_path, Made(needed=needed, wants=("mpi_init_",)))], mpich, HERE)
    assert found.preload[:2] == (mpich.library, path)
    assert [each.name for each in found.preload[2:]] == ["libmpich.so.12", "libmpichfort.so.12"]


def test_variables_that_a_program_takes_have_to_be_there(tmp_path: Path) -> None:
    path = library("libmpi.so.40").write(tmp_path / "ompi/lib/libmpi.so.40")
    openmpi = replace(OPENMPI5, library=path, prefix=tmp_path / "ompi")
    program = app(tmp_path, Made(needed=("libmpi.so.40",), wants=("ompi_mpi_instance_null",)))
    with pytest.raises(UserError, match=r"lacks 1 variable of MPI .*: ompi_mpi_instance_null"):
        way_of([program], openmpi, HERE)


def test_a_program_of_the_standard_abi_is_not_run_on_a_draft_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "intel/lib"
    path = library("libmpi.so.12").write(folder / "libmpi.so.12")
    library("libmpi_abi.so.1").write(folder / "libmpi_abi.so.1")
    intel = replace(INTEL, library=path, prefix=tmp_path / "intel")
    program = app(tmp_path, Made(needed=("libmpi_abi.so.1",), wants=MPI_C))
    one = suits(look([program], HERE), intel)
    assert (one.directly, one.translated) == (False, True)
    assert "other values for some constants" in one.ways[1]


# --- what is refused ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("made", "why"),
    [
        (Made(needed=("libmpi.so.12",), machine=AARCH64), r"for aarch64 \(64 bits\), and it is"),
        (Made(needed=("libmpi.so.12",), machine=I386, wide=False), r"for i386 \(32 bits\)"),
        (Made(needed=("libc.so.6",), linked=("MPI_Init",)), "a part of the program itself"),
        (Made(dynamic=False, interpreter="", linked=("MPI_Init",)), "statically linked"),
        (Made(needed=("libmpi.so",)), "for HPE's MPT, whose ABI mpigauge does not support"),
        (Made(needed=("libmpc_framework.so",)), "for MPC, whose ABI"),
        (Made(needed=("libmpi.so.1",)), r"for Platform MPI \(HP-MPI\), whose ABI"),
        (Made(needed=("libmpi.so.12", "libmpi.so.40")), "loads two MPIs: MPICH's ABI and Open"),
    ],
)
def test_what_cannot_run_is_said(tmp_path: Path, mpich: Mpi, made: Made, why: str) -> None:
    with pytest.raises(UserError, match=why):
        way_of([app(tmp_path, made)], mpich, HERE)


def test_what_is_no_program_of_mpi_is_known(tmp_path: Path, mpich: Mpi) -> None:
    plain = way_of([app(tmp_path, Made(needed=("libc.so.6",)))], mpich, HERE)
    assert (plain.how, plain.preload) == (NONE, ())
    opens = app(tmp_path, Made(needed=("libc.so.6",), wants=("dlopen",)), "opens")
    assert way_of([opens], mpich, HERE).how == UNSEEN


def test_of_what_is_in_a_container_somebody_tells_the_abi(tmp_path: Path, mpich: Mpi) -> None:
    app(tmp_path, Made(needed=("libc.so.6",)), "apptainer")
    here = {"PATH": str(tmp_path)}
    assert "give its ABI with --abi" in way_of(["apptainer", "exec", "x.sif"], mpich, here).summary
    told_so = way_told("apptainer", "mpich", mpich)
    assert [path.name for path in told_so.preload] == ["libmpi.so.12", "libmpich.so.12"]
    assert (told_so.how, told_so.abi) == (DIRECTLY, "mpich")


def test_nobody_is_told_another_abi_than_a_program_is_seen_to_have(tmp_path: Path) -> None:
    program = app(tmp_path, Made(needed=("libmpi.so.12",), wants=MPI_C))
    check_told([program], "mpich", HERE)
    with pytest.raises(UserError, match=r"--abi ompi: .*app is made for MPICH's ABI, as can be"):
        check_told([program], "ompi", HERE)
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "run.sh").chmod(0o755)
    check_told([str(tmp_path / "run.sh")], "ompi", HERE)


def test_a_job_that_does_not_end_by_itself_is_ended(tmp_path: Path) -> None:
    """A launcher and a rank that ignore SIGTERM, after a rank has said why it ended. The launcher
    goes on without the rank, which is killed first."""
    (tmp_path / "said").write_text("")
    words = ["sh", "-c", "trap '' TERM; sleep 600 & echo $!; wait; while :; do :; done"]
    said: list[str] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE) as job:
        assert job.stdout
        assert int(job.stdout.readline()) > 0  # both have begun
        watching = Watching(tmp_path, 2, "mpich 5.0.2", said.append, is_here=True, grace_s=0.1)
        with watching:
            watching.started(job)
            assert job.wait() == -signal.SIGKILL
        assert job.stdout.read() == b""  # the rank has ended, too
    assert said == []


def test_a_script_is_looked_through_for_a_program_of_mpi(tmp_path: Path, mpich: Mpi) -> None:
    (tmp_path / "bind.sh").write_text('#!/bin/sh\nexec "$@"\n')
    (tmp_path / "bind.sh").chmod(0o755)
    program = app(tmp_path, Made(needed=("libmpi.so.12",), wants=MPI_C))
    assert way_of([str(tmp_path / "bind.sh")], mpich, HERE).how == UNSEEN
    assert way_of([str(tmp_path / "bind.sh"), "0", program], mpich, HERE).how == DIRECTLY


# --- what ranks are told --------------------------------------------------------------------------
def test_only_ranks_preload_and_what_was_preloaded_stays_before(tmp_path: Path, mpich: Mpi) -> None:
    program = app(tmp_path, Made(needed=("libmpi.so.12",), wants=MPI_C))
    way = way_of([program], mpich, HERE)
    job = on_its_mpi(Job(mpich, 2, (program,)), way, {"LD_PRELOAD": "/a.so /b.so"}, "/tmp/f")
    expected = f"{witness()}:/a.so:/b.so:{mpich.library}"
    assert job.env["LD_PRELOAD"] == expected
    found = command(job)
    assert expected in found.words
    assert "LD_PRELOAD" not in found.env
    assert "LD_PRELOAD" not in command(replace(job, mpi=replace(OPENMPI5, env={}))).env


def test_the_witness_is_told_what_should_be(mpich: Mpi) -> None:
    said = variables_for_ranks(mpich, "mpich", 3, "/tmp/x")
    assert said["MPIGAUGE_EXEC_RANKS"] == "3"
    assert said["MPIGAUGE_EXEC_LIBRARY"] == f"{digest('MPICH Version: 5.0.2'):016x}"
    assert digest("a b\n") == digest("ab")
    assert digest("a" * 200 + "b") == digest("a" * 200)
    assert digest("") == 0xCBF29CE484222325


def test_ranks_say_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "rank.1").write_text("1\t2\ta\t12\t01\tMPICH Version: 5.0.2\n")
    (tmp_path / "rank.0").write_text("0\t2\ta\t11\t1\tMPICH Version: 5.0.2\n")
    (tmp_path / "draft.2").write_text("")
    found = seen_ranks(tmp_path)
    assert [(each.rank, each.cores) for each in found] == [(0, "0"), (1, "1")]
    assert all_seen(found, "mpich 5.0.2") == (
        "2 ranks on mpich 5.0.2, which see each other; a: on cores 0 | 1"
    )
    alike = [SeenRank(rank, 3, "b", rank, "0-3", "") for rank in range(3)]
    assert all_seen(alike, "x 1") == "3 ranks on x 1, which see each other; b: each on cores 0-3"
    assert some_seen([], 2) == "no rank was seen to come out of MPI_Init"
    assert some_seen(alike, 4).startswith("3 of 4 ranks were seen")
