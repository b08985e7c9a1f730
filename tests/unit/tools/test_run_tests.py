# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`make test` runs all its parts, and says at the end how each went."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools import run_tests
from tools.run_tests import Outcome, Part

PYTEST_SAYS = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">
<testsuite name="pytest" errors="1" failures="2" skipped="3" tests="20" time="1"/></testsuites>"""
CTEST_SAYS = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x" tests="29" failures="0" disabled="0" skipped="0" hostname="" time="2"/>"""


def test_tests_are_counted(tmp_path: Path) -> None:
    said = {}
    for name, text in {"pytest": PYTEST_SAYS, "ctest": CTEST_SAYS}.items():
        (tmp_path / name).write_text(text)
        said[name] = run_tests.counted(tmp_path / name)
    assert said == {"pytest": "14 passed, 3 skipped, 3 failed", "ctest": "29 passed, 0 skipped"}
    assert run_tests.counted(tmp_path / "none") == "it did not come to its tests"


def test_the_summary_has_a_line_for_each_part() -> None:
    outcomes = [
        Outcome("C++ tests", True, "29 passed, 0 skipped", 12.4),
        Outcome("unit tests", False, "14 passed, 3 skipped, 3 failed", 100.0),
    ]
    assert run_tests.summary(outcomes).splitlines() == [
        "--- summary",
        "C++ tests        ok          12 s  29 passed, 0 skipped",
        "unit tests       FAILED     100 s  14 passed, 3 skipped, 3 failed",
    ]


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize(("ends", "status"), [((0, 0), 0), ((1, 0), 1), ((0, 5), 1)])
def test_a_part_that_fails_keeps_no_other_from_running(
    ends: tuple[int, ...],
    status: int,
    beside: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """What a part prints that runs beside the others is printed where it fails."""

    def made(_: Sequence[str]) -> tuple[Part, ...]:
        script = "import sys; print('here'); sys.exit({})"
        return tuple(
            Part(f"part {number}", (sys.executable, "-c", script.format(end)),
                 beside=beside and number == 1)
            for number, end in enumerate(ends)
        )  # fmt: skip

    monkeypatch.setattr(run_tests, "RESULTS", tmp_path)
    monkeypatch.setattr(run_tests, "parts", made)
    assert run_tests.main() == status
    said = capfd.readouterr().out
    assert said.count("here") == (1 if beside and not ends[1] else 2)
    verdicts = [line.split()[2] for line in said.partition("--- summary\n")[2].splitlines()]
    assert verdicts == ["FAILED" if end else "ok" for end in ends]


def test_goals_are_made_beside_the_tests_that_start_jobs() -> None:
    parts = run_tests.parts(("types", "cpp-lint"))
    beside = [part.name for part in parts if part.beside]
    assert beside == ["types", "cpp-lint", "unit tests", "without jobs"]
    assert parts[-1].name == "with jobs"
    results = [part.result for part in parts if part.result]
    assert len(set(results)) == len(results) == 5
