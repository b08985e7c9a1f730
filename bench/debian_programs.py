#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Do Debian's programs of MPI compute the same on other MPIs than their own, and how fast?

LAMMPS, GROMACS, HPCC, Quantum ESPRESSO and both NWChems of Debian, made for its Open MPI 4.1 or
MPICH 4.0, run on two ranks: by their own launcher, whose results all others have to have, and by
`mpigauge exec` on their own MPI and on each --mpi, in turn. With --rules each is profiled on the
first MPI, tuned for, and run with the rules of the tuning and without.

Where Debian's packages are not here, they are installed on a view of this machine that nobody else
sees, which takes root.

Exit status: 0 all results are the same, 1 one is not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from pathlib import Path
from statistics import median
from typing import NamedTuple

import common
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mpigauge.model.errors import UserError
from tests.e2e.debian import again_with

PROMISE = "the results of a launch by the program's own mpirun in all rows"
HERE = Path(__file__).resolve().parent
INPUTS = HERE / "debian"
RANKS = "2"
LONGEST_S = 900
ENV = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
OPENMPI = ("/usr/bin/mpirun.openmpi",)
MPICH = ("env", "MPIR_CVAR_NOLOCAL=1", "/usr/bin/mpirun.mpich")
"""Through the shared memory of Debian's MPICH 4.0.2 its NWChem does not converge on two ranks."""


HANDED_OUT = 1e-9
"""NWChem hands tasks to whichever rank is free, so that the order of its sums is chance, and with
it the last digits, also on its own MPI."""


class Program(NamedTuple):
    package: str
    words: str
    own: tuple[str, ...]
    """The command of the launcher that the program was built for; the launcher comes last."""
    inputs: tuple[str, ...]
    """Files of the folder `debian`."""
    made_by: tuple[str, ...]
    """The commands that make more input from these files."""
    results: tuple[str, str]
    """A file, or "" for the output, and the pattern of the text that must be the same."""
    seconds: tuple[str, str]
    """A file, or "" for the output, and the pattern of its compute time; several are summed."""
    within: float = 0.0
    """The relative tolerance of numbers against those on its own MPI."""


PROGRAMS = {
    "lammps": Program(
        package="lammps",
        words="lmp -in melt.in -log none",
        own=OPENMPI,
        inputs=("melt.in",),
        made_by=(),
        results=("", r"^ +\d+(?: +-?[\d.]+){5} *$"),
        seconds=("", r"^Loop time of (\S+) on"),
    ),
    "gromacs": Program(
        package="gromacs",
        words="gmx_mpi mdrun -s water.tpr -ntomp 1 -reprod -deffnm end",
        own=OPENMPI,
        inputs=("water.mdp", "water.top"),
        made_by=(
            "gmx_mpi solvate -cs spc216 -box 2.2 2.2 2.2 -o water.gro -p water.top",
            "gmx_mpi grompp -f water.mdp -c water.gro -p water.top -o water.tpr",
        ),
        results=("end.gro", r".+"),
        seconds=("", r"^ +Time: +\S+ +(\S+)"),
    ),
    "hpcc": Program(
        package="hpcc",
        words="hpcc",
        own=OPENMPI,
        inputs=("hpccinf.txt",),
        made_by=(),
        results=(
            "hpccoutf.txt",
            r"^(?:\|\|Ax-b\|\|.*|PTRANS_residual=.*|\w+_Errors=.*|Success=.*)$",
        ),
        seconds=("hpccoutf.txt", r"^(?:HPL|PTRANS|MPIRandomAccess(?:_LCG)?)_time=(\S+)"),
    ),
    "nwchem.openmpi": Program(
        package="nwchem-openmpi",
        words="nwchem.openmpi water.nw",
        own=OPENMPI,
        inputs=("water.nw",),
        made_by=(),
        results=("", r"^ +Total SCF energy = .*$"),
        seconds=("", r"^ Total times +cpu: .* wall: +(\S+)s"),
        within=HANDED_OUT,
    ),
    "nwchem.mpich": Program(
        package="nwchem-mpich",
        words="nwchem.mpich water.nw",
        own=MPICH,
        inputs=("water.nw",),
        made_by=(),
        results=("", r"^ +Total SCF energy = .*$"),
        seconds=("", r"^ Total times +cpu: .* wall: +(\S+)s"),
        within=HANDED_OUT,
    ),
    "espresso": Program(
        package="quantum-espresso",
        words="pw.x -in h2.in",
        own=OPENMPI,
        inputs=("h.in", "h2.in"),
        made_by=("ld1.x -in h.in",),
        results=("", r"^!? +total energy +=.*$"),
        seconds=("", r"^ +PWSCF +:.* (\S+)s WALL"),
    ),
}
PACKAGES = ("openmpi-bin", "mpich", *(each.package for each in PROGRAMS.values()))
HEADER = "{:<15} {:<23} {:<11} {:<8} {:>8} {:>17} {:>7} {:>17} {:>8}"
ROW = "{:<15} {:<23} {:<11} {:<8} {:>8.3f} {:>8.3f} to {:>5.3f} {:>7.3f} {:>8.3f} to {:>5.3f} {:>8}"
COLUMNS = ("program", "MPI", "how", "results", "s", "", "ratio", "", "launches")
NOTES = """\
results   same: those of a launch by the program's own mpirun, word for word; to 1e-9: so close,
          as launches on its own MPI are to each other
s         what the program says that it has computed, in the median of launches; least to most
ratio     to the launch on its own MPI in the same round, in the median; least to most\
"""


