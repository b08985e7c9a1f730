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


def text_of(repository: Path, name: str) -> str:
    return (repository / name).read_text(encoding="utf-8")


def the_map(repository: Path) -> list[str]:
    """The lines of the block that shows the folders."""
    return text_of(repository, "ARCHITECTURE.md").split("```")[1].strip().splitlines()


def below(lines: list[str], folder: str) -> list[str]:
    """The folders that the map shows right below this one."""
    start = next(n for n, line in enumerate(lines) if line.startswith(folder))
    found = []
    for line in lines[start + 1 :]:
        if not line.startswith(" "):
            break
        found += re.findall(r"^  (\w+)/ ", line)
    return found


@pytest.mark.parametrize("folder", ["kernels/", "src/mpigauge/"])
def test_the_map_shows_every_folder_once(repository: Path, folder: str) -> None:
    there = {
        path.name
        for path in (repository / folder).iterdir()
        if path.is_dir() and path.name != "__pycache__" and any(path.glob("*.*"))
    } | ({"suites"} if folder == "kernels/" else set())
    assert sorted(below(the_map(repository), folder)) == sorted(there)


def test_the_map_says_nothing_twice(repository: Path) -> None:
    words = Counter(line.strip()[:BEGINNING] for line in the_map(repository))
    assert [line for line, many in words.items() if many > 1] == []


def test_no_change_is_listed_twice(repository: Path) -> None:
    entries = re.findall(r"^- (.*)$", text_of(repository, "CHANGELOG.md"), re.MULTILINE)
    begun = Counter(entry[:BEGINNING] for entry in entries)
    assert len(entries) > 50
    assert [entry for entry, many in begun.items() if many > 1] == []
