#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Do mpi4py's own tests pass under the profiler and on MPIs of another ABI, if they do without?

The tests are in mpi4py's source package, and its wheel has extensions for MPICH's ABI and for that
of Open MPI; both are fetched into build/mpi4py. Each configuration runs all tests on two ranks. A
test that hangs or ends the job is noted, and the job goes on behind it. What counts is each test
that passes natively on the MPI that runs: it has to pass on all ranks.

Left out are the tests that start processes (they need slots that two ranks do not leave), and
test_util_dtlib, which calls hardly any MPI for a third of the time.

Exit status: 0 nothing is lost without a known reason, 1 something is, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import common

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.launch.library import library
from mpigauge.site.launch import Job
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make.translation import translation

PROMISE = "no test that passes natively is lost, but for reasons that the program names"
VERSION = "4.1.2"
KEPT = Path(__file__).resolve().parents[1] / "build" / "mpi4py"
PROGRAM = Path(__file__).with_name("mpi4py_ranks.py")
LEFT_OUT = ("test_spawn", "test_dynproc", "test_util_dtlib", "test_util_pool")
QUICK = ("test_status", "test_p2p_buf", "test_grequest")
RANKS = 2
SILENCE_S = 60.0
"""A job that has neither begun nor ended a test for so long hangs."""
MOST_STARTS = 60
VARIANTS = {"mpich": "mpich", "ompi": "openmpi"}
"""The names of mpi4py's extensions by ABI."""
MPIS = ("mpich", "openmpi", "intel")
PAIRS = (("mpich", "openmpi"), ("ompi", "mpich"), ("ompi", "intel"))
"""The ABI of a program, and an MPI of another ABI."""


@dataclass(frozen=True)
class Known:
    """Tests that are lost for a reason that lies neither in the profiler nor in a translation."""

    configurations: str
    """A pattern of their names, as for files."""
    tests: str
    why: str


KNOWN = (
    Known(
        "intel, *",
        "test_rma_nb.*",
        "Intel MPI ends with SIGSEGV in requests of one-sided calls at times, natively as well",
    ),
    Known(
        "*, translated from ompi",
        "*.testBuffering",
        "the extension was made for Open MPI 5.0, which has no MPI_BUFFER_AUTOMATIC",
    ),
    Known(
        "*, translated from ompi",
        "*.testSplitTypeResourceGuided",
        "the extension was made for Open MPI 5.0, which has no MPI_COMM_TYPE_RESOURCE_GUIDED",
    ),
    Known(
        "*, translated from ompi",
        "test_ulfm.*",
        "the extension for MPICH calls nothing of these, and MPICH does not support what it has",
    ),
    Known(
        "openmpi, translated from mpich",
        "test_ulfm.*.testRevoke",
        "the extension for MPICH leaves this call out",
    ),
    Known(
        "openmpi, translated from mpich",
        "*.testBuffering",
        "Open MPI 5.0 lacks MPI_Comm_attach_buffer and its like",
    ),
    Known(
        "openmpi, translated from mpich",
        "test_errorcode.*.testAddErrorC*",
        "Open MPI 5.0 lacks MPI_Remove_error_class and its like",
    ),
    Known(
        "openmpi, translated from mpich",
        "test_datatype.*.testContiguousBigMPI",
        "Open MPI 5.0 lacks large counts",
    ),
)


# --- what is run ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Configuration:
    how: str
    mpi: Mpi
    abi: str
    """The ABI of the extension under test."""
    library: Path
    """The library that the extension loads as its MPI."""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        return f"{self.mpi.name}, {self.how}"


def native(mpi: Mpi) -> Configuration:
    return Configuration("native", mpi, mpi.abi, mpi.library)


def profiled(mpi: Mpi, folder: Path) -> Configuration:
    folder.mkdir(parents=True, exist_ok=True)
    env = {"LD_PRELOAD": str(library()), "MPIGAUGE_PROFILE": str(folder)}
    return Configuration("profiled", mpi, mpi.abi, mpi.library, env)


def translated(abi: str, mpi: Mpi) -> Configuration:
    made = translation(abi, mpi)
    return Configuration(f"translated from {abi}", mpi, abi, made.preload[0], made.env)


@dataclass(frozen=True)
class Suite:
    tests: Path
    packages: Path
    modules: tuple[str, ...]


