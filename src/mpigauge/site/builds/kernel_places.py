# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The places of kernels that need no build: shipped in mpigauge's wheel, or built by a site for all
its users (`mpigauge mpi build --into DIR`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

from mpigauge.model.mpi import Abi
from mpigauge.site.builds import folders, kernel_build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.mpi import Kernels

VARIABLE = "MPIGAUGE_KERNELS"
CAME = "came with mpigauge"
BUILT = "built"
"""The value of the variable that excludes kernels not built by and for this user."""
SHIPPED = Path(__file__).resolve().parents[2] / "_shipped"
"""The shipped binaries: kernels, the profiler, translations; in a bundle also MPIs."""


class Looked(NamedTuple):
    """A place that was examined."""

    place: str
    """The name of the place, for messages."""
    folder: Path
    kernels: Kernels | None
    why: str
    """The reason why there are none for us; empty: there are."""


def look(abi: Abi, sources: str) -> Iterator[Looked]:
    """Yields the places in the order of preference. `sources`: the digest of our sources."""
    if not takes_ready():
        return
    yield _looked(CAME, SHIPPED / "kernels" / abi, abi, "")
    for place, folder in _of_site():
        yield _looked(place, folder / name_of(abi, sources), abi, sources)


def ready(abi: Abi, sources: str) -> Kernels | None:
    return next((each.kernels for each in look(abi, sources) if each.kernels), None)


def all_shipped() -> dict[Abi, Kernels]:
    """Returns the kernels shipped with mpigauge, whether they run on this machine or not."""
    by_abi: dict[Abi, Kernels] = {}
    for abi in get_args(Abi):
        folder = SHIPPED / "kernels" / abi
        if takes_ready() and kernel_build.is_whole(folder):
            by_abi[abi] = kernel_build.kernels_in(folder, abi, CAME)
    return by_abi


def takes_ready() -> bool:
    return os.environ.get(VARIABLE) != BUILT


def shipped(name: str) -> Path | None:
    """Returns a file or folder of the wheel next to the kernels; None: missing or excluded."""
    path = SHIPPED / name
    if takes_ready() and path.exists():
        return path
    return None


def named_folder() -> Path | None:
    """Returns the site's folder named by the variable."""
    value = os.environ.get(VARIABLE, "")
    if value not in ("", BUILT):
        return Path(value).expanduser().absolute()
    return None


def name_of(abi: Abi, sources: str) -> str:
    """Returns the name of the folder within a site's, which unlike machines may share."""
    return f"{abi}-{os.uname().machine}-{sources}"


def _of_site() -> Iterator[tuple[str, Path]]:
    if (folder := named_folder()) is not None:
        yield f"the site's, named by {VARIABLE}", folder
    for home in folders.homes():
        yield "the site's", home / "kernels"


def _looked(place: str, folder: Path, abi: Abi, sources: str) -> Looked:
    """Examines a place. `sources`: the required digest of its sources; empty: any."""
    if not kernel_build.is_whole(folder):
        return Looked(place, folder, None, "there are none")
    there = kernel_build.kernels_in(folder, abi, place)
    if there.build is None:
        why = "they have no record of their build"
    elif sources and there.build.sources != sources:
        why = "they were made of other sources"
    else:
        why = kernel_build.why_not_here(there.build)
    return Looked(place, folder, None if why else there, why)
