# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The slowest tests that tools/slow_tests.py names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.loaded_tools import load_tool

slow_tests = load_tool("slow_tests")
RESULTS = """\
<testsuites><testsuite name="pytest" tests="3" time="9.5">
<testcase classname="tests.e2e.test_map" name="test_a" time="4.0"/>
<testcase classname="tests.e2e.test_map" name="test_b[x]" time="0.5"/>
<testcase classname="tests.e2e.test_run" name="test_c" time="4.25"/>
</testsuite></testsuites>
"""


def test_the_slowest_tests_and_files_are_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "rest.xml").write_text(RESULTS)
    monkeypatch.setattr(sys, "argv", ["", "--results", str(tmp_path), "--count", "1"])
    assert slow_tests.main() == 0
    assert [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines() if line] == [
        ["parts"],
        ["9.5", "s", "rest, 3 tests"],
        ["slowest", "files"],
        ["4.5", "s", "tests.e2e.test_map, 2 tests"],
        ["slowest", "tests"],
        ["4.2", "s", "tests.e2e.test_run::test_c"],
    ]


def test_without_results_none_are_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["", "--results", str(tmp_path)])
    assert slow_tests.main() == 2
    assert "run make test before" in capsys.readouterr().err
