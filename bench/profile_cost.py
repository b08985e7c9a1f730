#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What does `mpigauge profile` add to a call of MPI, and what does mpiP?

Exit status: 0 within the limits, 1 above one of them, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.launch.library import library
from mpigauge.site.launch import Job
from mpigauge.site.mpi import find

PROMISE = (
    "30 ns for an MPI_Iprobe, 60 ns for an MPI_Sendrecv to itself; more where the clock is slow"
)
MOST_NS = {"Iprobe": 30.0, "Sendrecv to itself": 60.0}
"""The limits for a clock read of 7 ns; a call reads it twice, and slower reads are allowed for."""
USUAL_CLOCK_NS = 7.0
CLOCK = "clock"
PROFILER = common.HERE.parent / "profiler"
NOTES = """\
added    what a call takes more through the profiler than by its PMPI name, blocks of 1000 calls in
         turn within one job: the median over pairs of blocks, and the least of all blocks of each.
         Stacks of 8 frames, tables of peers, sizes and times: all that is on by default.
limit    30 and 60 ns where the clock is read in 7 ns, and twice what a reading takes above that.\
"""

HEADER = "{:<9} {:<16} {:>5}  {:<19} {:>9} {:>9} {:>9} {:>6}"
ROW = "{:<9} {:<16} {:>5}  {:<19} {:>9.1f} {:>9.1f} {:>9.1f} {:>6.1f}"
Pairs = dict[str, list[tuple[float, float]]]


def run(mpi: Mpi, ranks: int, program: Path, blocks: int, env: Mapping[str, str]) -> Pairs:
    words = (str(program), str(blocks))
    return read(common.printed_by(Job(mpi, ranks, words, env=env, oversubscribe=True)))


def read(text: str) -> Pairs:
    """Nanoseconds of a call with and without, by loop. Other lines are the profiler's own."""
    pairs: Pairs = defaultdict(list)
    for line in text.splitlines():
        words = line.split("\t")
        if len(words) == 3:
            pairs[words[0]].append((float(words[1]), float(words[2])))
    return pairs


def added(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The median of the differences, and the difference of the least."""
    least = [min(times) for times in zip(*pairs, strict=True)]
    return median(with_ - without for with_, without in pairs), least[0] - least[1]


def rows(tool: str, mpi: Mpi, ranks: int, by_loop: Pairs, reading_ns: float) -> list[str]:
    lines = []
    for loop, pairs in by_loop.items():
        alone = min(without for _, without in pairs)
        numbers = (alone, *added(pairs), limit(loop, reading_ns))
        lines.append(ROW.format(tool, mpi.label, ranks, loop, *numbers))
    return lines


def clock_ns(by_loop: Pairs) -> float:
    """Returns the ns of a clock read in the quickest block, and removes its loop from the pairs."""
    return min(min(times) for times in by_loop.pop(CLOCK))


def limit(loop: str, reading_ns: float) -> float:
    return MOST_NS[loop] + 2 * max(0.0, reading_ns - USUAL_CLOCK_NS)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", action="append", help="mpich, openmpi, intel; again for more")
    parser.add_argument("--mpip", metavar="FILE", help="libmpiP.so, to be measured beside it")
    parser.add_argument("--blocks", type=int, default=400, help="of 1000 calls (400)")
    parser.add_argument("--quick", action="store_true", help="5 blocks: does it work at all?")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    blocks = 5 if options.quick else options.blocks
    results: list[tuple[str, float, bool]] = []
    try:
        print(f"# {common.machine()}\n")
        print(HEADER.format("", "MPI", "ranks", "call", "alone ns", "added", "least", "limit"))
        for name in options.mpi or ["mpich"]:
            with tempfile.TemporaryDirectory() as folder:
                results += measured(find(name), Path(folder), blocks, options.mpip)
    except UserError as error:
        print(f"profile_cost: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    figures = []
    for loop in MOST_NS:
        own = [ns for name, ns, _ in results if name == loop]
        figures.append(f"{loop} {min(own):.0f} to {max(own):.0f} ns")
    return common.conclude(all(is_within for *_, is_within in results), ", ".join(figures))


def measured(
    mpi: Mpi, folder: Path, blocks: int, mpip: str | None
) -> list[tuple[str, float, bool]]:
    """Prints the rows of an MPI, and returns what is added to calls by the least, and whether that
    is within the limit."""
    more = ("-I", str(PROFILER), str(PROFILER / "clock.cpp"))
    program = common.mpi_program("profile_cost", mpi, folder, *more)
    ours = {"LD_PRELOAD": str(library()), "MPIGAUGE_PROFILE": str(folder)}
    results = []
    for ranks in (1, 2):
        by_loop = run(mpi, ranks, program, blocks, ours)
        reading_ns = clock_ns(by_loop)
        print(*rows("mpigauge", mpi, ranks, by_loop, reading_ns), sep="\n")
        for loop, pairs in by_loop.items():
            least = added(pairs)[1]
            results.append((loop, least, least <= limit(loop, reading_ns)))
        if mpip:
            other = run(mpi, ranks, program, blocks, {"LD_PRELOAD": mpip})
            print(*rows("mpiP", mpi, ranks, other, clock_ns(other)), sep="\n")
    return results


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
