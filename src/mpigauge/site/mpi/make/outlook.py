# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The kernels that would measure an MPI, and the reason for the choice. Builds nothing."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Abi
from mpigauge.site.builds import kernel_places
from mpigauge.site.builds.cxx import compiler_words
from mpigauge.site.mpi import make as build

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.mpi import Kernels, Mpi


@dataclass(frozen=True)
class Outlook:
    label: str
    """The name of the MPI."""
    kernels: Kernels | None
    """The existing kernels; None: they would have to be built."""
    passed_over: tuple[str, ...] = ()
    """The preferred places whose kernels are unusable, each with the reason."""
    compiler: tuple[str, ...] = ()
    """The compiler that would build them."""
    problem: str = ""
    """The reason why there are none and none can be built; empty: no problem."""


def outlook(mpi: Mpi) -> Outlook:
    looked = list(kernel_places.look(mpi.abi, build.sources_digest()))
    usable = next((each for each in looked if each.kernels), None)
    before = looked[: looked.index(usable)] if usable else looked
    passed = tuple(f"{e.folder}: {e.why}" for e in before if e.folder.exists() or _is_named(e))
    if usable:
        return Outlook(mpi.label, usable.kernels, passed)
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
    """Raises a UserError if one of these MPIs has no kernels, and none can be built here. Without
    MPIs, there have to be kernels for any MPI, or a compiler."""
    all_mpis = list(mpis)
    for mpi in all_mpis:
        if problem := outlook(mpi).problem:
            raise UserError(f"there are no kernels for {mpi.label}: {problem}")
    if all_mpis or any(_has_some(abi) for abi in get_args(Abi)) or build.built_cards():
        return
    with suppress(UserError):
        compiler_words("the kernels")
        return
    raise UserError(
        "there are no kernels here and no compiler to build them; where there is one, run "
        "`mpigauge mpi build --into DIR` for a DIR that all nodes see, and set "
        f"{kernel_places.VARIABLE} to it"
    )


def _has_some(abi: Abi) -> bool:
    return kernel_places.ready(abi, build.sources_digest()) is not None
