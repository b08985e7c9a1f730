#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which tests of the last `make test` took longest, and which files?

It starts nothing and reads what each part leaves in build/results. Times are wall times. Two files
run at a time, so their sum is larger than the time of a part. Tests without jobs run beside them
with a low priority, so they take longer than alone.

Exit status: 0 the tests are named, 2 there are no results.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

RESULTS = Path(__file__).resolve().parents[1] / "build" / "results"


@dataclass(frozen=True)
class Timed:
    """A test, or a file with all its tests."""

    name: str
    seconds: float
    tests: int = 1


@dataclass(frozen=True)
class Part:
    """One file of results."""

    name: str
    wall_s: float
    tests: tuple[Timed, ...]


def read(path: Path) -> Part:
    """The tests of a part; `make test` gives their classes the names of their files."""
    root = ET.parse(path).getroot()
    tests = [
        Timed(f"{case.get('classname')}::{case.get('name')}", float(case.get("time") or 0))
        for case in root.iter("testcase")
    ]
    wall_s = sum(float(suite.get("time") or 0) for suite in root.iter("testsuite"))
    return Part(path.stem, wall_s, tuple(tests))


def slowest(timed: Sequence[Timed], count: int) -> list[Timed]:
    return sorted(timed, key=lambda each: each.seconds, reverse=True)[:count]


def files_of(tests: Sequence[Timed]) -> list[Timed]:
    """The tests of each file, added up."""
    groups: dict[str, list[Timed]] = defaultdict(list)
    for test in tests:
        groups[test.name.partition("::")[0]].append(test)
    return [
        Timed(name, sum(test.seconds for test in group), len(group))
        for name, group in groups.items()
    ]


def show(parts: Sequence[Part], count: int) -> None:
    tests = [test for part in parts for test in part.tests]
    print("parts")
    for part in sorted(parts, key=lambda each: each.wall_s, reverse=True):
        print(f"{part.wall_s:8.1f} s  {part.name}, {len(part.tests)} tests")
    print("\nslowest files")
    for file in slowest(files_of(tests), count):
        print(f"{file.seconds:8.1f} s  {file.name}, {file.tests} tests")
    print("\nslowest tests")
    for test in slowest(tests, count):
        print(f"{test.seconds:8.1f} s  {test.name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder with JUnit files")
    parser.add_argument("--count", type=int, default=10, help="how many of each (default 10)")
    options = parser.parse_args()
    if not (paths := sorted(options.results.glob("*.xml"))):
        print(f"{options.results} has no results; run make test before", file=sys.stderr)
        return 2
    show([read(path) for path in paths], options.count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