class Launch(NamedTuple):
    how: str
    results: tuple[str, ...]
    seconds: float


class Row(NamedTuple):
    mpi: str
    launches: list[Launch]


def prepared(program: Program, folder: Path) -> Path:
    """A folder with all that the program reads."""
    folder.mkdir()
    for name in program.inputs:
        shutil.copy(INPUTS / name, folder)
    for words in program.made_by:
        _run(shlex.split(words), folder)
    return folder


def launched(program: Program, words: Sequence[str], inputs: Path) -> Launch:
    """Launches a program in a fresh copy of `inputs`: programs read files of previous runs."""
    with tempfile.TemporaryDirectory(dir=inputs.parent) as parent:
        folder = shutil.copytree(inputs, Path(parent) / "run")
        done = _run([*words, *shlex.split(program.words)], folder)
        text = {"": done.stdout + done.stderr}
        for name in {program.results[0], program.seconds[0]} - {""}:
            text[name] = (folder / name).read_text(encoding="utf-8")
    where, what = program.results
    results = tuple(re.findall(what, text[where], re.MULTILINE))
    where, what = program.seconds
    seconds = [float(each) for each in re.findall(what, text[where], re.MULTILINE)]
    if not results or not seconds:
        raise UserError(f"{shlex.join(words)} … {program.words}: prints no results: "
                        f"{text[''].strip()[-300:]}")  # fmt: skip
    return Launch(_how(done.stderr), results, sum(seconds))


def _how(messages: str) -> str:
    """Returns how the program runs, from the messages of `mpigauge exec`."""
    if "through a translation" in messages:
        return "translated"
    return "directly" if "runs there directly" in messages else "by itself"


