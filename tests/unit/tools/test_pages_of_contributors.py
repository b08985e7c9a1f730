# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What merges spoil most easily: the map in ARCHITECTURE.md, and the lists of changes."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

BEGINNING = 40
"""Letters that two entries of a list do not share."""
EXERCISES = {"kernels/suites/collectives/scan.cpp"}
"""Files that a page names to be written by its reader."""
MOST_LINES_OF_A_VERSION = 60
MOST_LINES = 150


def text_of(repository: Path, name: str) -> str:
    return (repository / name).read_text(encoding="utf-8")


def the_map(repository: Path) -> list[str]:
    """The lines of the block that shows the folders."""
    return text_of(repository, "ARCHITECTURE.md").split("```")[1].strip().splitlines()


def below(lines: list[str], folder: str) -> list[str]:
    """The folders that the map shows right below this one."""
    start = next(n for n, line in enumerate(lines) if line.strip().startswith(folder))
    indent = indent_of(lines[start])
    found = []
    for line in lines[start + 1 :]:
        if indent_of(line) <= indent:
            break
        found += re.findall(rf"^ {{{indent + 2}}}(\w+)/ ", line)
    return found


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


@pytest.mark.parametrize(
    ("shown", "folder"),
    [
        ("kernels/", "kernels"),
        ("src/mpigauge/", "src/mpigauge"),
        ("products/", "src/mpigauge/products"),
    ],
)
def test_the_map_shows_every_folder_once(repository: Path, shown: str, folder: str) -> None:
    there = {
        path.name
        for path in (repository / folder).iterdir()
        if path.is_dir() and any(file.suffix != ".pyc" for file in path.rglob("*.*p*"))
    }
    assert sorted(below(the_map(repository), shown)) == sorted(there)


def test_the_map_says_nothing_twice(repository: Path) -> None:
    words = Counter(line.strip()[:BEGINNING] for line in the_map(repository))
    assert [line for line, many in words.items() if many > 1] == []


@pytest.mark.parametrize(
    "page",
    ["ARCHITECTURE.md", "CONTRIBUTING.md"]
    + [f"docs/inside/{name}.md" for name in ("kernels", "profiler", "python", "translation")],
)
def test_files_that_a_page_names_are_there(repository: Path, page: str) -> None:
    roots = (repository, repository / "src/mpigauge", repository / "kernels")
    text = text_of(repository, page)
    named = set(re.findall(r"(?<![\w./:])((?:\w+/)+\w+\.(?:py|cpp|hpp|toml|md))", text)) - EXERCISES
    missing = [name for name in named if not any((root / name).is_file() for root in roots)]
    assert len(named) > 10
    assert missing == []


def test_architecture_is_a_page(repository: Path) -> None:
    assert len(text_of(repository, "ARCHITECTURE.md").splitlines()) <= MOST_LINES


def test_a_version_takes_few_lines(repository: Path) -> None:
    sections = text_of(repository, "CHANGELOG.md").split("\n## ")[1:]
    assert sections
    for section in sections:
        assert len(section.splitlines()) < MOST_LINES_OF_A_VERSION


def test_no_change_is_listed_twice(repository: Path) -> None:
    entries = re.findall(r"^- (.*)$", text_of(repository, "CHANGELOG.md"), re.MULTILINE)
    begun = Counter(entry[:BEGINNING] for entry in entries)
    assert len(entries) > 20
    assert [entry for entry, many in begun.items() if many > 1] == []
