# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Folders in which kernels are compiled. They are kept, so that only changes are compiled again.

There is one for each place of sources, ABI, compiler and headers. Sources whose content differs are
copied into it first. So file times have no effect, the build uses the sources as read at the start,
and a file that is missing from the sources is missing from the build.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mpigauge
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Kernels
from mpigauge.site.builds import folders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.mpi import Abi
    from mpigauge.site.builds.folders import Tell
    from mpigauge.site.builds.progress import BuildProgress

ALL, FIRST = "all", "first"
"""Targets of CMakeLists.txt: every benchmark, or those of the first plugin."""
MADE = "build/kernels"
"""The folder below, at the depth of the repository's build/test, so that ccache shares results."""
UNUSED = 30 * 86400
"""Seconds after which a folder without a build is removed, and a build without a use."""
VANISHED = 86400
"""Seconds after which it is removed if its sources are gone; another host may still see them."""
CCACHE_SLOPPINESS = "pch_defines,time_macros,include_file_mtime,include_file_ctime"
"""The setting that lets ccache use precompiled headers. Nothing here uses the build's time."""


@dataclass(frozen=True)
class BuildSpec:
    """The input of a build."""

    place: Path
    sources: dict[str, bytes]
    """Each source as it was read, by its name below the place."""
    abi: Abi
    include: Path
    header: bytes
    compiler: tuple[str, ...]
    compiler_key: str
    target: str = ALL

    def key(self) -> str:
        """Returns the name of the folder, a digest of all that CMake keeps from its first call."""
        words = (str(self.place), str(self.include), self.compiler_key, _generator(), _launcher())
        return hashlib.sha256(repr(words).encode() + self.header).hexdigest()[:12]


@contextmanager
def compiled(
    spec: BuildSpec, parent: Path, log: Path, tell: Tell = folders.say_nothing
) -> Iterator[Kernels]:
    """Yields the build, in a folder that is ours alone until the end."""
    folders.make_folder(parent, "kernels to be built", "MPIGAUGE_CACHE")
    folder = parent / f"{spec.abi}-{spec.key()}"
    _clear(parent)
    with folders.locked(_lock(folder), tell=tell) as held:
        if held:
            yield _compile_in(folder, spec, log, tell)
            return
    with folders.workplace(folder) as work:
        yield _compile_in(work, spec, log, tell)


def _compile_in(folder: Path, spec: BuildSpec, log: Path, tell: Tell) -> Kernels:
    """Updates the build below this folder.

    A killed build may leave half an object. A file marks a build in progress, and if it exists
    already, the next build starts from scratch. A build that failed was complete up to the error,
    so the next one continues it.
    """
    unfinished = folder / "unfinished"
    if unfinished.exists():
        shutil.rmtree(folder)
    folder.mkdir(exist_ok=True)
    unfinished.touch()
    if any(name.endswith(".hpp") for name in mirror(spec.sources, folder)):
        _forget_precompiled(folder)
    headers = folder / "build" / "mpi"
    headers.parent.mkdir(exist_ok=True)
    headers.unlink(missing_ok=True)
    headers.symlink_to(spec.include)
    (folder / "place").write_text(str(spec.place))
    succeeded = _run_cmake(folder, spec, log, tell)
    unfinished.unlink()
    if not succeeded:
        raise UserError(f"building the kernels failed; the compiler's words are in {log}")
    made = folder / MADE
    plugins = made if spec.target == ALL else made / spec.target
    return Kernels(
        executable=made / "mpigauge-kernel",
        plugin=plugins / f"mpigauge-kernel.{spec.abi}.so",
        cards=plugins / "cards.json",
    )


def mirror(sources: dict[str, bytes], folder: Path) -> list[str]:
    """Makes a folder hold just these sources, and returns the names of those that it wrote."""
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
    """Removes precompiled headers. Otherwise the preprocessor would use the old ones when ccache
    looks for those of the new headers, and would miss what another folder has compiled."""
    for path in folder.rglob("*.gch"):
        path.unlink()


def _run_cmake(folder: Path, spec: BuildSpec, log: Path, tell: Tell) -> bool:
    """Configures and builds. If that fails, the log names the sources by their own place."""
    build, include = folder / MADE, folder / "build" / "mpi"
    configure = ["cmake", "-S", str(folder), "-B", str(build), "-G", _generator()]
    configure += [f"-DMPIGAUGE_ABI={spec.abi}", f"-DMPIGAUGE_MPI_INCLUDE={include}"]
    configure += ["-DCMAKE_BUILD_TYPE=Release", f"-DMPIGAUGE_VERSION={mpigauge.__version__}"]
    make = ["cmake", "--build", str(build), "--target", spec.target]
    make += ["--parallel", str(len(os.sched_getaffinity(0)))]
    env = {**os.environ, "CXX": shlex.join(spec.compiler)}
    if "ccache" in _launcher():
        env = {"CCACHE_BASEDIR": str(folder), "CCACHE_SLOPPINESS": CCACHE_SLOPPINESS} | env
        env["CCACHE_IGNOREOPTIONS"] = "-Werror"  # which the tests of the kernels add
    from mpigauge.site.builds.progress import BuildProgress

    with log.open("w") as output:
        progress = BuildProgress(log, tell)
        good = all(_succeeds(words, env, output.fileno(), progress) for words in (configure, make))
    if not good:
        text = log.read_text(encoding="utf-8", errors="replace")
        log.write_text(text.replace(str(folder), str(spec.place)), encoding="utf-8")
    return good


def _succeeds(words: list[str], env: dict[str, str], output: int, progress: BuildProgress) -> bool:
    """Runs a command to its end, and reports the progress meanwhile."""
    with subprocess.Popen(
        words,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(progress.interval_s)
                progress.look()
        except BaseException:
            process.kill()
            raise
    return process.returncode == 0


def _generator() -> str:
    if shutil.which("ninja"):
        return "Ninja"
    return "Unix Makefiles"


def _launcher() -> str:
    """Returns the program through which CMake starts compilers, such as ccache."""
    return os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", "")


def _lock(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _clear(parent: Path) -> None:
    """Removes folders that are no longer used for builds, unless a build is running there."""
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
