# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Do the tests notice small faults that are planted at random, in Python and in C++?

Faults (mutants) are drawn at random with a seed, from each area in turn, until the time is over: so
the same seed tries the same ones, and more time tries more. An operator, a constant or a condition
is changed in a copy of the tree; what is below src/ by cosmic-ray, C++ by `mutants_cpp`. A mutant
is killed when a test fails, or never ends. Those that change nothing anybody could see are listed
with a reason in tests/data/equivalent_mutants.toml and do not count.

Results go to build/mutation/results.jsonl. Exit status: 0 the share killed is reached in all, 1 it
is not, 2 the tests fail without a fault.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Protocol

import common

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "mutation"
EQUIVALENT = ROOT / "tests" / "data" / "equivalent_mutants.toml"
SHARE = 0.9
PYTHON = {
    "result": "src/mpigauge/result",
    "runs": "src/mpigauge/runs",
    "plan": "src/mpigauge/measuring/plan",
    "tune": "src/mpigauge/products/tune",
}
CPP = ("core", "profiler", "translate")
PROMISE = "nine of ten of the faults that change what is done"
NEAR = "only with the Python tests that import from the areas: quicker, and kills fewer mutants"
KILLED, SURVIVED, EQUAL, BROKEN = "killed", "survived", "equivalent", "does not build"
ELSEWHERE = "run only by programs that tests start"
"""Most often with an MPI: minutes for each mutant."""


@dataclass(frozen=True)
class Mutant:
    path: Path
    """The path from the root of the tree."""
    line: int
    before: str
    after: str
    """The line that differs, without blanks around."""
    text: str
    """The whole file with the change."""

    @classmethod
    def of(cls, path: Path, source: str, text: str, line: int) -> Mutant:
        pairs = zip_longest(source.splitlines(), text.splitlines(), fillvalue="")
        before, after = next((a, b) for a, b in pairs if a != b)
        return cls(path, line, before.strip(), after.strip(), text)

    @property
    def key(self) -> tuple[str, str, str]:
        return str(self.path), self.before, self.after


@dataclass(frozen=True)
class Result:
    area: str
    path: str
    before: str
    after: str
    line: int
    outcome: str
    seconds: float


class Bed(Protocol):
    """A copy of the tree in which mutants are tried, one at a time."""

    def outcome(self, mutant: Mutant) -> str: ...


class Language(Protocol):
    def mutants(self, area: str, chance: random.Random) -> Iterator[Mutant]: ...
    def bed(self, number: int) -> Bed: ...


def copied(target: Path) -> Path:
    """Copies the files of this tree that git does not ignore, in their current state."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source, copy = ROOT / name, target / name
        if not source.is_file():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.read_bytes() != source.read_bytes():
            shutil.copy2(source, copy, follow_symlinks=False)
    return target


def run_until(
    words: Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float
) -> int | None:
    """The exit status; None: it did not end, and was ended with all that it started."""
    process = subprocess.Popen(
        words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


def equivalents() -> dict[tuple[str, str, str], str]:
    """The reasons why mutants change nothing, by their keys."""
    with EQUIVALENT.open("rb") as file:
        listed = tomllib.load(file)["mutant"]
    return {(each["path"], each["before"], each["after"]): each["reason"] for each in listed}


def in_turn(lists: Mapping[str, Iterator[Mutant]]) -> Iterator[tuple[str, Mutant]]:
    for row in zip_longest(*lists.values()):
        for area, mutant in zip(lists, row, strict=True):
            if mutant is not None:
                yield area, mutant


def tried(
    language: Language, areas: Sequence[str], seed: int, until: float, jobs: int
) -> list[Result]:
    """The outcomes of as many mutants as the time allows."""
    left = in_turn(
        {area: language.mutants(area, random.Random(f"{seed} {area}")) for area in areas}
    )
    equivalent_keys, lock, results = equivalents(), threading.Lock(), list[Result]()

    def work(bed: Bed) -> None:
        while time.monotonic() < until:
            with lock:
                area, mutant = next(left, ("", None))
            if mutant is None:
                return
            start = time.monotonic()
            outcome = EQUAL if mutant.key in equivalent_keys else bed.outcome(mutant)
            taken = round(time.monotonic() - start, 1)
            result = Result(area, *mutant.key, mutant.line, outcome, taken)
            with lock:
                results.append(result)
                note(result)

    with ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(work, language.bed(number)) for number in range(jobs)]:
            done.result()
    return results


def note(result: Result) -> None:
    with (KEPT / "results.jsonl").open("a") as file:
        file.write(json.dumps(vars(result)) + "\n")
    if result.outcome == SURVIVED:
        place = f"{result.path}:{result.line}"
        print(f"survived: {place}: {result.before}  ->  {result.after}", flush=True)


def share_killed(results: Sequence[Result]) -> tuple[int, int]:
    """The number of mutants killed, and that of all mutants that change the behaviour."""
    count = Counter(each.outcome for each in results)
    return count[KILLED], count[KILLED] + count[SURVIVED]


def summary(results: Sequence[Result], areas: Sequence[str]) -> list[str]:
    lines = []
    for area in (*areas, ""):
        own = [each for each in results if area in ("", each.area)]
        killed, of = share_killed(own)
        share = f"{killed / of:.1%}" if of else "none"
        other = Counter(each.outcome for each in own if each.outcome not in (KILLED, SURVIVED))
        more = "".join(f"; {count} {outcome}" for outcome, count in sorted(other.items()))
        lines.append(f"{area or 'all':<10} {share:>6} killed: {killed} of {of} mutants{more}")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=110, help="for all areas together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--area", action="append", choices=[*PYTHON, *CPP], help="only these")
    parser.add_argument("--again", action="store_true", help="with the last run's coverage")
    parser.add_argument("--near", action="store_true", help=NEAR)
    parser.add_argument("--quick", action="store_true", help="one minute: does it work at all?")
    given = parser.parse_args(arguments)
    given.minutes = 1 if given.quick else given.minutes
    KEPT.mkdir(parents=True, exist_ok=True)
    areas, until = given.area or [*PYTHON, *CPP], time.monotonic() + 60 * given.minutes
    results: list[Result] = []
    (KEPT / "results.jsonl").write_text("")
    for language, own in _languages(areas, given.again, given.near):
        share = len(own) / len(areas) if own != areas[-len(own) :] else 1.0
        ends = time.monotonic() + share * (until - time.monotonic())
        results += tried(language, own, given.seed, ends, given.jobs)
    print("\n".join(summary(results, areas)))
    killed, of = share_killed(results)
    return common.conclude(bool(of) and killed >= SHARE * of, f"{killed} of {of} mutants killed")


def _languages(
    areas: Sequence[str], again: bool, near: bool
) -> Iterator[tuple[Language, list[str]]]:
    import mutants_cpp
    import mutants_python

    if own := [area for area in areas if area in PYTHON]:
        yield mutants_python.Python(KEPT, again, own if near else ()), own
    if own := [area for area in areas if area in CPP]:
        yield mutants_cpp.Cpp(KEPT), own


if __name__ == "__main__":
    sys.exit(main())
