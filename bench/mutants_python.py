# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Mutants of Python files, made by cosmic-ray, and the tests that run their lines, by coverage.

cosmic-ray is imported where mutants are made: it is not among what developers install
(docs/decisions/mutation.md).
"""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import mutation
from mutation import Mutant

TESTS = ("tests/unit", "tests/golden", "tests/replay")
USUAL = "not mpi and not heavy"
LONGEST_S = 900.0
"""All tests take a third of it on an idle machine."""
LONGEST_TEST_S = 120
"""No test takes as long; a loop without an end does."""
LEFT_OUT = ("RemoveDecorator", "Variable", "Keyword", "NoOp", "_Is", "ExceptionReplacer")
"""Operators whose mutants say little: they do not run, or nobody would write them by mistake."""


Position = tuple[int, int]
"""A line from 1, a column from 0."""


@dataclass(frozen=True)
class Place:
    path: Path
    line: int
    operator: str
    occurrence: int
    """The index among the places of the operator in this file."""


def places_of(path: Path, root: Path, chance: random.Random) -> list[Place]:
    """The places of a file that an operator can change, each with one change."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    source = (root / path).read_text(encoding="utf-8")
    without = _silent_spans(source)
    changes: dict[tuple[Position, Position], list[tuple[str, int]]] = defaultdict(list)
    nodes = list(ast_nodes(get_ast(source)))
    for name in sorted(operator_names()):
        if any(word in name for word in LEFT_OUT):
            continue
        operator, occurrence = get_operator(name)(), 0
        for node in nodes:
            for start, end in operator.mutation_positions(node):
                if not any(first <= start < last for first, last in without):
                    changes[start, end].append((name, occurrence))
                occurrence += 1
    return [Place(path, span[0][0], *chance.choice(own)) for span, own in sorted(changes.items())]


def mutant_at(place: Place, root: Path) -> Mutant | None:
    """Returns the mutant at a place; None: the text does not change."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    source = (root / place.path).read_text(encoding="utf-8")
    text = mutate_code(source, get_operator(place.operator)(), place.occurrence)
    if text is None or text == source:
        return None
    return Mutant.of(place.path, source, text, place.line)


SILENT = {"strict", "frozen", "slots", "hash", "repr", "compare"}
"""The keyword arguments that only guard against faults, or whose effect is not used."""


def _silent_spans(source: str) -> list[tuple[Position, Position]]:
    """The places where a change does nothing: annotations, imports for these, and SILENT."""
    parts: list[ast.AST] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            parts.append(node)
        if isinstance(node, ast.keyword) and node.arg in SILENT:
            parts.append(node)
        own = (getattr(node, name, None) for name in ("annotation", "returns"))
        parts += [part for part in own if part is not None]
    return [_span(part) for part in parts]


def _span(node: Any) -> tuple[Position, Position]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def statement_at(source: str, line: int) -> range:
    """Returns the lines of the innermost statement; only its head if it contains others."""
    lines = range(line, line + 1)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            inside = getattr(node, "body", None)
            last = inside[0].lineno - 1 if inside else node.end_lineno
            if line <= max(last or 0, node.lineno):
                lines = range(node.lineno, max(last or 0, node.lineno) + 1)
    return lines


def is_in_function(source: str, line: int) -> bool:
    """True if a line is in the body of a function; others run once, when the file is imported."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    every = [node for node in ast.walk(ast.parse(source)) if isinstance(node, functions)]
    return any(node.body[0].lineno <= line <= (node.end_lineno or 0) for node in every)


def near_tests(root: Path, folders: Sequence[str], tests: Sequence[str] = TESTS) -> list[str]:
    """Returns the test files that import a module of these folders themselves."""
    modules = tuple(folder.removeprefix("src/").replace("/", ".") for folder in folders)
    files = sorted(file for each in tests for file in (root / each).glob("test_*.py"))
    near = (file for file in files if any(_is_below(name, modules) for name in _imports(file)))
    return [str(file.relative_to(root)) for file in near]


