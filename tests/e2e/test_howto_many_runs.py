# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What docs/howto/many-runs.md tells people to type works as it is written there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.query import TABLES, columns_of
from tests import cells, runs

PAGE = "docs/howto/many-runs.md"


@pytest.fixture
def page(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """In a folder with runs that have what the page asks for."""
    monkeypatch.chdir(tmp_path)
    for number, mpi in enumerate(("mpich", "openmpi")):
        measured = runs.cell(number, raw=cells.raw([[100, 110]]))
        lines = [runs.launch(number), runs.rank(launch=number), measured, cells.end(number)]
        header = {"mpi": {"name": mpi, "version": "5.0"}}
        runs.write(Path("mpigauge-runs") / f"{mpi}-run", lines, host=mpi, header=header)
    return (repository / PAGE).read_text(encoding="utf-8")


def test_commands_run_as_written(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = re.findall(r"^    mpigauge (.*)$", page, re.MULTILINE)
    assert len(commands) > 10
    for words in map(shlex.split, commands):
        assert run(words) == 0, capsys.readouterr().err
        said = capsys.readouterr()
        file = Path(words[words.index("-o") + 1]) if "-o" in words else None
        assert file.stat().st_size if file else said.out.strip(), words
        assert "left out" not in said.err, words


def test_the_table_of_tables_is_true(page: str) -> None:
    lines = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    assert {name for name, _ in lines} == set(TABLES)
    for table, words in lines:
        named = set(re.findall(r"`(\w+)`", words))
        assert named <= set(columns_of(table)), table
    assert page.count("`run`, `created` and `mpi`") == 1
    assert all(
        [f.name for f in fields[:3]] == ["run", "created", "mpi"] for fields in TABLES.values()
    )
