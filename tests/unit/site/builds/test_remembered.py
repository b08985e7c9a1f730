# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What was found out about files is asked once, and again when one of them has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.site.builds.remembered import remembered


class Asked:
    """Answers with what the file holds, and counts."""

    def __init__(self, file: Path) -> None:
        self.file, self.times = file, 0

    def __call__(self) -> str:
        self.times += 1
        return self.file.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIGAUGE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def library(tmp_path: Path) -> Path:
    file = tmp_path / "libmpi.so"
    file.write_text("one", encoding="utf-8")
    return file


def test_it_is_asked_once(library: Path) -> None:
    ask = Asked(library)
    assert [remembered("library", ["x"], [library], ask) for _ in range(3)] == ["one"] * 3
    assert ask.times == 1


def test_other_words_are_another_question(library: Path) -> None:
    ask = Asked(library)
    for subject in (["x"], ["x", "LD_LIBRARY_PATH=/a"], ["x", "LD_LIBRARY_PATH=/b"], ["x"]):
        remembered("library", subject, [library], ask)
    assert ask.times == 3


def test_a_changed_file_is_asked_again(library: Path) -> None:
    """Also one of the same length whose time was put back, and another one in its place."""
    ask = Asked(library)
    remembered("library", ["x"], [library], ask)
    before = library.stat()
    library.write_text("two", encoding="utf-8")
    os.utime(library, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert remembered("library", ["x"], [library], ask) == "two"
    other = library.with_name("other")
    other.write_text("six", encoding="utf-8")
    other.replace(library)
    assert remembered("library", ["x"], [library], ask) == "six"


def test_failures_are_not_kept(library: Path) -> None:
    def broken() -> str:
        raise UserError("it does not work")

    with pytest.raises(UserError):
        remembered("library", ["x"], [library], broken)
    assert remembered("library", ["x"], [library], Asked(library)) == "one"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"of": 1}', "\udcff"])
def test_a_damaged_answer_is_asked_again(library: Path, tmp_path: Path, content: str) -> None:
    remembered("library", ["x"], [library], Asked(library))
    (kept,) = (tmp_path / "cache" / "answers").iterdir()
    kept.write_bytes(content.encode("utf-8", "surrogateescape"))
    ask = Asked(library)
    assert remembered("library", ["x"], [library], ask) == "one"
    assert ask.times == 1


def test_a_cache_that_cannot_be_written_is_none(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("MPIGAUGE_CACHE", str(tmp_path / "file"))
    ask = Asked(library)
    assert [remembered("library", ["x"], [library], ask) for _ in range(2)] == ["one"] * 2
    assert ask.times == 2


def test_a_full_disk_is_left_without_a_part_of_an_answer(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert remembered("library", ["x"], [library], Asked(library)) == "one"
    assert list((tmp_path / "cache" / "answers").iterdir()) == []