def _is_below(name: str, modules: Sequence[str]) -> bool:
    return any(f"{name}.".startswith(f"{module}.") for module in modules)


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class Coverage:
    """The tests that run each line of the files below some folders."""

    def __init__(self, root: Path, data: Path) -> None:
        self._root, self._data = root, data

    def measure(self, folders: Sequence[str], tests: Sequence[str] = TESTS) -> None:
        settings = self._data.with_suffix(".ini")
        sources = "".join(f"\n    {self._root / folder}" for folder in folders)
        settings.write_text(
            f"[run]\ndynamic_context = test_function\ndata_file = {self._data}\nsource ={sources}\n"
        )
        words = ["-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q"]
        words += ["-p", "no:cacheprovider", "-m", USUAL, *tests]
        subprocess.run([sys.executable, *words], cwd=self._root, env=env_of(self._root), check=True)

    def tests_of(self, path: Path, line: int) -> list[str] | None:
        """Returns the tests that run the statement of a line; if it only runs on import, those that
        run any line of the file. None: no test runs it in its own process."""
        by_line = self._by_line[str(self._root / path)]
        source = (self._root / path).read_text(encoding="utf-8")
        lines = statement_at(source, line)
        if not any(each in by_line for each in lines):
            return None
        if not is_in_function(source, line):
            lines = range(1, source.count("\n") + 2)
        names = {name for each in lines for name in by_line.get(each, ())}
        by_reach = sorted(names, key=lambda name: (self._reach[name], name))
        return list(filter(None, map(self._node, by_reach)))

    @cached_property
    def _reach(self) -> Counter[str]:
        """The number of lines that each test runs. Tests of few lines are quick, so they come
        first."""
        lines = [names for of_file in self._by_line.values() for names in of_file.values()]
        return Counter(name for names in lines for name in names)

    @cached_property
    def _by_line(self) -> dict[str, dict[int, set[str]]]:
        from coverage import CoverageData

        data = CoverageData(str(self._data))
        data.read()
        by_file: dict[str, dict[int, set[str]]] = {}
        for file in data.measured_files():
            lines = data.contexts_by_lineno(file)
            by_file[file] = {line: {name for name in own if name} for line, own in lines.items()}
        return defaultdict(dict, by_file)

    def _node(self, context: str) -> str:
        """Returns pytest's name of tests.unit.test_interface.test_it; empty: it is no test."""
        parts = context.split(".")
        for count in range(len(parts), 0, -1):
            file = "/".join(parts[:count]) + ".py"
            if count < len(parts) and (self._root / file).is_file():
                return f"{file}::{parts[count]}" if parts[count].startswith("test") else ""
        return ""


def env_of(root: Path) -> dict[str, str]:
    """Returns variables with which tests import the sources of this tree, and write no bytecode."""
    return {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}


class Python:
    def __init__(self, kept: Path, again: bool, near: Sequence[str] = ()) -> None:
        """`near`: only the tests that import from these areas themselves."""
        self._kept = kept
        self._root = mutation.copied(kept / "tree-0")
        self._pristine = mutation.ROOT
        self._coverage = Coverage(self._root, kept / "coverage.db")
        if not (again and (kept / "coverage.db").exists()):
            folders = [mutation.PYTHON[area] for area in near or mutation.PYTHON]
            tests = near_tests(self._root, folders) if near else TESTS
            self._coverage.measure(folders, tests)

    def mutants(self, area: str, chance: random.Random) -> Iterator[Mutant]:
        places: list[Place] = []
        for path in sorted((self._root / mutation.PYTHON[area]).rglob("*.py")):
            places += places_of(path.relative_to(self._root), self._root, chance)
        chance.shuffle(places)
        made = (mutant_at(place, self._pristine) for place in places)
        return (each for each in made if each is not None)

    def bed(self, number: int) -> Bed:
        return Bed(mutation.copied(self._kept / f"tree-{number}"), self._coverage)


class Bed:
    def __init__(self, root: Path, coverage: Coverage) -> None:
        self._root, self._coverage = root, coverage

    def outcome(self, mutant: Mutant) -> str:
        tests = self._coverage.tests_of(mutant.path, mutant.line)
        if tests is None:
            return mutation.ELSEWHERE
        if not tests:
            return mutation.SURVIVED
        file = self._root / mutant.path
        before = file.read_text(encoding="utf-8")
        try:
            file.write_text(mutant.text, encoding="utf-8")
            words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
            words += ["-o", f"faulthandler_timeout={LONGEST_TEST_S}"]
            words += ["-o", "faulthandler_exit_on_timeout=true"]
            words += ["--hypothesis-seed=1", "-m", USUAL, *tests]
            status = mutation.run_until(words, self._root, env_of(self._root), LONGEST_S)
        finally:
            file.write_text(before, encoding="utf-8")
        return mutation.SURVIVED if status == 0 else mutation.KILLED
