# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`make test` runs all its parts, and says at the end how each went."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools import run_tests
from tools.run_tests import ROOT, Outcome, Part

PYTEST_SAYS = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">
<testsuite name="pytest" errors="1" failures="2" skipped="3" tests="20" time="1"/></testsuites>"""
FAILING = """
import pytest
@pytest.fixture
def place(): raise OSError("no place")
@pytest.mark.parametrize("number", range(2))
def test_values(number): assert number == 0, "one is too many"
def test_set_up(place): pass
"""
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
        Outcome("unit tests", False, "14 passed, 1 failed", 100.0, ("tests.x::test_y: no",)),
        Outcome("without jobs", True, "3 passed, 0 skipped", 2.0),
    ]
    assert run_tests.summary(outcomes).splitlines() == [
        "--- summary",
        "C++ tests        ok          12 s  29 passed, 0 skipped",
        "unit tests       FAILED     100 s  14 passed, 1 failed",
        "without jobs     ok           2 s  3 passed, 0 skipped",
        "FAILED tests.x::test_y: no",
    ]


def test_failed_tests_are_named_with_the_first_line_of_their_reason(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(FAILING)
    result = tmp_path / "result.xml"
    words = [*run_tests.PYTEST, "-n", "0", "-c", "/dev/null", f"--rootdir={tmp_path}"]
    words += [f"--junitxml={result}", str(tmp_path)]
    assert subprocess.run(words, check=False, cwd=ROOT, capture_output=True).returncode == 1
    assert run_tests.failed_tests(result) == (
        "test_it::test_values[1]: AssertionError: one is too many",
        'test_it::test_set_up: failed on setup with "OSError: no place"',
    )
    assert run_tests.failed_tests(tmp_path / "none") == ()


def script(name: str, words: str, beside: bool = False, nice: int = 0) -> Part:
    return Part(name, (sys.executable, "-c", words), beside=beside, nice=nice)


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
    """Each line of a part follows its name, and its verdict comes when it ends."""

    def made(_: Sequence[str]) -> tuple[Part, ...]:
        text = "import sys; print('here'); sys.exit({})"
        return tuple(
            script(f"part {number}", text.format(end), beside and number == 1)
            for number, end in enumerate(ends)
        )

    monkeypatch.setattr(run_tests, "RESULTS", tmp_path)
    monkeypatch.setattr(run_tests, "parts", made)
    assert run_tests.main() == status
    before, _, summary = capfd.readouterr().out.partition("--- summary\n")
    assert {f"part {number}: here" for number in range(2)} <= set(before.splitlines())
    verdicts = [line.split()[2] for line in summary.splitlines()]
    assert verdicts == ["FAILED" if end else "ok" for end in ends]
    assert all(line in before for line in summary.splitlines())


SET_UP = """
import os, pathlib, pytest
@pytest.fixture(scope="module")
def begun(): pathlib.Path(f"{__file__}{os.getpid()}.begun").touch()
@pytest.mark.parametrize("number", range(6))
def test_it(begun, number): pass
"""
FOLLOW = """
import os, pathlib, time
def more():
    return os.getpriority(os.PRIO_PROCESS, 0) - {usual}
for number, value in enumerate({values}):
    for _ in range(600):
        if more() == value:
            break
        time.sleep(0.1)
    print(more(), flush=True)
    pathlib.Path("{seen}" + str(number)).touch()
"""
"""Prints each difference to the usual priority when it is as expected."""
WAIT = """
import os, time
while not os.path.exists("{seen}{number}"): time.sleep(0.05)
print("nice", os.getpriority(os.PRIO_PROCESS, 0) - {usual})
"""


def test_parts_yield_cores_only_as_long_as_jobs_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Some systems permit nobody, or only root, to raise a priority; there it stays low."""
    usual, seen = os.getpriority(os.PRIO_PROCESS, 0), tmp_path / "seen"
    try_it = [sys.executable, "-c", "import os; os.nice(1); os.nice(-1)"]
    is_permitted = subprocess.run(try_it, check=False, capture_output=True).returncode == 0
    values = (2, 1, 0) if is_permitted else (2, 2, 2)
    follow = FOLLOW.format(usual=usual, values=values, seen=seen)
    last = FOLLOW.format(usual=usual, values=values[-1:], seen=tmp_path / "last")
    alone, jobs = (WAIT.format(usual=usual, seen=seen, number=number) for number in range(2))
    parts = (
        script("full", "print('nice 0')"),
        script("alone", alone, nice=2),
        script("one", follow, beside=True),
        script("two", last, beside=True),
        script("jobs", jobs, nice=1),
    )
    outcomes = run_tests.run_all(parts)
    assert [outcome.name for outcome in outcomes] == ["full", "alone", "jobs", "one", "two"]
    assert all(outcome.passed for outcome in outcomes)
    printed = [line for line in capfd.readouterr().out.splitlines() if ":" in line]
    assert [line for line in printed if "nice" in line] == [
        f"{name}: nice 0" for name in ("full", "alone", "jobs")
    ]
    assert [line for line in printed if "nice" not in line] == [
        *(f"one: {value}" for value in values),
        f"two: {values[-1]}",
    ]
    assert os.getpriority(os.PRIO_PROCESS, 0) == usual


def test_goals_are_made_beside_the_tests_that_start_jobs() -> None:
    parts = run_tests.parts(("types", "cpp-lint"))
    beside = [part.name for part in parts if part.beside]
    assert beside == ["unit tests", "without jobs", "types", "cpp-lint"]
    assert parts[-1].name == "with jobs"
    assert {part.name: part.nice for part in parts if part.nice} == {
        "jobs alone": run_tests.LOWEST,
        "with jobs": run_tests.LOW,
    }
    results = [part.result for part in parts if part.result]
    assert len(set(results)) == len(results) == 5


@pytest.mark.parametrize("options", [run_tests.WITHOUT_JOBS, run_tests.PAIR])
def test_the_set_up_of_a_file_runs_once(tmp_path: Path, options: tuple[str, ...]) -> None:
    for name in ("test_one.py", "test_two.py"):
        (tmp_path / name).write_text(SET_UP)
    own = [word for word in options if not word.startswith("--ignore")]
    words = [*run_tests.PYTEST, "-q", "-c", os.devnull, "-n", "2", *own, str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert len(list(tmp_path.glob("*.begun"))) == 2


def test_a_test_that_fails_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(): assert False")
    words = [*run_tests.PYTEST, "-q", "-c", os.devnull, "-n", "1", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    before, failures, _ = done.stdout.partition("FAILURES")
    assert failures
    assert "FAILED test_one.py::test_one (call)" in before.splitlines()
