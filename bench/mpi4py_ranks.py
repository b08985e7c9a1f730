# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs mpi4py's own tests on a rank, started by mpi4py_suite.py, and writes how each went.

usage: mpi4py_ranks.py TESTS RESULTS FIRST MODULE...

TESTS is the folder of the tests, RESULTS one for a file of each rank (rank0.jsonl), FIRST the
number of the test to begin with. The lines of a file are {"tests": names of all tests}, {"begun":
number} and {"ended": number, "how": verdict, "why": text} for each test, and {"finished": true}.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import sys
import traceback
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

Failure = tuple[type[BaseException], BaseException, TracebackType]


class Written(unittest.TestResult):
    """Writes each test down before it begins and after it has ended."""

    def __init__(self, path: Path, tests: Sequence[unittest.TestCase], ranks: Any) -> None:
        """`ranks`: a communicator of all of them, which begin each test together, so that it is
        known in which one a job hung or died."""
        super().__init__()
        self._ranks = ranks
        self._file = path.open("w", encoding="utf-8", buffering=1)
        self._numbers = {test.id(): number for number, test in enumerate(tests)}
        self._how, self._why = "ok", ""
        self.write(tests=list(self._numbers))

    def write(self, **words: Any) -> None:
        self._file.write(json.dumps(words) + "\n")

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().startTest(test)
        self._ranks.Barrier()
        self._how, self._why = "ok", ""
        self.write(begun=self._numbers[test.id()])

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().stopTest(test)
        self.write(ended=self._numbers[test.id()], how=self._how, why=self._why)

    def _wrong(self, how: str, error: Any) -> None:
        """Records a failure, unless the test has failed before."""
        if self._how == "ok":
            text = str(error[1]).strip().partition("\n")[0]
            self._how, self._why = how, f"{error[0].__name__}: {text} ({place_of(error[2])})"

    def addError(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addError(test, err)
        self._wrong("error", err)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addFailure(test, err)
        self._wrong("failed", err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._wrong("failed" if issubclass(err[0], test.failureException) else "error", err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        super().addSkip(test, reason)
        if self._how == "ok":
            self._how, self._why = "skipped", reason


def place_of(trace: TracebackType | None) -> str:
    """File and line of the test's own code that was left last."""
    frames = traceback.extract_tb(trace)
    own = [frame for frame in frames if Path(frame.filename).name.startswith("test_")]
    last = (own or frames)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def all_tests(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Yields the tests of a suite and of its inner suites, in order."""
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from all_tests(each)
        else:
            yield each


def without_skips_by_name(_predicate: str, *_conditions: object, **_reason: str) -> Any:
    """Replaces the decorator that skips tests by the name of an MPI: a program on an MPI of another
    ABI was compiled for another name."""
    return lambda test: test


def main(words: Sequence[str]) -> None:
    tests, results, first, *modules = words
    faulthandler.enable()
    sys.path.insert(0, tests)
    world = importlib.import_module("mpi4py.MPI").COMM_WORLD
    vars(importlib.import_module("mpiunittest"))["skipMPI"] = without_skips_by_name
    cases = list(all_tests(unittest.defaultTestLoader.loadTestsFromNames(modules)))
    written = Written(Path(results) / f"rank{world.Get_rank()}.jsonl", cases, world.Dup())
    unittest.TestSuite(cases[int(first) :]).run(written)
    written.write(finished=True)
    # A launcher may end the others where one rank ends early.
    world.Barrier()


if __name__ == "__main__":
    main(sys.argv[1:])
