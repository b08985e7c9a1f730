# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What docs/howto/import.md tells people to type works, and what it lists is all there is."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.readers import readers

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/howto/import.md").read_text(encoding="utf-8")


def test_commands_run_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results").mkdir()
    shutil.copy(ROOT / "tests/golden/printed/osu.txt", tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    mpigauge (.*)$", TEXT, re.MULTILINE)
    assert len(commands) >= 4
    for line in commands:
        words = [
            str(found)
            for word in shlex.split(line)
            for found in (sorted(Path().glob(word)) if "*" in word else [word])
        ]
        assert run(words) == 0, line


def test_every_reader_is_listed() -> None:
    listed = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE)))
    assert set(readers()) <= set(listed)
