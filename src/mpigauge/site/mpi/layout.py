# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The locations of launcher, library and headers within a site's MPI."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.topology.busy import grown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.model.mpi import Abi, Launcher

SECONDS = 30.0
LAUNCHERS = ("bin/mpiexec", "bin/mpiexec.hydra", "bin/mpirun", "mpiexec", "mpirun")
LIBRARIES: dict[Launcher, tuple[str, ...]] = {
    "hydra": ("libmpi.so.12", "libmpich.so.12", "libmpi.so"),
    "openmpi": ("libmpi.so.40", "libmpi_ibm.so.3", "libmpi.so.20", "libmpi.so"),
    "srun": ("libmpi.so.12", "libmpi_*.so.12", "libmpich.so.12", "libmpi.so"),
}
"""Names and patterns of names, in the order of preference. Cray's contain a compiler's name."""
STANDARD_LIBRARIES = ("libmpi_abi.so.1", "libmpi_abi.so.0")

# What `mpiexec --version` says, and which launcher that is.
KINDS: tuple[tuple[str, Launcher], ...] = (
    ("hydra", "hydra"),
    ("intel(r) mpi", "hydra"),
    ("open mpi", "openmpi"),
    ("openrte", "openmpi"),
    ("prrte", "openmpi"),
)


def launcher_below(folder: Path) -> Path:
    for name in LAUNCHERS:
        if (folder / name).is_file():
            return folder / name
    raise UserError(f"there is no bin/mpiexec and no bin/mpirun in {folder}, so it is not an MPI")


def launcher_kind(program: Path, env: Mapping[str, str] | None = None) -> Launcher:
    """Returns the kind of a launcher, by its output for --version."""
    text = launcher_words(program, env)
    for sign, kind in KINDS:
        if sign in text.lower():
            return kind
    first_line = (text.strip().splitlines() or ["nothing"])[0][:80]
    raise UserError(
        f"{program} is neither Hydra (MPICH, Intel MPI) nor Open MPI's launcher: "
        f"its --version prints: {first_line}"
    )


def launcher_words(program: Path, env: Mapping[str, str] | None = None) -> str:
    """Returns the launcher's output for --version."""
    return _output_of([str(program), "--version"], env)


def library_names(launcher: Launcher, standard: bool) -> tuple[str, ...]:
    if standard:
        return STANDARD_LIBRARIES
    return LIBRARIES[launcher]


def library(prefix: Path, mpiexec: Path, launcher: Launcher, standard: bool) -> Path | None:
    """Returns the library itself. libmpi.so may be a linker script, so contents are checked."""
    names = library_names(launcher, standard)
    for folder in _library_folders(prefix, mpiexec):
        for name in names:
            for file in sorted(folder.glob(name)):
                if _is_elf(file):
                    return file
    return None


def include(prefix: Path, mpiexec: Path, abi: Abi) -> Path | None:
    """Returns the folder with headers for this ABI, or None."""
    for folder in _include_folders(prefix, mpiexec):
        if _fits(folder, abi):
            return folder
    return None


def _library_folders(prefix: Path, mpiexec: Path) -> Iterator[Path]:
    triplet = f"{platform.machine()}-linux-gnu"
    below = ("lib", "lib64", "lib/release", f"lib/{triplet}", f"lib/{triplet}/openmpi/lib")
    for root in _roots(prefix, mpiexec):
        yield from (root / folder for folder in below)
    if mpiexec.is_relative_to(prefix):
        yield from _from_wrapper(mpiexec, "-L")


def _include_folders(prefix: Path, mpiexec: Path) -> Iterator[Path]:
    triplet = f"{platform.machine()}-linux-gnu"
    below = ("include", f"lib/{triplet}/openmpi/include", f"include/{triplet}/mpich")
    for root in _roots(prefix, mpiexec):
        yield from (root / folder for folder in below)
    if mpiexec.is_relative_to(prefix):
        yield from _from_wrapper(mpiexec, "-I")


def _roots(prefix: Path, mpiexec: Path) -> list[Path]:
    """Returns the prefix as named, and the real one of a linked mpiexec in it."""
    if not mpiexec.is_relative_to(prefix):
        return [prefix]
    return list(dict.fromkeys([prefix, mpiexec.resolve().parent.parent]))


def _from_wrapper(mpiexec: Path, option: str) -> Iterator[Path]:
    """Yields the folders that the mpicc next to the launcher passes to the compiler. Debian has
    several of both in one folder, named by MPI: mpiexec.openmpi, mpicc.openmpi."""
    wrappers = (mpiexec.with_name(f"mpicc{mpiexec.suffix}"), mpiexec.with_name("mpicc"))
    wrapper = next((path for path in wrappers if path.is_file()), None)
    if wrapper is not None:
        words = shlex.split(_output_of([str(wrapper), "-show"]))
        yield from (Path(word[2:]) for word in words if word.startswith(option))


def _fits(folder: Path, abi: Abi) -> bool:
    header = folder / ("mpi_abi.h" if abi == "std" else "mpi.h")
    try:
        text = header.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    if abi == "std":
        return True
    return ("OMPI_" in text) == (abi == "ompi")


def _is_elf(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(4) == b"\x7fELF"
    except OSError:
        return False


def _output_of(words: list[str], env: Mapping[str, str] | None = None) -> str:
    seconds = grown(SECONDS)
    try:
        done = subprocess.run(
            words,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except OSError as error:
        raise UserError(f"cannot run {words[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{shlex.join(words)} did not end within {seconds:.3g} s") from None
    return done.stdout
