# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What `make lint` remembers of clang-tidy: nothing but files that passed as they are."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tools import tidy

GOOD = '#include "value.hpp"\nint twice() { return 2 * kValue; }\n'
BAD = GOOD.replace("kValue", "(kValue == kValue ? 1 : 1)")
FILE = Path("part/twice.cpp")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source, its header, the checks for it, and how it is compiled."""
    for folder in ("part", "build"):
        (tmp_path / folder).mkdir()
    (tmp_path / FILE).write_text(GOOD)
    (tmp_path / "part/value.hpp").write_text("constexpr int kValue = 3;\n")
    (tmp_path / ".clang-tidy").write_text("Checks: '-*,misc-redundant-expression'\n")
    entry = {"directory": str(tmp_path / "build"), "file": str(tmp_path / FILE)}
    entry["command"] = f"g++ -I{tmp_path}/part -o x.o -c {tmp_path / FILE}"
    (tmp_path / "build/compile_commands.json").write_text(json.dumps([entry]))
    monkeypatch.setattr(tidy, "ROOT", tmp_path)
    monkeypatch.setenv("MPIGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def passes(tree: Path, *options: str) -> bool:
    words = ("--warnings-as-errors=*", *options)
    return tidy.main(tree / "build", FILE, tree / "tidy/part/twice.d", *words) == 0


def remembered(tree: Path) -> int:
    memory = tree / "cache/tidy" / FILE
    return len(memory.read_text().split()) if memory.exists() else 0


def test_a_file_that_passed_is_looked_at_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert passes(tree)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert passes(tree)
    assert remembered(tree) == 1


def test_whatever_changes_a_verdict_is_looked_at_again(tree: Path) -> None:
    assert passes(tree)
    (tree / FILE).write_text(BAD)
    assert not passes(tree)
    assert not passes(tree)
    (tree / FILE).write_text(GOOD)
    for file, text in {
        "part/value.hpp": "constexpr int kValue = 4;\n",
        ".clang-tidy": "Checks: '-*,misc-redundant-expression,misc-unused-parameters'\n",
    }.items():
        (tree / file).write_text(text)
        assert passes(tree)
    assert passes(tree, "--extra-arg=-DNDEBUG")
    assert remembered(tree) == 4


def test_make_learns_what_a_file_includes(tree: Path) -> None:
    assert passes(tree)
    rules = (tree / "tidy/part/twice.d").read_text().splitlines()
    assert rules == ["tidy/part/twice.tidied: part/twice.cpp part/value.hpp", "part/value.hpp:"]


def test_few_states_of_a_file_are_remembered(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "REMEMBERED", 2)
    for number in range(3):
        assert passes(tree, f"--extra-arg=-DNUMBER={number}")
    assert remembered(tree) == 2
