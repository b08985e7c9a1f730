# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Builds what a wheel brings compiled: kernels for each ABI of MPI, the profiler's libraries, the
translations, and the small libraries of `mpigauge exec`. `make wheel` runs it.

All of it runs with glibc 2.17 or later and needs no C++ runtime. The compiler is that of zig
(docs/decisions/wheels-with-kernels.md), or WHEEL_CXX, whose C library is then the oldest.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Abi, KernelBuild, Kernels
from mpigauge.products.profile.launch.library import ARCHIVE, NAME
from mpigauge.site.builds import kernel_build
from mpigauge.site.mpi import find
from mpigauge.site.mpi import make as build
from mpigauge.site.mpi.make import translation
from mpigauge.site.mpi.programs import small, witness

ROOT = Path(__file__).resolve().parents[1]
ZIG = "0.17.1"
GLIBC = "2.17"
MACHINES = ("x86_64", "aarch64")
LENDERS: dict[Abi, str] = {"mpich": "mpich", "ompi": "openmpi", "std": "mpich@std"}
"""The MPIs whose headers are used, by ABI."""
PARTS_OF_CARDS = (
    "card_writer",
    "platform",
    "blas",
    "gpu",
    "core",
    "record",
    "first_suite",
    "first_node",
    "other_suite",
    "other_node",
)
"""The libraries of CMakeLists.txt that are linked into the program that lists the cards."""
UNKNOWN = "-Wl,--exclude-libs,ALL"
STAND_IN = """#!/bin/sh
for word; do
  shift
  [ "$word" = {unknown} ] || set -- "$@" "$word"
done
exec {words} "$@"
"""
OF_MPI = re.compile(r"P?MPI[XR]?_\w+|ompi_\w+")
SAME_EVERYWHERE = ("-g0", f"-ffile-prefix-map={ROOT}=.", "-Wno-unused-command-line-argument")


@dataclass(frozen=True)
class Compiler:
    machine: str
    words: Path
    """The program that runs the compiler."""
    archiver: Path | None
    description: str
    """The name and version of the compiler."""
    libc: str

    @property
    def is_cross(self) -> bool:
        return self.machine != platform.machine()

    def options(self) -> list[str]:
        """Returns the options for CMake. Binaries do not contain the path of the build folder."""
        settings = [f"-DCMAKE_CXX_COMPILER={self.words}", "-DCMAKE_BUILD_TYPE=Release"]
        settings += [f"-DCMAKE_EXE_LINKER_FLAGS={LINK}"]
        settings += [f"-DCMAKE_{kind}_LINKER_FLAGS={LINK} {HIDE}" for kind in ("SHARED", "MODULE")]
        if self.archiver:
            settings += [f"-DCMAKE_AR={self.archiver}", "-DCMAKE_RANLIB=/bin/true"]
        if self.is_cross:
            settings += ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={self.machine}"]
        return settings


LINK = "-static-libstdc++ -static-libgcc -Wl,-s"
HIDE = f"-Wl,--version-script={ROOT / 'tools' / 'shipped.map'}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where it is put; what is there is removed")
    parser.add_argument("--machine", choices=MACHINES, default=platform.machine())
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "shipped")
    parser.add_argument("--abi", choices=get_args(Abi), action="append", help="only these kernels")
    given = parser.parse_args(arguments)
    try:
        ship(given.folder, given.machine, given.work.absolute(), given.abi or get_args(Abi))
    except UserError as error:
        print(f"shipped: {error}", file=sys.stderr)
        return 2
    return 0


def ship(folder: Path, machine: str, work: Path, abis: Sequence[Abi]) -> None:
    """UserError: something cannot be built."""
    work = work / machine
    compiler = chosen_compiler(machine, work)
    shutil.rmtree(folder, ignore_errors=True)
    for abi in abis:
        kernels(abi, compiler, work / abi, folder / "kernels" / abi)
    profiler(compiler, work, folder / "profiler")
    for program, target in pairs(abis):
        translated(program, target, compiler, work, folder / "translation")
    small_ones(compiler, work, folder / "programs")


# --- the compiler -------------------------------------------------------------------------------
def chosen_compiler(machine: str, work: Path) -> Compiler:
    work.mkdir(parents=True, exist_ok=True)
    named = shlex.split(os.environ.get("WHEEL_CXX", ""))
    if named:
        if machine != platform.machine():
            raise UserError(f"WHEEL_CXX builds for {platform.machine()}, not for {machine}")
        return Compiler(
            machine, stand_in(work, "c++", named), None, version(named), kernel_build.libc()
        )
    zig = [sys.executable, "-m", "ziglang"]
    zig_version = output([*zig, "version"]).strip()
    if zig_version != ZIG:
        raise UserError(f"zig {ZIG} is needed, not '{zig_version}': `pip install ziglang=={ZIG}`")
    target = f"{machine}-linux-gnu.{GLIBC}"
    # Under this name ccache and CMake take it for what it is.
    words = stand_in(work, "clang++", [*zig, "c++", "-target", target])
    clang = version([str(words)])
    return Compiler(
        machine,
        words,
        stand_in(work, "ar", [*zig, "ar"]),
        f"{clang} of zig {zig_version}",
        f"glibc {GLIBC}",
    )


def stand_in(work: Path, name: str, words: Sequence[str]) -> Path:
    """Writes a script that calls the compiler with fixed options, and omits the one that zig's
    linker does not support: zig's C++ runtime exports nothing by itself."""
    more = SAME_EVERYWHERE if name != "ar" else ()
    script = work / "bin" / name
    script.parent.mkdir(exist_ok=True)
    text = STAND_IN.format(unknown=UNKNOWN, words=shlex.join([*words, *more]))
    if not script.exists() or script.read_text() != text:
        script.write_text(text)
        script.chmod(0o755)
    return script


