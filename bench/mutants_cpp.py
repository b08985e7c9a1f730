# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Mutants of C++ files, and the unit tests that notice them.

An operator, a constant or a word of a line is changed, and what depends on the file is built again.
Only lines that the unit tests run are changed (gcov tells them): those that need an MPI are tested
with it, by tests/cases and tests/e2e.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import mutation
from mutation import Mutant

from mpigauge.site.mpi import find

FILES = {
    "core": ("kernels/core/*.cpp",),
    "profiler": ("profiler/*.cpp",),
    "translate": ("translate/*.cpp", "translate/*.hpp"),
}
TARGETS = {
    "core": ("unit_tests",),
    "profiler": tuple(f"profiler_{name}" for name in ("record", "stacks", "tables", "weak")),
    "translate": tuple(
        f"translate_{pair}" for pair in ("mpich_std", "std_mpich", "ompi_mpich", "mpich_ompi")
    ),
}
TESTS = {"core": "^test_", "profiler": "^profiler_", "translate": "^translate_"}
LONGEST_S = 300.0
TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'|//.*|[A-Za-z_]\w*'
    r"|0[xX][\da-fA-F']+[uUlL]*|\d[\d'.]*(?:e[-+]?\d+)?[uUlLfF]*"
    r"|<<=|>>=|<=>|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|[-+*/%&|^<>=!~?]|\S"
)
CHANGES = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
    "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",),
    "+=": ("-=", "="), "-=": ("+=", "="), "|=": ("=",), "<<": (">>",), ">>": ("<<",),
    "++": ("--",), "--": ("++",), "&": ("|",), "|": ("&",), "!": ("",),
    "true": ("false",), "false": ("true",), "min": ("max",), "max": ("min",),
    "break": ("continue",), "continue": ("break",),
}  # fmt: skip
BETWEEN = {*"<>+-*/%&|", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>"}
"""Operators of two operands if blanks are on both sides; else parts of types, or of one operand."""
NUMBER = re.compile(r"\d[\d']*(?:\.\d+)?")


@dataclass(frozen=True)
class Change:
    path: Path
    line: int
    start: int
    end: int
    """Columns from 0."""
    becomes: str


def changes_of(path: Path, text: str, lines: set[int], chance: random.Random) -> Iterator[Change]:
    """One change for each place of these lines that has any."""
    for number, line in enumerate(text.splitlines(), 1):
        if number not in lines or line.lstrip().startswith(("#", "//", "static_assert")):
            continue
        for token in TOKEN.finditer(line):
            around = (line[: token.start()][-1:] or " ") + (line[token.end() :][:1] or " ")
            if token[0] in BETWEEN and around != "  ":
                continue
            if options := _options(token[0]):
                becomes = chance.choice(options)
                yield Change(path, number, token.start(), token.end(), becomes)


def _options(token: str) -> tuple[str, ...]:
    if not token[0].isdigit() or token.startswith(("0x", "0X")):
        return CHANGES.get(token, ())
    number = NUMBER.match(token)
    assert number is not None
    suffix = token[number.end() :]
    if "." in number[0] or suffix.startswith("e"):
        if float(number[0]) == 0:
            return (f"1.0{suffix}",)
        return (f"(2*{token})", f"({token}/2)")
    value = int(number[0].replace("'", ""))
    return tuple(f"{each}{suffix}" for each in (value + 1, value - 1) if each >= 0)


def mutant_of(change: Change, source: str) -> Mutant:
    lines = source.splitlines(keepends=True)
    line = lines[change.line - 1]
    lines[change.line - 1] = line[: change.start] + change.becomes + line[change.end :]
    return Mutant.of(change.path, source, "".join(lines), change.line)


class Cpp:
    def __init__(self, kept: Path) -> None:
        self._kept = kept
        self._lines: dict[str, dict[Path, set[int]]] = {}

    def mutants(self, area: str, chance: random.Random) -> Iterator[Mutant]:
        changes: list[Change] = []
        for path, lines in sorted(self._lines_run(area).items()):
            source = (mutation.ROOT / path).read_text(encoding="utf-8")
            changes += changes_of(path, source, lines, chance)
        chance.shuffle(changes)
        for change in changes:
            yield mutant_of(change, (mutation.ROOT / change.path).read_text(encoding="utf-8"))

    def bed(self, number: int) -> Bed:
        return Bed(mutation.copied(self._kept / f"cpp-{number}"))

    def _lines_run(self, area: str) -> dict[Path, set[int]]:
        """The lines that tests run, by file, in a build of its own."""
        root = mutation.copied(self._kept / "cpp-coverage")
        bed = Bed(root, "--coverage")
        if bed.build(area) != 0 or bed.test(area) != 0:
            print(f"the tests of {area} fail without a fault", file=sys.stderr)
            raise SystemExit(2)
        paths = {path for glob in FILES[area] for path in root.glob(glob)}
        lines_run: dict[Path, set[int]] = {}
        for notes in (root / "build").rglob("*.gcda"):
            words = ["gcov", "--json-format", "--stdout", str(notes)]
            done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
            for report in filter(None, done.stdout.splitlines()):
                _add_lines(lines_run, json.loads(report), root, paths)
        return lines_run


def _add_lines(
    lines_run: dict[Path, set[int]], report: dict[str, list[dict[str, object]]], root: Path,
    paths: set[Path],
) -> None:  # fmt: skip
    for file in report["files"]:
        path = Path(os.path.normpath(root / str(file["file"])))
        lines = file["lines"]
        assert isinstance(lines, list)
        if path in paths:
            run = {line["line_number"] for line in lines if line["count"]}
            lines_run.setdefault(path.relative_to(root), set()).update(run)


class Bed:
    """Slightly optimised: otherwise reductions over 2000 ranks alone take minutes."""

    def __init__(self, root: Path, flags: str = "") -> None:
        self._root, self._build = root, root / "build"
        words = ["cmake", "-S", str(root), "-B", str(self._build), "-DCMAKE_BUILD_TYPE=None"]
        words += ["-DMPIGAUGE_TESTS=ON", "-DMPIGAUGE_CARDS=OFF", "-DMPIGAUGE_GROUPS=OFF"]
        words += ["-DMPIGAUGE_ABI=mpich"]
        words += [f"-DMPIGAUGE_MPI_INCLUDE={find('mpich').include}"]
        words += [f"-DCMAKE_CXX_FLAGS=-O1 {flags}"]
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)

    def build(self, area: str) -> int | None:
        words = ["cmake", "--build", str(self._build), "--parallel", "2", "--target"]
        words += TARGETS[area]
        return mutation.run_until(words, self._root, os.environ, LONGEST_S * 10)

    def test(self, area: str) -> int | None:
        words = ["ctest", "--test-dir", str(self._build), "-R", TESTS[area], "--stop-on-failure"]
        return mutation.run_until(words, self._root, os.environ, LONGEST_S)

    def outcome(self, mutant: Mutant) -> str:
        area = next(each for each in FILES if mutant.path.parts[0] in (each, "kernels"))
        file = self._root / mutant.path
        before = file.read_text(encoding="utf-8")
        try:
            file.write_text(mutant.text, encoding="utf-8")
            if self.build(area) != 0:
                return mutation.BROKEN
            return mutation.SURVIVED if self.test(area) == 0 else mutation.KILLED
        finally:
            file.write_text(before, encoding="utf-8")
