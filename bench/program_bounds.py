#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does the first sentence of a profile name what bounds a program?

tests/profiled/bounds.cpp is bound by one thing at a time, on as many ranks as there are cores: by
computation, by latency, bandwidth, imbalance or serialisation in MPI, or by files. Two more rows
take cores away: loops beside the program, and 32 ranks. A launch is right if the first word is;
for MPI also what follows "by". Other programs on these cores make ranks starve, so it needs an idle
machine; the last column has the launches that blame the network or the balance all the same.

Exit status: 0 at least 9 of 10 launches of each row are right and none blames wrongly, 1 fewer, 2
it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import common

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.show.sentences import sentences
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.site.mpi import find
from tests.profiled import build, profiled

PROMISE = (
    "right in 9 of 10 launches of each program, and neither network nor balance is blamed where "
    "ranks were kept from their cores"
)
LEAST_RIGHT = 0.9
MANY = 32
BLAME = ("MPI-bound", "Parallel efficiency", "perfect network", "perfect balance")
HEADER = "{:<18} {:<15} {:>5}  {:>7} {:>6}  {}"


@dataclass(frozen=True)
class Row:
    """A program, and the words that its first sentence may begin with."""

    name: str
    kind: str
    begins: tuple[str, ...]
    ranks: int = 0
    """0: one for each core."""
    has_loops: bool = False

    def is_right(self, answer: Sequence[str]) -> bool:
        return answer[0].startswith(self.begins)

    @property
    def takes_cores(self) -> bool:
        return self.has_loops or self.ranks > 0


MOVING = ("MPI-bound by transfer", "MPI-bound: ")
"""Time that is not split into waiting and moving has no cause after "by"."""
ROWS = (
    Row("compute", "compute", ("Compute-bound",)),
    Row("latency", "latency", MOVING),
    Row("bandwidth", "bandwidth", MOVING),
    Row("imbalanced", "imbalanced", ("MPI-bound by load balance",)),
    Row("serialised", "serialised", ("MPI-bound by serialisation",)),
    Row("file", "file", ("I/O-bound",)),
    Row("starved", "latency", ("Starved",), has_loops=True),
    Row("oversubscribed", "compute", ("Oversubscribed",), ranks=MANY),
)


def cores() -> int:
    return len(os.sched_getaffinity(0))


@contextmanager
def loops(number: int) -> Iterator[None]:
    """Loops beside the program, two for each core."""
    started = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(number)]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()


def launch(mpi: Mpi, row: Row, program: Path, seconds: float) -> list[str]:
    """The sentences of one launch. UserError: it failed."""
    with tempfile.TemporaryDirectory() as folder, loops(2 * cores() if row.has_loops else 0):
        words: list[str | Path] = [program, row.kind, str(seconds)]
        done = profiled(mpi, row.ranks or cores(), words, Path(folder) / "files")
    if done.status or not done.files:
        raise UserError(f"{row.name} ended with status {done.status}: {done.errors}")
    account = Account(ProfiledJob(0, 0, merged(done.files), {}))
    return sentences([account])


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", action="append", help="mpich, openmpi, intel; again for more")
    parser.add_argument("--rounds", type=int, default=10, help="launches of each row (10)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each launch (2)")
    parser.add_argument("--what", default=",".join(each.name for each in ROWS), help="rows (all)")
    parser.add_argument("--quick", action="store_true", help="one short launch of each row")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    asked = options.what.split(",")
    if unknown := set(asked) - {each.name for each in ROWS}:
        print(f"program_bounds: no {unknown.pop()} among {options.what}", file=sys.stderr)
        return 2
    rounds, seconds = (1, 0.5) if options.quick else (options.rounds, options.seconds)
    rows = [each for each in ROWS if each.name in asked]
    right_rows = 0
    blamed = 0
    mpis = options.mpi or ["mpich"]
    print(f"# {common.machine()}\n")
    print(HEADER.format("MPI", "program", "ranks", "right", "blamed", "the last first sentence"))
    try:
        for name in mpis:
            mpi = find(name)
            with tempfile.TemporaryDirectory() as folder:
                program = build(mpi, "bounds.cpp", Path(folder))
                os.chdir(folder)
                for row in rows:
                    answers = [launch(mpi, row, program, seconds) for _ in range(rounds)]
                    right = sum(row.is_right(each) for each in answers)
                    wrong = sum(_blames(each) for each in answers) if row.takes_cores else 0
                    right_rows += right >= LEAST_RIGHT * rounds
                    blamed += wrong
                    ranks = row.ranks or cores()
                    counted = f"{right}/{rounds}"
                    line = HEADER.format(mpi.label, row.name, ranks, counted, wrong, answers[-1][0])
                    print(line, flush=True)
                os.chdir("/")
    except UserError as error:
        print(f"program_bounds: {error}", file=sys.stderr)
        return 2
    whole = len(rows) * len(mpis)
    figures = f"{right_rows} of {whole} rows right, {blamed} launches blamed wrongly"
    return common.conclude(right_rows == whole and not blamed, figures)


def _blames(answer: Sequence[str]) -> bool:
    return any(word in sentence for sentence in answer for word in BLAME)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
