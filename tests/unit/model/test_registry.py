# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Registries: what the files of a package add, looked into when somebody asks."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.registry import Here, Registry

NOWHERE = Here(find_program=lambda _: None)
EVERYWHERE = Here("slurm", lambda program: f"/bin/{program}")


@dataclass(frozen=True)
class Tool:
    program: str

    def missing(self, here: Here) -> str:
        return "" if here.find_program(self.program) else f"needs {self.program}"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of two files that each say when they are imported."""
    folder = tmp_path / "tools_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("imported = []\n")
    for name in ("saw", "axe"):
        (folder / f"{name}.py").write_text(f"from . import imported\nimported.append('{name}')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder.name


def imported_of(package: str) -> list[str]:
    return [name for name in ("axe", "saw") if f"{package}.{name}" in sys.modules]


@pytest.fixture(autouse=True)
def forgotten(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("", ".axe", ".saw"):
        monkeypatch.delitem(sys.modules, package + name, raising=False)


def test_no_file_is_imported_before_somebody_asks(package: str) -> None:
    registry = Registry[Tool]("tool", package)
    registry.add("saw", Tool("saw"))
    assert imported_of(package) == []
    assert list(registry) == ["saw"]
    assert imported_of(package) == ["axe", "saw"]


def test_entries_are_in_the_order_of_their_names(package: str) -> None:
    registry = Registry[Tool]("tool", package)
    for name in ("saw", "axe", "drill"):
        registry.add(name, Tool(name))
    assert list(registry) == ["axe", "drill", "saw"]
    assert len(registry) == 3


def test_of_a_file_that_is_an_entry_nothing_else_is_imported(package: str) -> None:
    def make(name: str, module: ModuleType) -> Tool:
        assert module.__name__ == f"{package}.{name}"
        return Tool(name)

    registry = Registry[Tool]("tool", package, make_entry=make)
    assert list(registry) == ["axe", "saw"]
    assert imported_of(package) == []
    assert registry["axe"] is registry["axe"]
    assert imported_of(package) == ["axe"]


def test_two_entries_of_one_name_stop_the_program(package: str) -> None:
    registry = Registry[Tool]("tool", package)
    registry.add("saw", Tool("saw"))
    with pytest.raises(RuntimeError, match="two tools are named 'saw'"):
        registry.add("saw", Tool("jigsaw"))


def test_an_unknown_name_is_answered_with_the_nearest_one_or_all(package: str) -> None:
    registry = Registry[Tool]("tool", package, "--tool")
    registry.add("saw", Tool("saw"))
    registry.add("hammer", Tool("hammer"))
    with pytest.raises(UserError, match=r"^--tool: there is no tool 'hamer'; did you mean"):
        registry.find("hamer")
    with pytest.raises(UserError, match=r"there is no tool 'x'; there are hammer, saw$"):
        registry.find("x")
    assert "x" not in registry
    assert registry.get("x") is None


def test_an_entry_says_itself_why_it_cannot_be_used_here(package: str) -> None:
    registry = Registry[Tool]("tool", package, "--tool")
    saw = registry.add("saw", Tool("chainsaw"))
    assert registry.usable(EVERYWHERE) == [saw]
    assert registry.usable(NOWHERE) == []
    assert registry.find_usable("saw", EVERYWHERE) is saw
    with pytest.raises(UserError, match=r"^--tool saw needs chainsaw$"):
        registry.find_usable("saw", NOWHERE)


def test_an_entry_that_says_nothing_of_it_can_be_used_everywhere(package: str) -> None:
    registry = Registry[str]("word", package)
    registry.add("saw", "a word")
    assert registry.usable(NOWHERE) == ["a word"]
