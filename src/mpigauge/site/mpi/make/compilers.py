# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Builds the simple loops of NODE with other compilers: a library for each, once."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mpigauge.model.errors import UserError
from mpigauge.model.libraries import Compiler
from mpigauge.site.builds import folders
from mpigauge.site.mpi.make import source_folder

OPTIMIZED = "-O3"
LOOPS = "-fno-builtin"
"""The flag that keeps a loop that copies from becoming a call of the C library's memcpy."""
MADE_OF = ("kernels/loops", "kernels/suites/node/plain.hpp", "kernels/suites/node/stream.hpp")
PATIENCE_S = 300.0
_PROGRAM = re.compile(r"(g\+\+|clang\+\+)(-\d+)?|c\+\+|icpx|nvc\+\+")
_TRY = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).mpigauge_try()"


def find_compiler(text: str) -> Compiler:
    """Returns a compiler with its flags. UserError: there is no such program or compiler."""
    try:
        program, *flags = shlex.split(text)
    except ValueError as error:
        raise UserError(f"--compiler: '{text}' is not a program with flags: {error}") from None
    path = shutil.which(program)
    if path is None:
        raise UserError(f"--compiler: there is no program {program} here; {_others()}")
    version = _version(path)
    if not version:
        raise UserError(f"--compiler: {program} --version names no compiler; {_others()}")
    all_flags = (*_usual(flags), *flags)
    file = folders.cache() / "loops" / f"{_hash(path, version, all_flags)}.so"
    if set(str(file)) & set("=, "):
        raise UserError(f"--compiler: {file.parent} has a blank, = or comma; set MPIGAUGE_CACHE")
    return Compiler(shlex.join((program, *flags)), path, all_flags, version, str(file))


def build_loops(compilers: Iterable[Compiler]) -> None:
    """Builds the missing loops, and probes all. UserError: a build fails, or the processor does not
    support its instructions."""
    for each in compilers:
        file = Path(each.file)
        folder = folders.make_folder(file.parent, "loops of compilers", "MPIGAUGE_CACHE")
        if not file.exists():
            with folders.locked(folder / f"{file.name}.lock"):
                _build(each, file)
        _try(each)


def _usual(flags: Sequence[str]) -> Iterator[str]:
    """Yields the default flags, without those that the user's flags override."""
    if not any(flag.startswith("-O") for flag in flags):
        yield OPTIMIZED
    native = "-march" if platform.machine() in ("x86_64", "i686") else "-mcpu"
    if not any(flag.startswith(("-march", "-mcpu")) for flag in flags):
        yield f"{native}=native"
    yield LOOPS


def _version(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout.strip().splitlines() if done.returncode == 0 else []
    if lines:
        return lines[0].strip()
    return ""


def _hash(*what: object) -> str:
    """Returns a digest of `what`, the sources, and the processor (which `native` means)."""
    source = source_folder()
    digest = hashlib.sha256(repr((what, _processor())).encode())
    for path in (source / each for each in MADE_OF):
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _processor() -> tuple[str, ...]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return (platform.machine(),)
    return tuple(sorted(set(re.findall(r"^(?:model name|flags|Features|cpu)\s*:.*", text, re.M))))


def _build(compiler: Compiler, file: Path) -> None:
    """Builds in two steps: given the flags, a linker may add code that changes arithmetic in the
    whole process (-ffast-math)."""
    source, log = source_folder(), file.with_suffix(".log")
    definition = f"-DMPIGAUGE_FLAGS={json.dumps(' '.join(compiler.flags), ensure_ascii=False)}"
    with folders.workplace(file) as work, log.open("w") as output:
        words = [compiler.program, "-std=c++17", "-fPIC", *compiler.flags, definition]
        words += ["-I", str(source / "kernels"), "-c", str(source / "kernels/loops/loops.cpp")]
        _run(compiler, [*words, "-o", str(work / "loops.o")], output.fileno(), log)
        made = work / "loops.so"
        link = [compiler.program, "-shared", str(work / "loops.o"), "-o", str(made)]
        _run(compiler, link, output.fileno(), log)
        made.rename(file)


def _run(compiler: Compiler, words: list[str], output: int, log: Path) -> None:
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode != 0:
        raise UserError(
            f"--compiler '{compiler.said}' does not build the loops{_first_error(log)}; its "
            f"output is in {log}; {_others()}"
        )


def _first_error(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    line_of_error = next((line for line in lines if "error" in line.lower()), "".join(lines[:1]))
    if line_of_error.strip():
        return f" ({line_of_error.strip()})"
    return ""


def _try(compiler: Compiler) -> None:
    """Runs the loops in a child process, which may crash."""
    words = [sys.executable, "-I", "-S", "-c", _TRY, compiler.file]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode == 0:
        return
    what = f"signal {-done.returncode}" if done.returncode < 0 else "an error"
    if done.returncode == -signal.SIGILL:
        what = "an instruction that this processor does not have"
    raise UserError(f"--compiler '{compiler.said}': its loops end with {what}; change its flags")


def _others() -> str:
    """Returns the compilers that the user may name, as a clause."""
    folders_of = (Path(each) for each in os.environ.get("PATH", "").split(":") if each)
    names = set()
    for folder in folders_of:
        if folder.is_dir():
            for path in folder.iterdir():
                if _PROGRAM.fullmatch(path.name) and os.access(path, os.X_OK):
                    names.add(path.name)
    if names:
        return f"there are {', '.join(sorted(names))}"
    return "there is no C++ compiler here"