def fetched(modules: Sequence[str]) -> Suite:
    """Downloads the tests and the package once. `modules`: modules of tests; none: all.

    UserError: pip fails, with its output; a module does not exist.
    """
    source, packages = KEPT / f"mpi4py-{VERSION}", KEPT / "packages"
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    named = f"mpi4py=={VERSION}"
    if not packages.exists():
        _pip(*pip, "install", "--no-deps", "--only-binary=:all:", "--target", str(packages), named)
    if not source.exists():
        _pip(*pip, "download", "--no-deps", "--no-binary=mpi4py", "--dest", str(KEPT), named)
        with tarfile.open(KEPT / f"mpi4py-{VERSION}.tar.gz") as archive:
            archive.extractall(KEPT, filter="data")
    there = sorted(path.stem for path in (source / "test").glob("test_*.py"))
    for name in modules:
        if name not in there:
            raise UserError(f"--modules: there is no '{name}'{did_you_mean(name, there)}")
    all_modules = [name for name in there if name not in LEFT_OUT]
    return Suite(source / "test", packages, tuple(modules or all_modules))


def _pip(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"pip failed: {done.stderr.strip()[-300:]}")


# --- running it ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """The outcome of a test on a rank."""

    how: str
    """ok, skipped, failed, error; hung or died; not run."""
    why: str = ""


Outcomes = dict[str, list[Outcome]]
"""The outcomes on each rank, by the name of the test."""
NOT_RUN = Outcome("not run")


