#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does the replay of a program spend as long in MPI as the program did?

Programs of tests/profiled/steady.cpp, or one of your own (--program), are profiled and replayed in
turn, each launch by the command that people type. Of a launch of each, the time in MPI of the calls
of an iteration is compared, of a rank and of all iterations in the mean.

Exit status: 0 the median of the ratios of each row is 0.75 to 1.25, 1 one is not, 2 it could not be
tried.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import common

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mpigauge.model.errors import UserError
from mpigauge.model.replayed import Replayed
from mpigauge.runs.store import load
from mpigauge.site.mpi import find
from tests.profiled import build

PROMISE = "in the median of launches in turn 0.75 to 1.25 times as long"
PROGRAMS = ("stencil", "transpose", "chain")
WITHIN = 0.25
HEADER = "{:<17} {:<18} {:>5} {:>10} {:>11} {:>7} {:>17} {:>9}"
ROW = "{:<17} {:<18} {:>5} {:>10.2f} {:>11.2f} {:>7.3f} {:>8.3f} to {:>5.3f} {:>8.1%}"
NOTES = """\
profile   microseconds in MPI of an iteration in the profile, the median of launches
replay    the same calls, replayed
ratio     replay over profile, launch by launch: the median, and the least to the most
covered   of the time in MPI in the profile: what is replayed\
"""


class Pair(NamedTuple):
    """A launch of the program and the launch of its replay that followed."""

    profile_s: float
    replay_s: float
    covered: float

    @property
    def ratio(self) -> float:
        return self.replay_s / self.profile_s


def launched(mpi: str, ranks: int, program: Sequence[str], seconds: float, folder: Path) -> Pair:
    before, after = folder / "before", folder / "after"
    common.run_mpigauge("profile", "--mpi", mpi, "--np", ranks, "--output", before, "--", *program)
    common.run_mpigauge("run", "Replay", "--mpi", mpi, "--profile", before, "--launches", 1, "--in",
             f"{seconds:g}s", "--output", after)  # fmt: skip
    run = load(after)
    of = Replayed.from_json(run.plan["replay"])
    (cell,) = run.cells
    return Pair(of.mpi_s, cell.time_own_mean_s, of.covered)


def row(mpi: str, name: str, ranks: int, pairs: Sequence[Pair]) -> str:
    ratios = [pair.ratio for pair in pairs]
    profile, replay = (1e6 * median(pair[at] for pair in pairs) for at in (0, 1))
    covered = median(pair.covered for pair in pairs)
    return ROW.format(
        mpi, name, ranks, profile, replay, median(ratios), min(ratios), max(ratios), covered
    )


def is_close(pairs: Sequence[Pair]) -> bool:
    return abs(median(pair.ratio for pair in pairs) - 1) <= WITHIN


def programs(options: argparse.Namespace, mpi: str, folder: Path) -> dict[str, list[str]]:
    """Returns the command line of each program, by name."""
    if options.program:
        words = shlex.split(options.program)
        return {Path(words[0]).name: words}
    built = str(build(find(mpi), "steady.cpp", folder))
    names = PROGRAMS[:1] if options.quick else PROGRAMS
    return {name: [built, name, str(options.steps)] for name in names}


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", action="append", help="mpich, openmpi, intel; again for more")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20000, help="of the programs (20000)")
    parser.add_argument("--launches", type=int, default=9, help="of each, in turn (9)")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a replay (3)")
    parser.add_argument("--program", help="one of your own in place of ours, with its arguments")
    parser.add_argument("--quick", action="store_true", help="one launch of one program")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    launches = range(1 if options.quick else options.launches)
    rows: dict[str, list[Pair]] = {}
    print(f"# {common.machine()}\n")
    print(HEADER.format("MPI", "program", "ranks", "profile", "replay", "ratio", "", "covered"))
    try:
        for name in options.mpi or ["mpich"]:
            label = find(name).label
            with tempfile.TemporaryDirectory() as folder:
                for what, program in programs(options, name, Path(folder)).items():
                    pairs = []
                    for number in launches:
                        place = Path(folder) / f"{what}-{number}"
                        place.mkdir()
                        asked = name, options.ranks, program, options.seconds, place
                        pairs.append(launched(*asked))
                    print(row(label, what, options.ranks, pairs), flush=True)
                    rows[f"{name} {what}"] = pairs
    except UserError as error:
        print(f"replay: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    figures = [f"{name} {median(pair.ratio for pair in pairs):.2f}" for name, pairs in rows.items()]
    return common.conclude(all(map(is_close, rows.values())), ", ".join(figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
