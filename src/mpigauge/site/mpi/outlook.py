# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which kernels would measure an MPI, and why those; nothing is built to find out."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Abi
from mpigauge.site.mpi import build, kernel_places
from mpigauge.site.mpi.cxx import compiler_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.mpi import Kernels, Mpi


@dataclass(frozen=True)
class Outlook:
    label: str
    """Of the MPI."""
    kernels: Kernels | None
    """Those that are there; None: they would have to be built."""
    passed_over: tuple[str, ...] = ()
    """Which places come before, and why there is nothing for us; only those that hold something."""
    compiler: tuple[str, ...] = ()
    """What would build them."""
    problem: str = ""
    """Why none are there and none can be built; empty: all is well."""


def outlook(mpi: Mpi) -> Outlook:
    looked = list(kernel_places.look(mpi.abi, build.sources_digest()))
    found = next((each for each in looked if each.kernels), None)
    before = looked[: looked.index(found)] if found else looked
    passed = tuple(f"{e.folder}: {e.why}" for e in before if e.folder.exists() or _is_named(e))
    if found:
        return Outlook(mpi.label, found.kernels, passed)
    try:
        kept = build.in_cache(mpi)
        compiler = () if kept else compiler_words(f"the kernels for {mpi.label}")
    except UserError as error:
        return Outlook(mpi.label, None, passed, problem=str(error))
    return Outlook(mpi.label, kept, passed, compiler)


def _is_named(looked: kernel_places.Looked) -> bool:
    named = kernel_places.named_folder()
    return named is not None and looked.folder.is_relative_to(named)


def refuse_without(mpis: Iterable[Mpi]) -> None:
    """UserError: one of these MPIs has no kernels, and none can be built here. Where no MPI is
    known, kernels for any have to be there, or a compiler."""
    known = list(mpis)
    for mpi in known:
        if problem := outlook(mpi).problem:
            raise UserError(f"there are no kernels for {mpi.label}: {problem}")
    if known or any(_has_some(abi) for abi in get_args(Abi)) or build.built_cards():
        return
    with suppress(UserError):
        compiler_words("the kernels")
        return
    raise UserError(
        "there are no kernels here and no compiler to build them; where there is one, run "
        "`mpigauge kernels build --into DIR` for a DIR that all nodes see, and set "
        f"{kernel_places.VARIABLE} to it"
    )


def _has_some(abi: Abi) -> bool:
    return kernel_places.ready(abi, build.sources_digest()) is not None
