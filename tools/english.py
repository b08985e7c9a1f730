#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds docstrings that are fragments, and names that are bare participles (docs/inside/style.md).

`python tools/english.py` checks src/, tools/ and bench/ and prints a line for each place. A
docstring must stand alone: its first word is a verb in the third person or begins a noun phrase.
A name must say what a value is: rows, not `found`.

Exit status: 0 no more places than MOST allows, 1 more.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "tools", "bench")
GENERATED = "Made by tools/generate.py"
FRAGMENT, PARTICIPLE = "fragment", "participle"
MOST = {FRAGMENT: 6, PARTICIPLE: 3}
"""The numbers of places that are left. Only ever lower them."""
_FIRST_WORDS = (
    "Of What That Whether As By With In For From To Which Who Whose Where When How If Than"
)
FRAGMENTS = frozenset(_FIRST_WORDS.split())
"""First words of docstrings that continue something that is not there."""
PARTICIPLES = frozenset({"found", "said", "told", "known", "wanted"})


class Place(NamedTuple):
    path: Path
    line: int
    kind: str
    words: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: {self.words}"


def places(path: Path) -> Iterator[Place]:
    """The places of a file, relative to the root."""
    text = path.read_text(encoding="utf-8")
    if GENERATED in text[:400]:
        return
    tree, shown = ast.parse(text), path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    for node in ast.walk(tree):
        for line, docstring in _docstrings(node):
            words = docstring.split()
            if words and words[0].rstrip(",:;") in FRAGMENTS and not _is_question(docstring):
                yield Place(shown, line, FRAGMENT, " ".join(words[:8]))
        for line, name in _names(node):
            if name in PARTICIPLES:
                yield Place(shown, line, PARTICIPLE, name)


def _is_question(docstring: str) -> bool:
    """True if the first sentence ends with a question mark, as those of bench/ do."""
    ends = [docstring.find(mark) for mark in ".?" if mark in docstring]
    return bool(ends) and docstring[min(ends)] == "?"


def _docstrings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Strings that stand alone: the docstrings of modules, classes, functions and members."""
    body = getattr(node, "body", None)
    for each in body if isinstance(body, list) else ():
        value = each.value if isinstance(each, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield each.lineno, value.value


def _names(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The names that this node binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.lineno, node.id
    elif isinstance(node, ast.arg):
        yield node.lineno, node.arg
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.lineno, node.name.strip("_")
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.lineno, node.attr.strip("_")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders (src, tools, bench)")
    parser.add_argument("--kind", choices=tuple(MOST), help="only these")
    given = parser.parse_args(arguments)
    roots = [path.resolve() for path in given.paths] or [ROOT / name for name in FOLDERS]
    files = [file for root in roots for file in ([root] if root.is_file() else root.rglob("*.py"))]
    every = [place for file in sorted(files) for place in places(file)]
    counts = Counter(place.kind for place in every)
    for place in every:
        if given.kind in (None, place.kind) and (
            given.paths or counts[place.kind] > MOST[place.kind]
        ):
            print(place)
    print(", ".join(f"{counts[kind]} {kind}s of at most {most}" for kind, most in MOST.items()))
    if given.paths:
        return 1 if any(given.kind in (None, place.kind) for place in every) else 0
    return 1 if any(counts[kind] > most for kind, most in MOST.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
