# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Wrong command lines, made by tests/wrong_words.py: each ends with one line and status 2, and
starts nothing. CI tries a sample, `make acceptance PART=wrong-words` all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.site.mpi import find, kernels
from tests import wrong_words
from tests.wrong_words import COMMANDS, Line

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED, COUNT = 33, 120


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kernels(find())  # built now, so that no line has to
    return wrong_words.make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MPIGAUGE_HISTORY")  # whose commands refuse everything while it is off
    wrong_words.nothing_starts(monkeypatch)


def complaints(lines: Iterable[Line], world: Path, tmp_path: Path) -> list[str]:
    found = []
    for line in lines:
        with wrong_words.copied(world, tmp_path / "here") as here:
            if why := wrong_words.complaint(line, here):
                found.append(f"{line}: {why}")
    return found


@pytest.mark.parametrize("command", sorted(wrong_words.BASES))
def test_right_words_are_not_refused(command: str, world: Path, tmp_path: Path) -> None:
    """Else a wrong value beside them would be refused for another reason."""
    words = (*command.split(), *wrong_words.BASES[command])
    with wrong_words.copied(world, tmp_path / "here") as here:
        told = wrong_words.complaint(Line(words, command), here)
    assert told.startswith(("launches ", "status 0", "status 1")), told


@pytest.mark.parametrize(
    "words",
    [
        ("PingPong", "--memory", "1Mi"),  # the usual sizes that fit are measured
        ("PingPong", "--memory-limit", "1Mi", "--sizes", "8,1Mi"),
    ],
)
def test_little_memory_is_no_fault(words: tuple[str, ...], world: Path, tmp_path: Path) -> None:
    with wrong_words.copied(world, tmp_path / "here") as here:
        told = wrong_words.complaint(Line(("run", *words), "run"), here)
    assert told.startswith("launches "), told


def test_lines_that_are_always_tried(world: Path, tmp_path: Path) -> None:
    assert not complaints(wrong_words.certain(), world, tmp_path)


def test_a_sample_of_wrong_lines(world: Path, tmp_path: Path) -> None:
    assert not complaints(wrong_words.sample(SEED, COUNT), world, tmp_path)


@pytest.mark.acceptance("wrong-words")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_all_wrong_lines(command: tuple[str, ...], world: Path, tmp_path: Path) -> None:
    lines = [line for line in wrong_words.lines() if line.command == command]
    assert lines
    assert not complaints(lines, world, tmp_path)
