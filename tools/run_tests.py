# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs the parts of `make test` after the set-up, whatever fails, and prints a summary at the end.

MPI jobs wait and launch for a good part of their time. Parts without MPI jobs run beside them, one
after the other, in the time that the jobs leave. Beside the tests that run without other jobs they
have the lowest priority. Lines of all parts are printed as they come.

    python tools/run_tests.py [GOAL…]

GOALs are goals of the Makefile that are made beside the tests, too.

Exit status: 0 all parts passed, 1 one did not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from mpigauge.site.launch.leftovers import descendants

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "results"
PYTEST = (sys.executable, "-m", "pytest", "-rs", "-p", "tools.failures_at_once")
KERNELS = "from tests.conftest import ABIS; from mpigauge.site.mpi import find, kernels\n"
KERNELS += "for spec in ABIS: kernels(find(spec), print)"
MOST_WORKERS = 8
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")
"""The options by which one worker runs a file, so that its set-up runs once. Files with many quick
tests come last, so that all workers end at about the same time."""
WITHOUT_JOBS = (*BY_FILE, "-m", "not mpi", "--ignore=tests/unit")
"""The tests besides unit tests that start no MPI job, so each core can have a worker."""
WITH_JOBS = ("-m", "mpi and not alone", "--ignore=tests/unit")
ALONE = ("-m", "alone", "tests/cases", "tests/e2e/test_fabric.py")
"""The tests that run without other jobs: their ranks synchronize so often that another job makes
them ten times as slow, or fail."""
PAIR = ("-n", "2", *BY_FILE)
"""The options that run two files at a time: one uses the cores while the other launches."""
LONGEST_REASON = 200
LOW, LOWEST = 10, 17
"""Nice values of parts beside MPI jobs. Two workers use idle cores, and of busy ones a tenth, or a
fiftieth. Two more steps are left for tests of priorities."""


@dataclass(frozen=True)
class Part:
    name: str
    words: tuple[str, ...]
    result: Path | None = None
    """The file with the results of the tests, in JUnit's format."""
    beside: bool = False
    """It runs beside parts with MPI jobs."""
    nice: int = 0
    """The nice value of the parts beside this one; 0: nothing runs beside it."""


@dataclass(frozen=True)
class Outcome:
    name: str
    passed: bool
    counts: str
    seconds: float
    failures: tuple[str, ...] = ()
    """The failed tests, each with the first line of its reason."""


def parts(goals: Sequence[str] = ()) -> tuple[Part, ...]:
    workers = str(min(MOST_WORKERS, len(os.sched_getaffinity(0))))
    unit, many, alone, rest, cpp = (
        RESULTS / f"{each}.xml" for each in ("unit", "many", "alone", "rest", "cpp")
    )
    shared = (*PYTEST, "-n", workers)
    return (
        Part("C++ tests", ("make", "cpp-test", f"JUNIT={cpp}"), cpp),
        Part("kernels", (sys.executable, "-c", KERNELS)),
        Part("jobs alone", (*PYTEST, f"--junitxml={alone}", *ALONE), alone, nice=LOWEST),
        Part("unit tests", (*shared, f"--junitxml={unit}", "tests/unit"), unit, beside=True),
        Part("without jobs", (*shared, f"--junitxml={many}", *WITHOUT_JOBS), many, beside=True),
        *(Part(goal, ("make", goal), beside=True) for goal in goals),
        Part("with jobs", (*PYTEST, *PAIR, f"--junitxml={rest}", *WITH_JOBS), rest, nice=LOW),
    )


def main(goals: Sequence[str] = ()) -> int:
    RESULTS.mkdir(parents=True, exist_ok=True)
    outcomes = run_all(parts(goals))
    print(summary(outcomes))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def run_all(every: Sequence[Part]) -> list[Outcome]:
    """Runs the parts one after the other, but those beside them as soon as one has jobs."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    pool = ThreadPoolExecutor(1)
    outcomes: list[Outcome] = []
    others: list[Future[Outcome]] = []

    def continue_others(nice: int) -> None:
        if others:
            set_priority_of_others(usual + nice)
        else:
            pool.submit(os.nice, nice).result()
            others.extend(pool.submit(run, part) for part in every if part.beside)

    try:
        for part in every:
            if part.nice:
                continue_others(part.nice)
            if not part.beside:
                outcomes.append(run(part))
        continue_others(0)
        return outcomes + [other.result() for other in others]
    finally:
        pool.shutdown(cancel_futures=True)


def run(part: Part) -> Outcome:
    """Runs a part in the root of the tree, and prints its lines after its name."""
    if part.result:
        part.result.unlink(missing_ok=True)
    start = time.monotonic()
    with subprocess.Popen(
        part.words,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            print(f"{part.name}: {line}", end="", flush=True)
    seconds = time.monotonic() - start
    counts = counted(part.result) if part.result else ""
    failures = failed_tests(part.result) if part.result else ()
    outcome = Outcome(part.name, process.returncode == 0, counts, seconds, failures)
    print(line_of(outcome), flush=True)
    return outcome


def set_priority_of_others(priority: int) -> None:
    """Gives threads and processes that still run this priority, but for the calling thread. Some
    systems do not permit a higher one: threads and what they start have priorities of their own."""
    threads = {int(path.name) for path in Path("/proc/self/task").iterdir()}
    for task in (threads | descendants(os.getpid())) - {threading.get_native_id()}:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, task, priority)


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


def failed_tests(result: Path) -> tuple[str, ...]:
    """Returns a line for each failed test: its name, and the first line of the reason."""
    if not result.exists():
        return ()
    return tuple(
        f"{case.get('classname')}::{case.get('name')}: {first_line(reason.get('message'))}"
        for case in ET.parse(result).getroot().iter("testcase")
        for reason in (*case.iterfind("failure"), *case.iterfind("error"))
    )


def first_line(text: str | None) -> str:
    return next(iter((text or "").splitlines()), "")[:LONGEST_REASON]


def summary(outcomes: Sequence[Outcome]) -> str:
    """Returns the table of the parts. Failed tests follow it, as logs may be cut to their end."""
    failures = [f"FAILED {failure}" for each in outcomes for failure in each.failures]
    return "\n".join(["--- summary", *map(line_of, outcomes), *failures])


def line_of(each: Outcome) -> str:
    verdict = "ok" if each.passed else "FAILED"
    return f"{each.name:<16} {verdict:<7} {each.seconds:6.0f} s  {each.counts}".rstrip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
