# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The simple loops by two compilers, from the command line. One compiler with two sets of flags is
two, so that this can be seen wherever there is one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.runs.store import load
from tests.e2e.commands import ROUGH

pytestmark = pytest.mark.mpi


def test_two_compilers_are_measured_in_turn_and_judged_in_one_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    words = ["node", "Triad", "Dot", "--compiler", "g++", "--compiler", "g++ -O1", "--np", "1"]
    words += ["--sizes", "100000", "--launches", "2", *ROUGH, "--mpi", "mpich"]
    assert run([*words, "--output", str(folder)]) == 0
    stored = load(folder)
    assert {(c.benchmark, c.launch, c.settings) for c in stored.cells} == {
        (name, launch, f"compiler={by}")
        for name in ("Triad", "Dot")
        for launch in (0, 1)
        for by in ("g++", "g++_-O1")
    }
    assert all(cell.check == "exact" and not cell.wrong_count for cell in stored.cells)
    accounts = {cell.settings: cell.variant.split(", ", 1)[1] for cell in stored.cells}
    assert accounts["compiler=g++"].startswith("-O3 ")
    assert accounts["compiler=g++_-O1"].endswith("-fno-builtin -O1")
    first, second = stored.passport["compilers"]
    assert (first["said"], second["said"]) == ("g++", "g++ -O1")
    assert "g++" in first["version"]
    page = capsys.readouterr().out
    assert page.count("Simple loops by compilers") == 1
    assert page.count("UNDECIDED\n") == 2
    assert "UNDECIDED: 2 launches, at least 6 of each are needed." in page
    assert run(["show", str(folder), "--format", "json"]) == 0
    ratios = json.loads(capsys.readouterr().out)["compilers"]
    assert [(each["first"], each["second"]) for each in ratios] == [("g++", "g++ -O1")] * 2
