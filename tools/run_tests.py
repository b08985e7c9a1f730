# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs the parts of `make test` after the set-up, whatever fails, and prints a summary at the end.

Exit status: 0 all parts passed, 1 one did not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "results"
PYTEST = (sys.executable, "-m", "pytest", "-rs")
KERNELS = "from tests.conftest import ABIS; from mpigauge.site.mpi import find, kernels\n"
KERNELS += "for spec in ABIS: kernels(find(spec), print)"
MOST_WORKERS = 8
WITHOUT_MPI = (
    *("tests/replay", "tests/process"),
    *("tests/golden/test_imb.py", "tests/golden/test_readers_imb.py"),
)
"""The tests besides unit tests that start no MPI job, so each core can have a worker."""
ALONE = ("-m", "alone", "tests/cases")
"""The tests that run alone: their ranks synchronize so often that another job makes them ten times
as slow, or fail."""
PAIR = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
"""The options that run two files at a time: one uses the cores while the other launches or waits.
A file's set-up runs once; files with many quick tests come last, so that both workers end at about
the same time."""


@dataclass(frozen=True)
class Part:
    name: str
    words: tuple[str, ...]
    result: Path | None = None
    """The file with the results of the tests, in JUnit's format."""


@dataclass(frozen=True)
class Outcome:
    name: str
    passed: bool
    counts: str
    seconds: float


def parts() -> tuple[Part, ...]:
    workers = str(min(MOST_WORKERS, len(os.sched_getaffinity(0))))
    unit, many, alone, rest, cpp = (
        RESULTS / f"{each}.xml" for each in ("unit", "many", "alone", "rest", "cpp")
    )
    elsewhere = (f"--ignore={each}" for each in ("tests/unit", *WITHOUT_MPI))
    others = ("-m", "not alone", *elsewhere)
    return (
        Part("C++ tests", ("make", "cpp-test", f"JUNIT={cpp}"), cpp),
        Part("kernels", (sys.executable, "-c", KERNELS)),
        Part("unit tests", (*PYTEST, "-n", workers, f"--junitxml={unit}", "tests/unit"), unit),
        Part("data, processes", (*PYTEST, "-n", workers, f"--junitxml={many}", *WITHOUT_MPI), many),
        Part("tests alone", (*PYTEST, f"--junitxml={alone}", *ALONE), alone),
        Part("all other tests", (*PYTEST, *PAIR, f"--junitxml={rest}", *others), rest),
    )


def main() -> int:
    RESULTS.mkdir(parents=True, exist_ok=True)
    outcomes = [run(part) for part in parts()]
    print(summary(outcomes))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def run(part: Part) -> Outcome:
    """Runs a part in the root of the tree; what it prints is seen as it comes."""
    if part.result:
        part.result.unlink(missing_ok=True)
    print(f"--- {part.name}", flush=True)
    start = time.monotonic()
    status = subprocess.run(part.words, cwd=ROOT, check=False).returncode
    counts = counted(part.result) if part.result else ""
    return Outcome(part.name, status == 0, counts, time.monotonic() - start)


def counted(result: Path) -> str:
    """Returns the numbers of passed, skipped and failed tests as text."""
    if not result.exists():
        return "it did not come to its tests"
    suites = list(ET.parse(result).getroot().iter("testsuite"))
    total, *others = (
        sum(int(suite.get(name) or 0) for suite in suites)
        for name in ("tests", "failures", "errors", "skipped", "disabled")
    )
    failures, errors, skipped, disabled = others
    words = [f"{total - sum(others)} passed", f"{skipped + disabled} skipped"]
    return ", ".join(words + [f"{failures + errors} failed"] * bool(failures + errors))


def summary(outcomes: list[Outcome]) -> str:
    lines = ["--- summary"]
    for each in outcomes:
        verdict = "ok" if each.passed else "FAILED"
        lines.append(f"{each.name:<16} {verdict:<7} {each.seconds:6.0f} s  {each.counts}".rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
