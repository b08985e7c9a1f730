# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Classifies libraries of MPI by their names, and finds MPI's names in a program."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mpigauge.model.mpi import Abi


class Family(NamedTuple):
    abi: Abi | None
    """The ABI; None: one of which we have only the name."""
    label: str
    fortran: bool = False
    """True for the layer for Fortran, which has the C layer below it."""


OLD_OPEN_MPI = Family(None, "an old Open MPI (before 2)")

# The first that fits counts. Platform MPI and Open MPI 1 share a name; their symbols tell.
NAMES: tuple[tuple[str, Family], ...] = (
    (r"libmpi_abi\.so\.\d+", Family("std", "the standard ABI of MPI 5.0")),
    (r"libmpif(ort)?_abi\.so\.\d+", Family("std", "the standard ABI of MPI 5.0", True)),
    (r"libmpi(ch)?fort\.so\.12", Family("mpich", "MPICH's ABI", True)),
    (r"lib(f|fmpich|mpichf\d*)\.so\.12", Family("mpich", "MPICH's ABI", True)),
    (r"libmpi(ch)?cxx\.so\.12", Family("mpich", "MPICH's ABI", True)),
    (r"libmpifort_\w+\.so\.12", Family("mpich", "MPICH's ABI (Cray)", True)),
    (r"libmpif_\w+\.so\.12", Family("mpich", "MPICH's ABI (Cray)", True)),
    (r"libmpi_\w+\.so\.12", Family("mpich", "MPICH's ABI (Cray)")),
    (r"libmpi\.so\.12", Family("mpich", "MPICH's ABI")),
    (r"libmpich\.so\.(12|10)", Family("mpich", "MPICH's ABI")),
    (r"libmpi_(mpifh|usempif?0?8?\w*|cxx)\.so\.\d+", Family("ompi", "Open MPI's ABI", True)),
    (r"libmpi_ibm_(mpifh|usempi\w*)\.so\.\d+", Family("ompi", "Open MPI's ABI (Spectrum)", True)),
    (r"libmpi_ibm\.so\.\d+", Family("ompi", "Open MPI's ABI (Spectrum)")),
    (r"libmpi\.so\.(20|40|80)", Family("ompi", "Open MPI's ABI")),
    (r"libmpi\.so\.1", Family(None, "Platform MPI (HP-MPI)")),
    (r"libmpi(mt)?\.so", Family(None, "HPE's MPT")),
    (r"libmpc_framework\.so.*|libmpcmpi\.so.*", Family(None, "MPC")),
    (r"libmpi\.so\.[02]", OLD_OPEN_MPI),
    (r"libpcmpi\.so.*|libhpmpi\.so.*", Family(None, "Platform MPI (HP-MPI)")),
    (r"libmpisr\.so.*|libnecmpi\.so.*", Family(None, "NEC's MPI")),
)
_PATTERNS = tuple((re.compile(pattern), family) for pattern, family in NAMES)
_USUAL = (
    (r"libmpi(ch)?fort(_(?!abi)\w+)?\.so\.12|lib(f|fmpich|mpif_\w+)\.so\.12", "libmpifort.so.12"),
    (r"libmpichf\d*\.so\.12", "libmpifort.so.12"),
    (r"libmpi(ch)?cxx\.so\.12", "libmpicxx.so.12"),
    (r"libmpi_ibm_(mpifh|usempi\w*)\.so\.\d+", r"libmpi_\1.so.40"),
)
"""The original names of layers that packagers rename."""
_INTERNAL = re.compile(r"P?MPIX?_\w+|MPI(R|I|D|DI|U|L)_\w+|(ompi|opal)_\w+|p?mpix?_\w+_")
_CONSTANT = r"__mpi_f08_link_constants_MOD_\w+"
_FORTRAN = rf"p?mpir?_[a-z]\w*_|(?!{_CONSTANT})__mpi_\w+_MOD_\w+"
_CALL = re.compile(rf"P?MPI_[A-Z]\w*|{_FORTRAN}")
_OF_LAYER = re.compile(rf"{_FORTRAN}|{_CONSTANT}|MPIR_F08_\w+|mpi_fortran_\w+|mpipriv\w*")
_EXTENSION = re.compile(r"P?MPIX_\w+")
_DATA = re.compile(
    r"ompi_(mpi|request|message|group|file|win|info|errhandler|op|datatype)\w*|MPI_UNWEIGHTED"
    r"|MPI_WEIGHTS_EMPTY|MPI_F08?_STATUS(ES)?_IGNORE|MPIR_\w+|mpi_fortran_\w+|mpipriv\w*"
    rf"|{_CONSTANT}"
)


@cache
def family_of(name: str) -> Family | None:
    """Returns the family of a library by its name, such as libmpi.so.12; None: it is not of MPI."""
    for pattern, family in _PATTERNS:
        if pattern.fullmatch(name):
            return family
    return None


def family_by(name: str, objects: Iterable[str]) -> Family | None:
    """Returns the family of a library by its name, and by the names of predefined objects that a
    program uses if these tell more."""
    family = family_of(name)
    if family and family.abi is None and any(each.startswith("ompi_mpi_") for each in objects):
        return OLD_OPEN_MPI
    return family


def usual_name(name: str) -> str:
    """Returns the original name of a layer for Fortran, which some packagers rename."""
    for pattern, usual in _USUAL:
        if match := re.fullmatch(pattern, name):
            return match.expand(usual)
    return name


def is_of_mpi(name: str) -> bool:
    """True if a function or a variable comes from an MPI, even an internal one."""
    return bool(_INTERNAL.fullmatch(name))


def calls(names: Iterable[str]) -> frozenset[str]:
    """Returns the names of MPI's functions, in C or Fortran."""
    return frozenset(filter(_CALL.fullmatch, names))


def is_of_layer(name: str) -> bool:
    """True for a name of a layer for Fortran: a subroutine, or a symbol of a module."""
    return bool(_OF_LAYER.fullmatch(name))


def extensions(names: Iterable[str]) -> frozenset[str]:
    """Returns the names of functions of one MPI only."""
    return frozenset(filter(_EXTENSION.fullmatch, names))


def data(names: Iterable[str]) -> frozenset[str]:
    """Returns the names of variables of an MPI library."""
    return frozenset(filter(_DATA.fullmatch, names))