def _run(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in the folder. UserError: it fails; with the end of its output."""
    done = subprocess.run(words, cwd=folder, env={**os.environ, **ENV}, capture_output=True,
                          text=True, check=False, timeout=LONGEST_S)  # fmt: skip
    if done.returncode != 0:
        output = (done.stdout + done.stderr).strip()[-600:]
        raise UserError(f"{shlex.join(words)}: exit status {done.returncode}: {output}")
    return done


def execute(mpi: str, *more: str) -> list[str]:
    return [common.MPIGAUGE, "exec", "--mpi", mpi, "--np", RANKS, "--place", "compact", *more, "--"]


def in_turn(
    program: Program, ways: Mapping[str, Sequence[str]], inputs: Path, launches: int
) -> list[Row]:
    """Returns the launches of each way, in turn; each round begins with another way."""
    rows = [Row(name, []) for name in ways]
    for number in range(launches):
        first = number % len(rows)
        for row in [*rows[first:], *rows[:first]]:
            row.launches.append(launched(program, ways[row.mpi], inputs))
    return rows


def printed(name: str, row: Row, own: Row, agreement: str) -> str:
    seconds = [each.seconds for each in row.launches]
    pairs = zip(row.launches, own.launches, strict=True)
    ratios = [each.seconds / other.seconds for each, other in pairs]
    return ROW.format(
        *(name, row.mpi, row.launches[0].how, agreement),
        *(median(seconds), min(seconds), max(seconds)),
        *(median(ratios), min(ratios), max(ratios), len(seconds)),
    )


def table(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, bool]]:
    """Yields the lines of the table, each with whether all results of its launches are right."""
    for name in options.program:
        program = PROGRAMS[name]
        inputs = prepared(program, folder / name)
        *setup, own = program.own
        expected = launched(program, [*setup, own, "-n", RANKS], inputs).results
        ways = {Path(own).name: [*setup, *execute(own)]}
        ways |= {mpi: execute(mpi) for mpi in options.mpi}
        if options.rules:
            ways = with_rules(program, options, inputs, folder / f"{name}-tuned")
        rows = in_turn(program, ways, inputs, options.launches)
        for row in rows:
            same = all(are_close(each.results, expected, program.within) for each in row.launches)
            agreement = (
                "OTHERS" if not same else f"to {program.within:g}" if program.within else "same"
            )
            yield printed(name, row, rows[0], agreement), same


def are_close(results: Sequence[str], expected: Sequence[str], within: float) -> bool:
    """True if all words are equal, or numbers within the relative tolerance."""
    if within == 0 or len(results) != len(expected):
        return tuple(results) == tuple(expected)
    words, others = " ".join(results).split(), " ".join(expected).split()
    return len(words) == len(others) and all(
        one == other
        or (_is_number(one, other) and isclose(float(one), float(other), rel_tol=within))
        for one, other in zip(words, others, strict=True)
    )


def _is_number(*words: str) -> bool:
    return all(re.fullmatch(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", word) for word in words)


def with_rules(
    program: Program, options: argparse.Namespace, inputs: Path, tuned: Path
) -> dict[str, list[str]]:
    """The program on the first MPI, with the rules of a tuning for it and without."""
    (mpi, *_) = options.mpi
    folder = Path(shutil.copytree(inputs, f"{tuned}-runs"))
    where = ["--mpi", mpi, "--np", RANKS, "--place", "compact"]
    program_words = shlex.split(program.words)
    _run([common.MPIGAUGE, "profile", *where, "--output", "before", "--", *program_words], folder)
    tune = ["tune", "--for", "before", "--mpi", mpi, "--in", options.rules, "--output", str(tuned)]
    _run([common.MPIGAUGE, *tune], folder)
    rules = _run([common.MPIGAUGE, "tune", "show", str(tuned)], folder).stdout
    print(rules.strip(), file=sys.stderr)
    return {mpi: execute(mpi), f"{mpi}, tuned": execute(mpi, "--tuned", str(tuned))}


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", action="append", help="mpich, openmpi, intel; again for more")
    parser.add_argument("--program", action="append", choices=PROGRAMS, help="again for more")
    parser.add_argument("--launches", type=int, default=7, help="of each, in turn (7)")
    parser.add_argument("--rules", metavar="TIME", help="tune for each program, within this time")
    parser.add_argument("--quick", action="store_true", help="one launch of LAMMPS on MPICH")
    options = parser.parse_args(words)
    options.mpi = options.mpi or ["mpich", "openmpi", "intel"]
    options.program = options.program or list(PROGRAMS)
    if options.quick:
        options.mpi, options.program, options.launches = ["mpich"], ["lammps"], 1
    return options


def are_here(names: Sequence[str]) -> bool:
    programs = [PROGRAMS[name] for name in names]
    commands = [word for each in programs for word in (each.words.split()[0], each.own[-1])]
    return all(map(shutil.which, commands))


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    are_right: list[bool] = []
    try:
        if not are_here(options.program):
            return again_with(PACKAGES, __file__, words)
        print(f"# {common.machine()}\n")
        print(HEADER.format(*COLUMNS))
        with tempfile.TemporaryDirectory() as folder:
            for line, is_right in table(options, Path(folder)):
                print(line, flush=True)
                are_right.append(is_right)
    except (UserError, pytest.skip.Exception, subprocess.TimeoutExpired) as error:
        print(f"debian_programs: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    figures = f"{sum(are_right)} of {len(are_right)} rows with the same results"
    return common.conclude(all(are_right), figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
