# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The check of spelling and grammar finds mistakes, and knows the words of the glossary."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.loaded_tools import load_tool

grammar = load_tool("grammar")
pytestmark = pytest.mark.skipif(not grammar.HARPER.exists(), reason="harper is not installed")


def findings(folder: Path, text: str) -> list[str]:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return [line.partition(": ")[2] for line in grammar.findings([page])]


@pytest.mark.parametrize(
    ("text", "rule", "word"),
    [
        ("The mesage arrives late.", "SpellCheck", "mesage"),
        ("It sends an message.", "AnA", "an"),
        ("The rank waits for for the message.", "RepeatedWords", "for for"),
        ("The ranks recieve a message.", "SpellCheck", "recieve"),
    ],
)
def test_a_mistake_is_found(tmp_path: Path, text: str, rule: str, word: str) -> None:
    (line,) = findings(tmp_path, f"# Messages\n\n{text}\n")
    assert line.startswith(f"{rule}: ")
    assert line.endswith(f"({word})")


@pytest.mark.parametrize(
    "text",
    [
        "MPICH's PingPong and Allreduce over UCX, on NUMA nodes with DGEMM.",
        "The colour of the centre is a British word; behaviour too.",
        "In a block `mesage` is code.",
        "| size | time |\n|---|---|\n| 8 B | the median, without a verb |",
    ],
)
def test_the_words_of_this_field_are_known(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, f"# Words\n\n{text}\n") == []


def test_all_pages_that_people_write_are_checked(repository: Path) -> None:
    names = {str(path) for path in grammar.pages()}
    tracked = subprocess.run(
        ["git", "ls-files", "README.md", "docs/*.md"],
        cwd=repository, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    generated = {"docs/reference/columns.md", "docs/reference/options.md"}
    assert generated.isdisjoint(names)
    assert set(tracked) - names <= generated | {"docs/reference/records.md"}
