#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds English that docs/inside/style.md forbids, in code and in the pages for users.

`python tools/english.py` checks src/, tools/, bench/, README and docs/ and prints a line for each
place. A docstring must stand alone: its first word is a verb in the third person or begins a noun
phrase. A name must say what a value is: rows, not `found`. Sentences of pages have fewer than 30
words. Neither pages nor help and messages have one of the phrases in tools/phrases.py.

Exit status: 0 no more places than MOST allows, 1 more.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tools.phrases import PHRASES  # noqa: E402

FOLDERS = ("src", "tools", "bench", "docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
GENERATED = "Made by tools/generate.py"
OWN_WORDS = f"# {GENERATED} from schema/options.toml"
"""The head of generated Python whose words are not those of C++: options have a help."""
FRAGMENT, PARTICIPLE, PHRASE, LONG = "fragment", "participle", "phrase", "long sentence"
MOST = {FRAGMENT: 0, PARTICIPLE: 3, PHRASE: 0, LONG: 0}
"""The numbers of places that are left. Only ever lower them."""
WORDS = 30
"""The length of a sentence that is too long."""
_FIRST_WORDS = (
    "Of What That Whether As By With In For From To Which Who Whose Where When How If Than Only "
    "Before After Also Without Between Below Behind Beside Over On Why Those None Nothing Another"
)
FRAGMENTS = frozenset(_FIRST_WORDS.split())
"""First words of docstrings that continue something that is not there."""
PARTICIPLES = frozenset({"found", "said", "told", "known", "wanted"})


_BEGINNING = re.compile(r"^(?:(?P<cell>\|)|#+ |\s*[-*] |\s*\d+\. |> )")
"""The mark at the beginning of a heading, an item of a list, a quotation or a line of a table."""


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
    if GENERATED in text[:400] and OWN_WORDS not in text[:400]:
        return
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    yield from (of_page if path.suffix == ".md" else _of_code)(shown, text)


def _of_code(shown: Path, text: str) -> Iterator[Place]:
    tree, docstrings = ast.parse(text), set[tuple[int, str]]()
    for node in ast.walk(tree):
        for line, docstring in _docstrings(node):
            if not _is_command(node):
                docstrings.add((line, docstring))
            words = docstring.split()
            if words and _continues(words[0]) and not _is_question(docstring):
                yield Place(shown, line, FRAGMENT, " ".join(words[:8]))
        for line, name in _names(node):
            if name in PARTICIPLES:
                yield Place(shown, line, PARTICIPLE, name)
    if shown.parts[0] == "src":
        for line, message in sorted(_strings(tree) - docstrings):
            yield from _phrases(shown, line, message)


def _continues(first_word: str) -> bool:
    return first_word.startswith("...") or first_word.rstrip(",:;") in FRAGMENTS


def _is_command(node: ast.AST) -> bool:
    """True for a function that is a command of ours: click prints its docstring as help."""
    decorators = getattr(node, "decorator_list", [])
    return any(re.search(r"\b(command|group)\(", ast.unparse(each)) for each in decorators)


def _strings(tree: ast.AST) -> set[tuple[int, str]]:
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {(node.lineno, node.value) for node in constants if isinstance(node.value, str)}


def of_page(shown: Path, text: str) -> Iterator[Place]:
    """The phrases and long sentences of a page of Markdown."""
    for line, sentence in sentences(text):
        yield from _phrases(shown, line, sentence)
        words = sentence.split()
        if len(words) >= WORDS and not sentence.startswith("|"):
            yield Place(shown, line, LONG, f"{len(words)} words: {' '.join(words[:8])}")


def _phrases(shown: Path, line: int, text: str) -> Iterator[Place]:
    for pattern, remedy in PHRASES.items():
        for match in pattern.finditer(text):
            yield Place(shown, line, PHRASE, f"'{match[0]}'; write instead: {remedy}")


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a page with their lines. Code and addresses of links are not part of it."""
    for line, paragraph in _paragraphs(text):
        plain = re.sub(r"`[^`]*`", "CODE", paragraph)
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", plain)
        for sentence in re.split(r"(?<=[.!?])[)\"*]*\s+", plain):
            if sentence.strip():
                yield line, " ".join(sentence.split())


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs, items of lists, lines of tables and headings, without blocks and comments."""
    start, kept, in_block = 0, list[str](), False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        is_fence = line.lstrip().startswith("```")
        is_end = is_fence or in_block or not line.strip() or line.startswith(("    ", "<!--"))
        if kept and (is_end or _BEGINNING.match(line) or kept[0].startswith(("#", "|"))):
            yield start, _BEGINNING.sub(r"\g<cell>", "\n".join(kept))
            kept = []
        in_block ^= is_fence
        if not is_end:
            start = start if kept else number
            kept.append(line)


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


def _files(folder: Path) -> Iterator[Path]:
    return folder.rglob("*.md" if "docs" in folder.parts else "*.py")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders (all)")
    parser.add_argument("--kind", choices=tuple(MOST), help="only these")
    given = parser.parse_args(arguments)
    roots = [path.resolve() for path in given.paths] or [ROOT / name for name in FOLDERS]
    files = [file for root in roots for file in ([root] if root.is_file() else _files(root))]
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
