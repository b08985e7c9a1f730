# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The tables of the translation are what the standard says; it is built where there is need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi.make import translation as site
from tools import mpi_translation

ROOT = Path(__file__).resolve().parents[4]


FILES = mpi_translation.files()


@pytest.mark.parametrize("made", FILES)
def test_generated_files_are_current(made: str) -> None:
    assert (ROOT / made).read_text(encoding="utf-8") == FILES[made]


def test_every_call_of_the_standard_is_there() -> None:
    """By the generator or by hand, under both of its names."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "translate").glob("*.cpp")]
    text = "".join(sources) + FILES["translate/calls.inc"]
    made = set(re.findall(r"MPIGAUGE_ALSO\((\w+)\)", text))
    made |= set(re.findall(r"MPIGAUGE_COPY_STATUS\((\w+)\)", text))
    conversions = re.compile(r"^\w+_(c2f|f2c|toint|fromint)$|^Status_")
    names = re.findall(r"MPIGAUGE_NAME\((\w+)\)", FILES["translate/names.inc"])
    assert len(names) > 690
    assert [name for name in names if name not in made and not conversions.match(name)] == []


def test_constants_have_a_value_in_each_abi_or_none() -> None:
    lines = FILES["translate/constants.inc"].splitlines()
    assert (
        'MPIGAUGE_HANDLE(comm, MPI_COMM_WORLD, 0x44000000, "ompi_mpi_comm_world", 0x101)' in lines
    )
    assert "MPIGAUGE_INTEGER(rank, MPI_PROC_NULL, -1, -2, -3)" in lines
    assert "MPIGAUGE_INTEGER(error, MPI_ERR_REVOKED, no_integer, 77, no_integer)" in lines


def test_an_abi_that_is_not_known() -> None:
    with pytest.raises(UserError, match=r"'mpix' cannot be translated.*mpich, ompi, std"):
        site.translation("mpix", fake())


@pytest.mark.parametrize("name", ["libmpi_gnu_51.so.12", "libmpich.so.12", "libmpifort_cray.so.12"])
def test_names_of_mpis(name: str) -> None:
    assert site.is_name_of_mpi(name)


@pytest.mark.parametrize("name", ["libmpigauge.so", "libm.so.6", "libmpi.so"])
def test_other_names(name: str) -> None:
    assert not site.is_name_of_mpi(name)


def fake() -> Mpi:
    place = Path("/mpi")
    return Mpi(
        name="mpich",
        version="5.0.2",
        standard="5.0",
        library=place / "lib/libmpi.so.12",
        library_string="",
        abi="mpich",
        launcher="hydra",
        mpiexec=place / "bin/mpiexec",
        prefix=place,
        include=None,
        env={},
        found="",
    )
