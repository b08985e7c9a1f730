# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""docs/reference/run-folder.md names every file and every record, and its program reads a run."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from mpigauge.model import record as records
from mpigauge.runs.store import files
from tests import cells, runs


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "reference" / "run-folder.md").read_text(encoding="utf-8")


def test_every_kind_of_record_is_there(page: str) -> None:
    section = page.partition("## records.jsonl")[2].partition("## ")[0]
    named = re.findall(r"^\| `(\w+)` \| |of the kind\n`(progress)`", section, re.MULTILINE)
    assert {word for words in named for word in words if word} - {"record"} == set(records._KINDS)


def test_the_keys_of_samples_are_there(page: str) -> None:
    for field in (*fields(records.Raw), *fields(records.Chunk)):
        assert field.name == "ticks" or f"`{field.name}`" in page


def test_every_file_is_there(page: str, tmp_path: Path) -> None:
    folder = runs.write(tmp_path / "run")
    for path in folder.iterdir():
        assert path.name in page, path
    assert f"version of the folder's layout: {files.SCHEMA}." in page


def test_the_program_on_the_page_reads_a_run(page: str, tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    measured = [
        runs.cell(calls=10, raw=cells.raw([[100, 110, 120]])),
        runs.cell(benchmark="PingPing", raw=cells.raw([[500]])),
        runs.cell(benchmark="Bcast"),
    ]
    runs.write(tmp_path / "mpigauge-runs" / "RUN", [runs.launch(), *measured])
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    read = [line.split() for line in done.stdout.splitlines()]
    assert [words[:2] for words in read] == [["PingPong", "8"], ["PingPing", "8"]]
    assert [float(words[2]) for words in read] == pytest.approx([11e-9, 500e-9])
