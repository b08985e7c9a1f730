# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The record of how kernels were built, and the check whether they run on this machine."""

from __future__ import annotations

import json
import os
import platform
import re
from dataclasses import asdict
from typing import TYPE_CHECKING

from mpigauge.model.mpi import KernelBuild, Kernels
from mpigauge.site.builds.cxx import said_by

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.model.mpi import Abi

FILE = "build.json"
CARDS = "cards.json"
HOST = "mpigauge-kernel"


def libc() -> str:
    """Returns the C library's name and version, as `glibc 2.36`; empty: unknown."""
    return " ".join(filter(None, platform.libc_ver()))


def made_here(compiler: Sequence[str], sources: str) -> KernelBuild:
    """Returns the record of a build here with this compiler."""
    flags = os.environ.get("CXXFLAGS", "")
    return KernelBuild(sources, said_by(compiler), flags, platform.machine(), libc())


def write(folder: Path, build: KernelBuild) -> None:
    (folder / FILE).write_text(json.dumps(asdict(build), indent=1) + "\n", encoding="utf-8")


def read(folder: Path) -> KernelBuild | None:
    """Returns the record in a folder; None: there is none, or not a valid one."""
    try:
        return KernelBuild(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def is_whole(folder: Path) -> bool:
    """True if a folder is complete: the cards are copied last."""
    return (folder / CARDS).exists()


def kernels_in(folder: Path, abi: Abi, origin: str) -> Kernels:
    return Kernels(
        executable=folder / HOST,
        plugin=folder / f"{HOST}.{abi}.so",
        cards=folder / CARDS,
        origin=origin,
        build=read(folder),
    )


def why_not_here(build: KernelBuild) -> str:
    """Returns the reason why kernels cannot run on this machine; empty: they can."""
    if build.machine != platform.machine():
        return f"they are for {build.machine}, this is {platform.machine()}"
    here = libc()
    if _family(build.libc) != _family(here) or _version(build.libc) > _version(here):
        return f"they need {build.libc}, here is {here or 'another C library'}"
    return ""


def _family(text: str) -> str:
    return text.partition(" ")[0]


def _version(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]