def version(words: Sequence[str]) -> str:
    first = output([*words, "--version"]).splitlines()[0]
    return first.partition(" (http")[0].strip()


# --- what is built ------------------------------------------------------------------------------
def kernels(abi: Abi, compiler: Compiler, work: Path, folder: Path) -> None:
    include = find(LENDERS[abi]).include
    if include is None:
        raise UserError(f"{LENDERS[abi]} brings no headers; `mpigauge mpi install` brings one")
    work.mkdir(parents=True, exist_ok=True)
    headers = work / "mpi"
    headers.unlink(missing_ok=True)
    headers.symlink_to(include)
    made = work / "build"
    options = [f"-DMPIGAUGE_ABI={abi}", f"-DMPIGAUGE_MPI_INCLUDE={headers}"]
    options += [f"-DMPIGAUGE_VERSION={released()}"]
    cmake(ROOT, made, compiler, [*options, "-DMPIGAUGE_CARDS=OFF"])
    plugin = made / f"{kernel_build.HOST}.{abi}.so"
    how = KernelBuild(
        build.sources_digest(), compiler.description, "", compiler.machine, compiler.libc
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    cards = written_cards(abi, plugin, compiler, work)
    kept = work / "kept"
    shutil.rmtree(kept, ignore_errors=True)
    build.keep(Kernels(made / kernel_build.HOST, plugin, cards), how, kept, folder, made)


def written_cards(abi: Abi, plugin: Path, compiler: Compiler, work: Path) -> Path:
    """Cards are the same on all machines; a program that was built for this one writes them. Its
    calls of MPI, which it never makes, lead to objects of these names, as zig links nothing that
    leads nowhere."""
    if compiler.is_cross:
        native = work.parents[1] / platform.machine() / abi / "cards.json"
        if not native.exists():
            raise UserError(f"build for {platform.machine()} first: {native} is missing")
        return native
    unresolved = output(["nm", "--undefined-only", "--dynamic", str(plugin)]).split()
    names = sorted(filter(OF_MPI.match, unresolved))
    stubs, program, cards = work / "stubs.c", work / "cards", work / "cards.json"
    stubs.write_text("".join(f"char {name}[8];\n" for name in names))
    run([str(compiler.words), "-x", "c", "-c", str(stubs), "-o", f"{stubs}.o"], work / "cards.log")
    objects = [
        str(path)
        for part in PARTS_OF_CARDS
        for path in sorted((work / f"build/CMakeFiles/{part}.dir").rglob("*.o"))
    ]
    run(
        [str(compiler.words), *objects, f"{stubs}.o", "-o", str(program), "-ldl", "-lpthread"],
        work / "cards.log",
    )
    cards.write_text(output([str(program)]), encoding="utf-8")
    return cards


def profiler(compiler: Compiler, work: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, options in ((NAME, []), (ARCHIVE, ["-DMPIGAUGE_ARCHIVE=ON"])):
        made = work / name
        cmake(ROOT / "profiler", made, compiler, options)
        shutil.copy2(made / name, folder / name)


def pairs(abis: Sequence[Abi]) -> Iterator[tuple[Abi, Abi]]:
    """A program's ABI and an MPI's. Where they are the same, values may differ, or the MPI has no
    layer for Fortran."""
    for program in abis:
        for target in abis:
            yield program, target


def translated(program: Abi, target: Abi, compiler: Compiler, work: Path, folder: Path) -> None:
    name = f"{program}-on-{target}"
    made = work / name
    cmake(ROOT / "translate", made, compiler, translation.cmake_options(program, target))
    shutil.copytree(made / "lib", folder / name / "lib")


def small_ones(compiler: Compiler, work: Path, folder: Path) -> None:
    """Builds the witness, and empty libraries with the names under which programs load MPIs."""
    sources = {name: "" for names in translation.NAMES.values() for name in names}
    sources[witness.NAME] = witness.SOURCE.read_text(encoding="utf-8")
    for name, text in sources.items():
        target = folder / small.digest_of(name, text) / name
        target.parent.mkdir(parents=True)
        source = work / "source.cpp"
        source.write_text(text, encoding="utf-8")
        words = [
            str(compiler.words),
            *small.FLAGS,
            *shlex.split(f"{LINK} {HIDE}"),
            f"-Wl,-soname,{name}",
        ]
        run([*words, "-o", str(target), str(source), "-ldl"], work / "small.log")


# --- processes ----------------------------------------------------------------------------------
def cmake(source: Path, made: Path, compiler: Compiler, options: Sequence[str]) -> None:
    log = made.with_name(f"{made.name}.log")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    run(
        ["cmake", "-S", str(source), "-B", str(made), *generator, *compiler.options(), *options],
        log,
    )
    workers = str(len(os.sched_getaffinity(0)))
    run(["cmake", "--build", str(made), "--parallel", workers], log)


def run(words: Sequence[str], log: Path) -> None:
    env = {**os.environ, "SOURCE_DATE_EPOCH": "0"}
    env.pop("CXXFLAGS", None)
    with log.open("w") as file:
        done = subprocess.run(
            words, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False
        )
    if done.returncode != 0:
        raise UserError(f"{shlex.join(words)} failed; its output is in {log}")


def output(words: Sequence[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout or done.stderr or "nothing\n"


def released() -> str:
    """The version that the wheel will have, and not that of an older editable install."""
    words = [sys.executable, "-m", "hatchling", "version"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"hatchling does not say which version this is: {done.stderr.strip()}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
