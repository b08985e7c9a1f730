# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words that start a job, launcher by launcher."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge import launch
from mpigauge.launch import Job, registry
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi

MPICH = Mpi(
    name="mpich",
    version="5.0.2",
    standard="5.0",
    library=Path("/m/lib/libmpi.so.12"),
    library_string="MPICH Version: 5.0.2",
    abi="mpich",
    launcher="hydra",
    mpiexec=Path("/m/bin/mpiexec"),
    prefix=Path("/m"),
    include=Path("/m/include"),
    env={"LD_LIBRARY_PATH": "/m/lib"},
    found="at /m",
)
INTEL = replace(MPICH, name="intel", version="2021.18.1", env={"I_MPI_ROOT": "/m"})
OPENMPI5 = replace(MPICH, name="openmpi", version="5.0.11", abi="ompi", launcher="openmpi", env={})
OPENMPI4 = replace(OPENMPI5, version="4.1.8")
SPECTRUM = replace(OPENMPI5, name="spectrum", version="10.4.0")
PROGRAM = ("./a program", "--out", "x y")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def words(job: Job) -> str:
    """The words with a bar between them: no word may be split or joined."""
    return "|".join(launch.command(job).words)


def test_mpich() -> None:
    job = Job(MPICH, 2, PROGRAM, env={"A": "b c"}, settings={"MPIR_CVAR_NOLOCAL": "1"})
    assert words(job) == (
        "/m/bin/mpiexec|-n|2|-genv|A|b c|-genv|LD_LIBRARY_PATH|/m/lib"
        "|-genv|MPIR_CVAR_NOLOCAL|1|./a program|--out|x y"
    )
    assert launch.command(job).env == {
        "A": "b c",
        "LD_LIBRARY_PATH": "/m/lib",
        "MPIR_CVAR_NOLOCAL": "1",
    }


def test_intel_starts_unbound() -> None:
    assert words(Job(INTEL, 4, ("p",))) == (
        "/m/bin/mpiexec|-n|4|-genv|I_MPI_PIN|0|-genv|I_MPI_ROOT|/m|p"
    )


def test_a_setting_of_the_user_wins() -> None:
    job = Job(INTEL, 4, ("p",), settings={"I_MPI_PIN": "1"})
    assert launch.command(job).env["I_MPI_PIN"] == "1"


def test_hydra_on_hosts() -> None:
    assert words(Job(replace(MPICH, env={}), 5, ("p",), hosts=("a", "b"))) == (
        "/m/bin/mpiexec|-n|5|-hosts|a,b|-ppn|3|p"
    )


def test_open_mpi_5() -> None:
    job = Job(
        OPENMPI5,
        3,
        PROGRAM,
        env={"A": "b c"},
        settings={"btl": "self,sm", "UCX_TLS": "shm"},
        oversubscribe=True,
    )
    assert words(job) == (
        "/m/bin/mpiexec|-n|3|--bind-to|none|--map-by|:OVERSUBSCRIBE|--mca|btl|self,sm"
        "|-x|A=b c|-x|UCX_TLS=shm|./a program|--out|x y"
    )
    assert launch.command(job).env == {**AS_ROOT, "A": "b c", "UCX_TLS": "shm"}


@pytest.mark.parametrize("mpi", [OPENMPI4, SPECTRUM], ids=lambda mpi: mpi.name)
def test_open_mpi_4_and_its_kin(mpi: Mpi) -> None:
    assert words(Job(mpi, 2, ("p",), oversubscribe=True)) == (
        "/m/bin/mpiexec|-n|2|--bind-to|none|--oversubscribe|p"
    )


def test_open_mpi_on_hosts() -> None:
    assert words(Job(OPENMPI5, 4, ("p",), hosts=("a", "b"))) == (
        "/m/bin/mpiexec|-n|4|--host|a:2,b:2|--bind-to|none|p"
    )


def test_a_command_can_be_shown_to_people() -> None:
    command = launch.command(Job(replace(MPICH, env={"X": "1 2"}), 1, ("p", "a b")))
    assert str(command) == "X='1 2' /m/bin/mpiexec -n 1 -genv X '1 2' p 'a b'"


def test_two_launchers_of_one_name_are_refused() -> None:
    launch.launchers()
    with pytest.raises(RuntimeError, match="two launchers are named 'hydra'"):
        registry.launcher("hydra")(lambda job: launch.Command(job.program, {}))


def test_an_unknown_launcher_is_named() -> None:
    mpi = replace(MPICH, launcher="hydro")  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"unknown launcher 'hydro'; did you mean 'hydra'\?"):
        launch.command(Job(mpi, 1, ("p",)))