class Running:
    """All starts of a configuration, until all tests have been tried."""

    def __init__(self, configuration: Configuration, suite: Suite) -> None:
        self.configuration = configuration
        self.suite = suite
        name = configuration.name.replace(", ", "-").replace(" ", "-")
        self.kept = KEPT / "results" / name
        """A folder for each start: start1, start2, …"""
        self.folder = self.kept
        """The folder of the last start."""
        self.names: list[str] = []
        self.outcome_of: dict[tuple[int, int], Outcome] = {}
        """The outcomes by number of the test and rank."""

    def outcomes(self) -> Outcomes:
        shutil.rmtree(self.kept, ignore_errors=True)
        first: int | None = 0
        starts = 0
        while first is not None and starts < MOST_STARTS:
            starts += 1
            hung = self._start(first, starts)
            first = self._read("hung" if hung else "died", first)
        return {
            name: [self.outcome_of.get((number, rank), NOT_RUN) for rank in range(RANKS)]
            for number, name in enumerate(self.names)
        }

    def _start(self, first: int, start: int) -> bool:
        """Runs the tests from this one on. Whether the job hung and was ended."""
        self.folder = self.kept / f"start{start}"
        self.folder.mkdir(parents=True)
        suite = self.suite
        ours = {
            "PYTHONPATH": str(suite.packages),
            "LD_LIBRARY_PATH": str(self.configuration.library.parent),
            "MPI4PY_MPIABI": VARIANTS[self.configuration.abi],
            "MPI4PY_LIBMPI": str(self.configuration.library),
            "OPENBLAS_NUM_THREADS": "1",
        }
        words = (sys.executable, PROGRAM, suite.tests, self.folder, first, *suite.modules)
        env = {**self.configuration.env, **ours}
        job = Job(
            self.configuration.mpi, RANKS, tuple(map(str, words)), env=env, oversubscribe=True
        )
        with (self.folder / "output.txt").open("w") as output:
            return self._hung(common.start(job, output, self.folder))

    def _hung(self, launched: subprocess.Popen[bytes]) -> bool:
        """Waits until the job ends, or has been silent for too long and is ended."""
        written, since = 0, time.monotonic()
        while launched.poll() is None:
            time.sleep(0.2)
            now = sum(path.stat().st_size for path in self.folder.glob("rank*.jsonl"))
            if now != written:
                written, since = now, time.monotonic()
            elif time.monotonic() - since > SILENCE_S:
                common.end(launched)
                return True
        return False

    def _read(self, ended_by: str, first: int) -> int | None:
        """Reads the ranks' files; returns the number of the next test, or None after the last."""
        begun: set[tuple[int, int]] = set()
        finished = 0
        for rank in range(RANKS):
            for line in lines_of(self.folder / f"rank{rank}.jsonl"):
                if "tests" in line:
                    self.names = line["tests"]
                elif "begun" in line:
                    begun.add((line["begun"], rank))
                elif "ended" in line:
                    self.outcome_of[line["ended"], rank] = Outcome(line["how"], line["why"])
                else:
                    finished += 1
        if not self.names:
            raise UserError(f"{self.configuration.name}: no test began; see {self.folder}")
        if finished == RANKS:
            return None
        # Ranks begin each test together, so it ended in the last that was begun.
        last = max((number for number, _ in begun), default=first)
        for rank in range(RANKS):
            if (last, rank) in begun or not begun:
                self.outcome_of.setdefault((last, rank), Outcome(ended_by))
        return last + 1


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """The last line of a rank that was killed may be cut."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return


# --- judging it ----------------------------------------------------------------------------------


def lost(native: Outcomes, other: Outcomes) -> dict[str, str]:
    """The tests that pass natively on all ranks and not in the other configuration, with why."""
    reasons = {}
    for name, outcomes in native.items():
        if any(outcome.how != "ok" for outcome in outcomes):
            continue
        wrong = [outcome for outcome in other.get(name, [NOT_RUN]) if outcome.how != "ok"]
        if wrong:
            reasons[name] = f"{wrong[0].how} {wrong[0].why}".strip()
    return reasons


def reason(configuration: Configuration, test: str) -> str:
    """Returns the recorded reason why a test is lost in a configuration; empty: none."""
    for loss in KNOWN:
        if fnmatchcase(configuration.name, loss.configurations) and fnmatchcase(test, loss.tests):
            return loss.why
    return ""


def print_lost(configuration: Configuration, missing: Mapping[str, str]) -> int:
    """Prints the lost tests, and returns the number of those without a known reason."""
    reasons = Counter(filter(None, (reason(configuration, test) for test in missing)))
    for why, count in reasons.items():
        print(f"    lost, as known, {count}: {why}")
    unknown = [test for test in missing if not reason(configuration, test)]
    for test in unknown:
        print(f"    LOST {test}: {missing[test]}")
    return len(unknown)


def counted(outcomes: Outcomes) -> str:
    """Returns the number of tests of each outcome; a test counts by its worst rank."""
    order = ("died", "hung", "error", "failed", "not run", "skipped", "ok")
    worst = Counter(
        min((each.how for each in ranks), key=order.index) for ranks in outcomes.values()
    )
    return ", ".join(f"{worst[how]} {how}" for how in reversed(order) if worst[how])


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", default=",".join(MPIS), help=f"on which ({','.join(MPIS)})")
    parser.add_argument("--what", default="profiled,translated", help="(profiled,translated)")
    parser.add_argument("--modules", default="", help="of tests, with commas (all)")
    parser.add_argument("--quick", action="store_true", help="three modules: does it work at all?")
    return parser.parse_args(words)


def configurations(mpi: Mpi, what: Sequence[str]) -> Iterator[Configuration]:
    if "profiled" in what:
        yield profiled(mpi, KEPT / "profiles" / mpi.name)
    for abi, target in PAIRS:
        if "translated" in what and target == mpi.name:
            yield translated(abi, mpi)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    tests = lost_count = 0
    print(f"# {common.machine()}, mpi4py {VERSION}, {RANKS} ranks\n")
    try:
        named = tuple(name for name in options.modules.split(",") if name)
        suite = fetched(QUICK if options.quick else named)
        for name in options.mpi.split(","):
            mpi = find(name)
            reference = tried(native(mpi), suite)
            for each in configurations(mpi, options.what.split(",")):
                outcomes = tried(each, suite)
                tests += len(outcomes)
                lost_count += print_lost(each, lost(reference, outcomes))
    except UserError as error:
        print(f"mpi4py_suite: {error}", file=sys.stderr)
        return 2
    figures = f"{lost_count or 'none'} of {tests} lost without a known reason"
    return common.conclude(not lost_count, figures)


def tried(configuration: Configuration, suite: Suite) -> Outcomes:
    start = time.monotonic()
    outcomes = Running(configuration, suite).outcomes()
    took = time.monotonic() - start
    print(f"{configuration.name}: {counted(outcomes)} ({took:.0f} s)", flush=True)
    return outcomes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
