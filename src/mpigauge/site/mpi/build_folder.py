# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Folders in which kernels are compiled. They are kept, so that only changes are compiled again.

There is one for each place of sources, ABI, compiler and headers. Sources are copied into it first,
and only those whose content differs: so times of files mean nothing, what is compiled is what was
read at the start, and a file that is missing from the sources is missing from the build.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mpigauge
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Kernels
from mpigauge.site.mpi import folders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.mpi import Abi

ALL, FIRST = "all", "first"
"""Targets of CMakeLists.txt: every benchmark, or those of the first plugin."""
MADE = "build/kernels"
"""Below the folder, as build/test is below the repository: so ccache finds one in the other."""
UNUSED = 30 * 86400
"""After so many seconds without a build a folder is removed, and what was built without a use."""
VANISHED = 86400
"""The same, where the sources are gone: another host may still see them."""
CCACHE_SLOPPINESS = "pch_defines,time_macros,include_file_mtime,include_file_ctime"
"""Without it ccache does not take precompiled headers. Nothing here uses the time of the build."""


@dataclass(frozen=True)
class Wanted:
    """What is to be compiled, and with what."""

    place: Path
    sources: dict[str, bytes]
    """Every source by its name below the place, as it was read."""
    abi: Abi
    include: Path
    header: bytes
    compiler: tuple[str, ...]
    compiler_key: str
    target: str = ALL

    def key(self) -> str:
        """Names the folder. Whatever CMake remembers from its first call is in it."""
        words = (str(self.place), str(self.include), self.compiler_key, _generator(), _launcher())
        return hashlib.sha256(repr(words).encode() + self.header).hexdigest()[:12]


@contextmanager
def compiled(wanted: Wanted, parent: Path, log: Path) -> Iterator[Kernels]:
    """What was built, in a folder that is ours alone until the end."""
    folders.make_folder(parent, "kernels to be built", "MPIGAUGE_CACHE")
    folder = parent / f"{wanted.abi}-{wanted.key()}"
    _clear(parent)
    with folders.locked(_lock(folder)) as held:
        if held:
            yield _compile_in(folder, wanted, log)
            return
    with folders.workplace(folder) as work:
        yield _compile_in(work, wanted, log)


def _compile_in(folder: Path, wanted: Wanted, log: Path) -> Kernels:
    """The build below this folder, brought up to date.

    A build that was killed may leave half an object: as long as one goes on, a file says so, and
    the next begins anew where it is still there. One that failed ended in order, so the next goes
    on from there.
    """
    unfinished = folder / "unfinished"
    if unfinished.exists():
        shutil.rmtree(folder)
    folder.mkdir(exist_ok=True)
    unfinished.touch()
    if any(name.endswith(".hpp") for name in mirror(wanted.sources, folder)):
        _forget_precompiled(folder)
    headers = folder / "build" / "mpi"
    headers.parent.mkdir(exist_ok=True)
    headers.unlink(missing_ok=True)
    headers.symlink_to(wanted.include)
    (folder / "place").write_text(str(wanted.place))
    succeeded = _run_cmake(folder, wanted, log)
    unfinished.unlink()
    if not succeeded:
        raise UserError(f"building the kernels failed; the compiler's words are in {log}")
    made = folder / MADE
    plugins = made if wanted.target == ALL else made / wanted.target
    return Kernels(
        executable=made / "mpigauge-kernel",
        plugin=plugins / f"mpigauge-kernel.{wanted.abi}.so",
        cards=plugins / "cards.json",
    )


def mirror(sources: dict[str, bytes], folder: Path) -> list[str]:
    """Makes a folder hold just these sources, and leaves alone those that are right. The names of
    those that were written."""
    written = []
    for top in {name.partition("/")[0] for name in sources}:
        for path in [path for path in (folder / top).rglob("*") if not path.is_dir()]:
            if path.relative_to(folder).as_posix() not in sources:
                path.unlink()
    for name, content in sources.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            written.append(name)
    return written


def _forget_precompiled(folder: Path) -> None:
    """While ccache looks for precompiled headers that are of the new ones, the preprocessor would
    take those that are there, and so would find what another folder has made after the same."""
    for path in folder.rglob("*.gch"):
        path.unlink()


def _run_cmake(folder: Path, wanted: Wanted, log: Path) -> bool:
    """Configures and builds. Where that fails, the log names the sources by their own place."""
    build, include = folder / MADE, folder / "build" / "mpi"
    configure = ["cmake", "-S", str(folder), "-B", str(build), "-G", _generator()]
    configure += [f"-DMPIGAUGE_ABI={wanted.abi}", f"-DMPIGAUGE_MPI_INCLUDE={include}"]
    configure += ["-DCMAKE_BUILD_TYPE=Release", f"-DMPIGAUGE_VERSION={mpigauge.__version__}"]
    make = ["cmake", "--build", str(build), "--target", wanted.target]
    make += ["--parallel", str(len(os.sched_getaffinity(0)))]
    env = {**os.environ, "CXX": shlex.join(wanted.compiler)}
    if "ccache" in _launcher():
        env = {"CCACHE_BASEDIR": str(folder), "CCACHE_SLOPPINESS": CCACHE_SLOPPINESS} | env
        env["CCACHE_IGNOREOPTIONS"] = "-Werror"  # which the tests of the kernels add
    with log.open("w") as output:
        good = all(_succeeds(words, env, output.fileno()) for words in (configure, make))
    if not good:
        said = log.read_text(encoding="utf-8", errors="replace")
        log.write_text(said.replace(str(folder), str(wanted.place)), encoding="utf-8")
    return good


def _succeeds(words: list[str], env: dict[str, str], output: int) -> bool:
    done = subprocess.run(
        words,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode == 0


def _generator() -> str:
    if shutil.which("ninja"):
        return "Ninja"
    return "Unix Makefiles"


def _launcher() -> str:
    """What CMake starts compilers with, such as ccache."""
    return os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", "")


def _lock(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _clear(parent: Path) -> None:
    """Removes folders that nobody will build in again, unless somebody does just now."""
    for note in parent.glob("*/place"):
        folder = note.parent
        if not _is_old(note):
            continue
        with folders.locked(_lock(folder), wait=False) as held:
            if held and _is_old(note):
                shutil.rmtree(folder, ignore_errors=True)


def _is_old(note: Path) -> bool:
    try:
        unused = time.time() - note.stat().st_mtime
        is_gone = not Path(note.read_text()).is_dir()
    except OSError:
        return False
    return unused > (VANISHED if is_gone else UNUSED)
