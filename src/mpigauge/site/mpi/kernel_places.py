# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Where kernels are taken from before any are built: those that came in mpigauge's wheel, and those
that a site has built for all its users (`mpigauge kernels build --into DIR`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

from mpigauge.model.mpi import Abi
from mpigauge.site.mpi import folders, kernel_build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.mpi import Kernels

VARIABLE = "MPIGAUGE_KERNELS"
CAME = "came with mpigauge"
BUILT = "built"
"""Of the variable: take nothing that was not built by and for this user."""
SHIPPED = Path(__file__).resolve().parents[2] / "_shipped"
"""What came beside the sources: kernels, the profiler, translations; in a bundle MPIs, too."""


class Looked(NamedTuple):
    """A place that was looked at."""

    place: str
    """In words."""
    folder: Path
    kernels: Kernels | None
    why: str
    """Why there are none for us; empty: there are."""


def look(abi: Abi, sources: str) -> Iterator[Looked]:
    """The places, the one that counts first. `sources`: the digest of those of this mpigauge."""
    if not takes_ready():
        return
    yield _looked(CAME, SHIPPED / "kernels" / abi, abi, "")
    for place, folder in _of_site():
        yield _looked(place, folder / name_of(abi, sources), abi, sources)


def ready(abi: Abi, sources: str) -> Kernels | None:
    return next((each.kernels for each in look(abi, sources) if each.kernels), None)


def all_shipped() -> dict[Abi, Kernels]:
    """The kernels that came with mpigauge, whether they run on this machine or not."""
    found: dict[Abi, Kernels] = {}
    for abi in get_args(Abi):
        folder = SHIPPED / "kernels" / abi
        if takes_ready() and kernel_build.is_whole(folder):
            found[abi] = kernel_build.kernels_in(folder, abi, CAME)
    return found


def takes_ready() -> bool:
    return os.environ.get(VARIABLE) != BUILT


def shipped(name: str) -> Path | None:
    """A file or folder of the wheel beside the kernels; None: it has none, or is not to be used."""
    path = SHIPPED / name
    if takes_ready() and path.exists():
        return path
    return None


def named_folder() -> Path | None:
    """The site's folder that the variable names."""
    said = os.environ.get(VARIABLE, "")
    if said not in ("", BUILT):
        return Path(said).expanduser().absolute()
    return None


def name_of(abi: Abi, sources: str) -> str:
    """The name of the folder within a site's, which may be shared by unlike machines and
    versions."""
    return f"{abi}-{os.uname().machine}-{sources}"


def _of_site() -> Iterator[tuple[str, Path]]:
    if (folder := named_folder()) is not None:
        yield f"the site's, named by {VARIABLE}", folder
    for home in folders.homes():
        yield "the site's", home / "kernels"


def _looked(place: str, folder: Path, abi: Abi, sources: str) -> Looked:
    """`sources`: which they must be made of; empty: whichever they are."""
    if not kernel_build.is_whole(folder):
        return Looked(place, folder, None, "there are none")
    found = kernel_build.kernels_in(folder, abi, place)
    if found.build is None:
        why = "they do not say how they were made"
    elif sources and found.build.sources != sources:
        why = "they were made of other sources"
    else:
        why = kernel_build.why_not_here(found.build)
    return Looked(place, folder, None if why else found, why)
