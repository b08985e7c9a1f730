# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The CUDA libraries of this host that an MPI or the kernels would use."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.site.builds.remembered import remembered
from mpigauge.site.mpi import tools
from mpigauge.site.mpi.programs.elf import DamagedError, Elf, read_elf
from mpigauge.site.mpi.programs.loader import ROOT, LoadedLibrary, Loader, NeedingObject

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

DRIVER = ("libcuda.so.1", "libcuda.so")
"""Names of the driver's library: the driver installs the first one, some machines have both."""
NCCL = "libnccl.so.2"
ADDED = Path("cuda") / "wheel" / "libucx" / "lib"
"""The folder of UCX with CUDA that `mpigauge mpi install openmpi --cuda` adds to a prefix."""
_UCS, _UCT_CUDA = "libucs.so.0", Path("ucx") / "libuct_cuda.so.0"
_STUBS = "stubs"
"""The folder of toolkits with a library of the driver's name, but without a driver."""
_BUILT_WITH_CUDA = "_built_with_cuda_support:value:true"


@dataclass(frozen=True)
class CudaLibraries:
    driver: Path | None
    """The driver's library; None: there is no driver."""
    ucx: Path | None = None
    """The folder of a UCX with its module for CUDA; None: the MPI has none."""
    ucx_by_default: bool = False
    """True if the MPI loads this UCX in any case."""
    built_in: bool = False
    """True if the MPI reports that it was built with CUDA."""


def cuda_libraries(mpi: Mpi, env: Mapping[str, str] | None = None) -> CudaLibraries:
    """Returns the libraries that this MPI's ranks would find; `env` is by default our own."""
    whole = {**(os.environ if env is None else env), **mpi.env}
    driver = driver_library(whole)
    added = mpi.prefix / ADDED
    if (added / _UCT_CUDA).is_file():
        return CudaLibraries(driver, added)
    ucx = _ucx_with_cuda(mpi, whole)
    return CudaLibraries(driver, ucx, ucx is not None, _is_built_with_cuda(mpi))


def driver_library(env: Mapping[str, str] | None = None, root: Path = ROOT) -> Path | None:
    """Returns the driver's library as the loader finds it by one of its names; None: there is
    none."""
    return next(_loadable(DRIVER, env, root), None)


def nccl_library(env: Mapping[str, str] | None = None, root: Path = ROOT) -> Path | None:
    """Returns NCCL as the loader finds it, else the one of this interpreter's packages
    (nvidia-nccl-cu13, which PyTorch brings); None: none."""
    return next(_loadable((NCCL,), env, root), None) or next(_nccl_of_packages(), None)


def _loadable(names: Sequence[str], env: Mapping[str, str] | None, root: Path) -> Iterator[Path]:
    """Yields the libraries that the loader finds by these names. Programs open them by a name, so
    an RPATH of ours does not count."""
    elf = _elf(Path(sys.executable))
    if elf is None:
        return
    asker = NeedingObject(Path(sys.executable), replace(elf, rpath=(), runpath=()), None)
    loader = Loader(os.environ if env is None else env, root)
    for name in names:
        for path, _ in loader.places(name, asker):
            if _STUBS not in path.parts and loader.fitting(path, elf) is not None:
                yield path


def _nccl_of_packages() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        library = Path(folder) / "nccl" / "lib" / NCCL
        if library.is_file():
            yield library


def _ucx_with_cuda(mpi: Mpi, env: Mapping[str, str]) -> Path | None:
    """Returns the folder of the UCX that this MPI loads, if it has a module for CUDA."""
    own = tools.folder_with(mpi, _UCS)
    loaded = LoadedLibrary(_UCS, "", own / _UCS if own else None)
    elf = _elf(mpi.library)
    if own is None and elf is not None:
        loaded = Loader(env).find(_UCS, NeedingObject(mpi.library, elf, None))
    if loaded.path is None:
        return None
    folder = loaded.path.resolve().parent
    return folder if (folder / _UCT_CUDA).is_file() else None


def _is_built_with_cuda(mpi: Mpi) -> bool:
    """True if Open MPI reports it, as its documentation describes; other MPIs do not."""
    program = mpi.mpiexec.with_name("ompi_info")
    if mpi.launcher != "openmpi" or not program.is_file():
        return False

    def ask() -> str:
        text = tools.output([str(program), "--parsable", "--all"], mpi.env)
        return "yes" if _BUILT_WITH_CUDA in text else "no"

    return remembered("cuda", [str(program)], [program, mpi.library], ask) == "yes"


def _elf(path: Path) -> Elf | None:
    try:
        return read_elf(path)
    except (OSError, DamagedError):
        return None
