# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Inspects the program of a command line: the MPI that it was built for, and its libraries here."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.mpi.programs import abi
from mpigauge.site.mpi.programs.elf import DamagedError, Elf, is_elf, read_elf
from mpigauge.site.mpi.programs.loader import LoadedLibrary, Loader
from mpigauge.site.topology.busy import grown

if TYPE_CHECKING:
    from mpigauge.model.mpi import Abi
    from mpigauge.site.mpi.programs.abi import Family

PYTHON = "python"
SECONDS = 20.0
MOST_OF_A_SCRIPT = 1 << 20
_RUNTIME = re.compile(r"lib(gfortran|ifcore|ifcoremt|flang|flang_rt|nvf|pgf90|f)\.so\b")
CAPABILITIES = "security.capability"
FIND_MPI4PY = """
import importlib.util
found = importlib.util.find_spec("mpi4py")
print(found.origin if found and found.origin else "")
"""


@dataclass(frozen=True)
class Look:
    """The properties of a program, before it runs."""

    path: Path
    kind: str
    """binary, script (which starts others), python, or other (which the system starts somehow)."""
    elf: Elf | None = field(default=None, hash=False)
    """The binary; for Python the module that calls MPI."""
    libraries: tuple[LoadedLibrary, ...] = ()
    secure: bool = False
    """True if it gets rights that its user does not have, so that nothing can be preloaded."""
    module: Path | None = None
    """The file of mpi4py that calls MPI, for Python."""

    @cached_property
    def mpi_libraries(self) -> tuple[LoadedLibrary, ...]:
        """The libraries of MPI that it needs, directly or through another library."""
        return tuple(each for each in self.libraries if abi.family_of(each.name))

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The families of these libraries, without layers for Fortran unless there are no others.
        Open MPI 1 is identified by its objects."""
        objects = self.wants | (self.elf.offers if self.elf else frozenset())
        of_libraries = [abi.family_by(each.name, objects) for each in self.mpi_libraries]
        core = [each for each in of_libraries if each and not each.fortran]
        if not core:
            core = [each for each in of_libraries if each]
        return tuple(dict.fromkeys(core))

    @property
    def abis(self) -> tuple[Abi, ...]:
        return tuple(dict.fromkeys(each.abi for each in self.families if each.abi))

    @property
    def unknown(self) -> tuple[str, ...]:
        """MPIs that it needs and of which we have only the names."""
        return tuple(dict.fromkeys(each.label for each in self.families if each.abi is None))

    @property
    def static(self) -> bool:
        """True if nothing is loaded for it, so that nothing can be preloaded."""
        return self.elf is not None and not self.elf.dynamic

    @property
    def holds_mpi(self) -> bool:
        """True if MPI is a part of the program itself."""
        return self.elf is not None and not self.mpi_libraries and self.elf.holds_mpi

    @property
    def holds_profiler(self) -> bool:
        """True if the profiler is a part of the program itself, so that none need be preloaded."""
        return self.elf is not None and self.elf.holds_profiler

    @cached_property
    def wants(self) -> frozenset[str]:
        """Names that it and its own libraries import."""
        own = []
        for each in self.libraries:
            if each.elf and not abi.family_of(each.name):
                own.append(each.elf)
        direct: frozenset[str] = self.elf.wants if self.elf else frozenset()
        return direct.union(*(elf.wants for elf in own))

    @property
    def calls(self) -> frozenset[str]:
        return abi.calls(self.wants)

    @property
    def extensions(self) -> frozenset[str]:
        return abi.extensions(self.wants)

    @property
    def data(self) -> frozenset[str]:
        """Variables of an MPI library; a program that was linked to it may hold copies of them."""
        copies: frozenset[str] = self.elf.offers if self.elf else frozenset()
        return abi.data(self.wants | copies)

    @property
    def fortran(self) -> tuple[LoadedLibrary, ...]:
        """Layers for Fortran that it needs."""
        with_family = ((each, abi.family_of(each.name)) for each in self.mpi_libraries)
        return tuple(each for each, family in with_family if family and family.fortran)

    @property
    def runtimes(self) -> tuple[LoadedLibrary, ...]:
        """The runtimes of Fortran's compilers that it needs."""
        return tuple(each for each in self.libraries if _RUNTIME.match(each.name))

    @property
    def uses_mpi(self) -> bool:
        return bool(self.mpi_libraries or self.holds_mpi)


