# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""docs/users: what other programs have is named in full, and what is named of ours is there."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run
from mpigauge.runs.readers.known import known_cards
from mpigauge.runs.readers.mpip import TABLES
from mpigauge.runs.readers.osu_tests import card_of_title
from tests.e2e.test_docs import options_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def text(repository: Path, request: pytest.FixtureRequest) -> str:
    return (repository / f"docs/users/{request.param}.md").read_text(encoding="utf-8")


@pytest.mark.mpi
@pytest.mark.parametrize("text", ["imb"], indirect=True)
def test_every_option_of_imb_is_named(text: str, tmp_path: Path) -> None:
    assert run(["imb", "install", str(tmp_path / "imb"), "--mpi", "mpich"]) == 0
    named = set(re.findall(r"`(-\w+)", text))
    for program in (tmp_path / "imb").glob("IMB-*"):
        help_ = subprocess.run([program, "-help"], capture_output=True, text=True, check=True)
        options = set(re.findall(r"^#? +(-\w+)", help_.stdout, re.MULTILINE))
        assert len(options) > 5, program.name
        assert options <= named, program.name


@pytest.mark.parametrize("text", ["imb", "osu"], indirect=True)
def test_our_options_are_there(text: str) -> None:
    used = set(re.findall(r"(?<=[` ])(--[a-z][a-z-]+)", text))
    others = {"--map-by", "--cpu-list", "--mca", "--rankfile", "--host", "--type", "--nodes",
              "--format", "--vary", "--help"}  # fmt: skip
    assert len(used) > 8
    assert used - others <= options_of(["run"])


@pytest.mark.parametrize("text", ["osu"], indirect=True)
def test_tests_of_osu_are_what_the_reader_takes_them_for(text: str) -> None:
    rows = re.findall(r"^\| `(osu_\w+)` \| (.*?) \| `([\w:]+)` \|$", text, re.MULTILINE)
    assert len(rows) > 10
    for program, title, ours in rows:
        assert card_of_title(title, ("Size",)).word == ours, program
        assert known_cards().get(ours), program


@pytest.mark.parametrize("text", ["mpip"], indirect=True)
def test_every_table_of_mpip_is_named(text: str) -> None:
    assert [heads for heads in TABLES if f"| `{' '.join(heads)}` |" not in text] == []
