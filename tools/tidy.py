# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs clang-tidy on a file, unless it has passed before with the same text, words and checks.

    python tools/tidy.py BUILD FILE DEPENDENCIES WORD…

BUILD is a folder with compile_commands.json, WORDs are more options of clang-tidy. DEPENDENCIES is
written for make: the files of the tree that FILE includes. What has passed is remembered in the
cache of mpigauge, by a hash of everything that clang-tidy reads, so a fresh clone looks only at
what is new there.

Exit status: clang-tidy's, or that of a compiler that cannot list what a file includes.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from mpigauge.site.builds import folders

ROOT = Path(__file__).resolve().parents[1]
REMEMBERED = 20
"""States of a file: those of some branches."""


def main(build: Path, file: Path, dependencies: Path, *options: str) -> int:
    commands = list(compilations(build, file))
    included = sorted({path for words in commands for path in includes(words)})
    write_dependencies(dependencies, file, included)
    state = fingerprint([*map(shlex.join, commands), *options], [*configurations(file), *included])
    memory = folders.cache() / "tidy" / file
    passed = memory.read_text().split() if memory.exists() else []
    if state in passed:
        return 0
    program = Path(sys.executable).with_name("clang-tidy")
    words = [str(program), "--quiet", "-p", str(build), *options, str(file)]
    status = subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode
    if status == 0:
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.write_text("\n".join([*passed, state][-REMEMBERED:]) + "\n")
    return status


def compilations(build: Path, file: Path) -> Iterator[list[str]]:
    """The words by which a file is compiled, once for each target that has it.

    A file of no target is read as another one of its part of the tree.
    """
    entries = json.loads((build / "compile_commands.json").read_text())
    part = [entry for entry in entries if Path(entry["file"]).is_relative_to(ROOT / file.parts[0])]
    for entry in [each for each in part if Path(each["file"]) == ROOT / file] or part[:1]:
        words = shlex.split(entry["command"])
        kept = words[: words.index("-o")]
        yield [*kept, "-c", str(ROOT / file)]


def includes(words: Sequence[str]) -> Iterator[Path]:
    """All files that the compiler reads, those of the system as well."""
    done = subprocess.run([*words, "-M"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    _, _, names = done.stdout.replace("\\\n", " ").partition(":")
    return map(Path, names.split())


def write_dependencies(path: Path, file: Path, included: Iterable[Path]) -> None:
    """A rule of make, and one without words for each file, so that it may vanish."""
    own = [str(each.relative_to(ROOT)) for each in included if each.is_relative_to(ROOT)]
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.with_suffix(".tidied").relative_to(ROOT)
    rules = [f"{target}: {' '.join(own)}", *(f"{each}:" for each in own if each != str(file))]
    path.write_text("\n".join(rules) + "\n")


def configurations(file: Path) -> list[Path]:
    """The files that choose checks for this one."""
    return [path for folder in (ROOT / file).parents if (path := folder / ".clang-tidy").exists()]


def fingerprint(words: Iterable[str], files: Sequence[Path]) -> str:
    """The same wherever the tree lies."""
    digest = hashlib.sha256(version("clang-tidy").encode())
    for text in (*words, *map(str, files)):
        digest.update(text.replace(str(ROOT), ".").encode() + b"\0")
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


if __name__ == "__main__":
    build, file, dependencies = map(Path, sys.argv[1:4])
    sys.exit(main(build, file, ROOT / dependencies, *sys.argv[4:]))