def look(words: Sequence[str], env: Mapping[str, str], folder: Path = Path()) -> Look:
    """Inspects the program that these words start in a folder. A program that only starts another
    one (env, taskset, numactl) is skipped. UserError: it is missing, or not executable."""
    path = _program(words[0], env, folder)
    if path is None:
        raise UserError(_missing(words[0], folder))
    if not is_elf(path):
        return _look_at_text(path, env, folder)
    if PurePath(path).name.startswith(PYTHON):
        return _look_at_python(path, env)
    outer = _look_at_binary(path, env)
    if not outer.uses_mpi:
        for rest in _behind(words, env, folder):
            inner = look(rest, env, folder)
            if inner.kind != "binary" or inner.uses_mpi:
                return inner
    return outer


def inner_words(
    words: Sequence[str], env: Mapping[str, str], folder: Path = Path()
) -> Sequence[str]:
    """Returns the words from the first that is a program of MPI itself, of words that begin with a
    script; empty: it does not exist."""
    for rest in _behind(words, env, folder):
        try:
            inner = look(rest, env, folder)
        except UserError:
            return ()
        if inner.uses_mpi:
            return rest
        return inner_words(rest, env, folder)
    return ()


def _look_at_binary(path: Path, env: Mapping[str, str]) -> Look:
    try:
        elf = read_elf(path)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except DamagedError as error:
        raise UserError(f"{path}: {error}") from None
    secure = _is_secure(path)
    libraries = Loader(env, secure=secure).libraries(path, elf) if elf.dynamic else ()
    return Look(path, "binary", elf, libraries, secure)


def _look_at_text(path: Path, env: Mapping[str, str], folder: Path) -> Look:
    """Inspects a script, by its first line; for Python also mpi4py."""
    first = _first_line(path)
    if not first.startswith("#!"):
        return Look(path, "other")
    interpreter = first[2:].split()
    if interpreter and PurePath(interpreter[0]).name == "env":
        interpreter = [word for word in interpreter[1:] if not word.startswith("-")]
    if interpreter and PurePath(interpreter[0]).name.startswith(PYTHON):
        program = _program(interpreter[0], env, folder)
        if program is not None:
            return _look_at_python(program, env)
    return Look(path, "script")


def _look_at_python(path: Path, env: Mapping[str, str]) -> Look:
    """Inspects mpi4py, whose module has the library, as Python calls MPI through it."""
    package = _mpi4py_of(path, env)
    if package is None:
        return Look(path, PYTHON)
    loader = Loader(env)
    modules = []
    for module in sorted(package.glob("MPI*.so")):
        try:
            elf = read_elf(module)
        except (OSError, DamagedError):
            continue
        modules.append(Look(path, PYTHON, elf, loader.libraries(module, elf), module=module))
    whole = [each for each in modules if all(library.path for library in each.mpi_libraries)]
    return next(iter([*whole, *modules]), Look(path, PYTHON))


def _mpi4py_of(python: Path, env: Mapping[str, str]) -> Path | None:
    """Returns the folder of this Python's mpi4py; None: it has none."""
    try:
        done = subprocess.run(
            [str(python), "-c", FIND_MPI4PY],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=grown(SECONDS),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.strip().splitlines()
    if lines and lines[-1]:
        return Path(lines[-1]).parent
    return None


def _behind(words: Sequence[str], env: Mapping[str, str], folder: Path) -> Iterator[Sequence[str]]:
    """Yields the words from the first that is a program itself, which another program may start."""
    for at, word in enumerate(words[1:], 1):
        if not word.startswith("-") and "=" not in word and _program(word, env, folder):
            yield words[at:]
            return


def _program(word: str, env: Mapping[str, str], folder: Path) -> Path | None:
    if "/" in word:
        path = folder / word
        if path.is_file() and os.access(path, os.X_OK):
            return path
        return None
    program = shutil.which(word, path=env.get("PATH", os.defpath))
    if program:
        return Path(program)
    return None


def _missing(word: str, folder: Path) -> str:
    path = folder / word
    if "/" not in word:
        hint = f"; write ./{word}" if path.is_file() else ""
        return f"there is no program '{word}' on PATH{hint}"
    if path.is_dir():
        return f"{word} is a folder, not a program"
    if path.exists():
        return f"{word} cannot be run: it has not the permission (chmod +x {word})"
    return f"there is no program {word}"


def _is_secure(path: Path) -> bool:
    """True if it runs with another user's rights: then the loader ignores LD_PRELOAD."""
    about = path.stat()
    if about.st_mode & stat.S_ISUID and about.st_uid != os.geteuid():
        return True
    if about.st_mode & stat.S_ISGID and about.st_gid != os.getegid():
        return True
    try:
        return bool(os.getxattr(path, CAPABILITIES)) and os.geteuid() != 0
    except OSError:
        return False


def _first_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.readline(MOST_OF_A_SCRIPT).decode("utf-8", "replace").strip()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
