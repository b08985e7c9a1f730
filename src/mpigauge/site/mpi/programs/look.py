# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The program behind a command line: which MPI it was made for, and what it would load here."""

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
    """What there is to be known of a program before it runs."""

    path: Path
    kind: str
    """binary, script (which starts others), python, or other (which the system starts somehow)."""
    elf: Elf | None = field(default=None, hash=False)
    """Of a binary; of Python the module that calls MPI."""
    libraries: tuple[LoadedLibrary, ...] = ()
    secure: bool = False
    """Whether it gets rights that its user has not, so that nothing can be preloaded."""
    module: Path | None = None
    """Of Python: the file of mpi4py that calls MPI."""

    @cached_property
    def mpi_libraries(self) -> tuple[LoadedLibrary, ...]:
        """The libraries of MPI that it needs, itself or by another library."""
        return tuple(each for each in self.libraries if abi.family_of(each.name))

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """Whose they are, the layers for Fortran left out; Open MPI 1 is told by its objects."""
        objects = self.wants | (self.elf.offers if self.elf else frozenset())
        found = [abi.family_by(each.name, objects) for each in self.mpi_libraries]
        core = [each for each in found if each and not each.fortran]
        if not core:
            core = [each for each in found if each]
        return tuple(dict.fromkeys(core))

    @property
    def abis(self) -> tuple[Abi, ...]:
        return tuple(dict.fromkeys(each.abi for each in self.families if each.abi))

    @property
    def unknown(self) -> tuple[str, ...]:
        """MPIs that it needs and that we know by name only."""
        return tuple(dict.fromkeys(each.label for each in self.families if each.abi is None))

    @property
    def static(self) -> bool:
        """Whether nothing is loaded for it, so that nothing can be loaded before."""
        return self.elf is not None and not self.elf.dynamic

    @property
    def holds_mpi(self) -> bool:
        """Whether MPI is a part of the program itself."""
        return self.elf is not None and not self.mpi_libraries and self.elf.holds_mpi

    @property
    def holds_profiler(self) -> bool:
        """Whether the profiler is a part of the program itself, so that none need be preloaded."""
        return self.elf is not None and self.elf.holds_profiler

    @cached_property
    def wants(self) -> frozenset[str]:
        """Names that it and its own libraries take from others."""
        own = []
        for each in self.libraries:
            if each.elf and not abi.family_of(each.name):
                own.append(each.elf)
        found: frozenset[str] = self.elf.wants if self.elf else frozenset()
        return found.union(*(elf.wants for elf in own))

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
        found = ((each, abi.family_of(each.name)) for each in self.mpi_libraries)
        return tuple(each for each, family in found if family and family.fortran)

    @property
    def runtimes(self) -> tuple[LoadedLibrary, ...]:
        """The runtimes of Fortran's compilers that it needs."""
        return tuple(each for each in self.libraries if _RUNTIME.match(each.name))

    @property
    def uses_mpi(self) -> bool:
        return bool(self.mpi_libraries or self.holds_mpi)


def look(words: Sequence[str], env: Mapping[str, str], folder: Path = Path()) -> Look:
    """The program that these words start in a folder. What only starts another program (env,
    taskset, numactl) is looked through. UserError: there is none, or it cannot be run."""
    path = _program(words[0], env, folder)
    if path is None:
        raise UserError(_missing(words[0], folder))
    if not is_elf(path):
        return _look_at_text(path, env, folder)
    if PurePath(path).name.startswith(PYTHON):
        return _look_at_python(path, env)
    found = _look_at_binary(path, env)
    if not found.uses_mpi:
        for rest in _behind(words, env, folder):
            inner = look(rest, env, folder)
            if inner.kind != "binary" or inner.uses_mpi:
                return inner
    return found


def inner_words(
    words: Sequence[str], env: Mapping[str, str], folder: Path = Path()
) -> Sequence[str]:
    """The words from the first that is a program of MPI itself, of words that begin with a script;
    none: there is no such word."""
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
    """A script, by its first line; Python is looked into further."""
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
    """Python calls MPI through mpi4py, whose module has the library."""
    package = _mpi4py_of(path, env)
    if package is None:
        return Look(path, PYTHON)
    loader = Loader(env)
    found = []
    for module in sorted(package.glob("MPI*.so")):
        try:
            elf = read_elf(module)
        except (OSError, DamagedError):
            continue
        found.append(Look(path, PYTHON, elf, loader.libraries(module, elf), module=module))
    whole = [each for each in found if all(library.path for library in each.mpi_libraries)]
    return next(iter([*whole, *found]), Look(path, PYTHON))


def _mpi4py_of(python: Path, env: Mapping[str, str]) -> Path | None:
    """The folder of the mpi4py that this Python finds; None: it has none."""
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
    said = done.stdout.strip().splitlines()
    if said and said[-1]:
        return Path(said[-1]).parent
    return None


def _behind(words: Sequence[str], env: Mapping[str, str], folder: Path) -> Iterator[Sequence[str]]:
    """What another program could start: words from the first that is a program itself."""
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
    found = shutil.which(word, path=env.get("PATH", os.defpath))
    if found:
        return Path(found)
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
    """Whether it runs with another's rights: then the loader ignores LD_PRELOAD."""
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
