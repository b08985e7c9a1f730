#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What does `mpigauge profile` add to a call of MPI, and what does mpiP?

Exit status: 0 within the limits, 1 above one of them, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.site.launch import Job, command
from mpigauge.site.mpi import find
from mpigauge.site.mpi.build import headers
from mpigauge.site.mpi.cxx import compiler_words
from mpigauge.site.mpi.profiler import library

MOST_NS = {"Iprobe": 30.0, "Sendrecv to itself": 60.0}
HERE = Path(__file__).resolve().parent
NOTES = """\
added    what a call takes more through the profiler than by its PMPI name, blocks of 1000 calls in
         turn within one job: the median over pairs of blocks, and the least of all blocks of each.
         Stacks of 8 frames, tables of peers, sizes and times: all that is on by default.\
"""

HEADER = "{:<9} {:<16} {:>5}  {:<19} {:>9} {:>9} {:>9}"
ROW = "{:<9} {:<16} {:>5}  {:<19} {:>9.1f} {:>9.1f} {:>9.1f}"
Pairs = dict[str, list[tuple[float, float]]]


def build(folder: Path, mpi: Mpi) -> Path:
    program = folder / "profile_cost"
    words = [*compiler_words("this program"), "-std=c++20", "-O2"]
    words += ["-isystem", str(headers(mpi)), str(HERE / "profile_cost.cpp"), "-o", str(program)]
    words += [str(mpi.library), f"-Wl,-rpath,{mpi.library.parent}"]
    subprocess.run(words, check=True)
    return program


def run(mpi: Mpi, ranks: int, program: Path, blocks: int, env: Mapping[str, str]) -> Pairs:
    started = command(Job(mpi, ranks, (str(program), str(blocks)), env=env, oversubscribe=True))
    everything = {**os.environ, **started.env}
    done = subprocess.run(
        started.words, env=everything, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise UserError(f"{mpi.label} with {ranks} ranks: {done.stderr.strip()[-300:]}")
    return read(done.stdout)


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


def rows(tool: str, mpi: Mpi, ranks: int, found: Pairs) -> list[str]:
    return [
        ROW.format(tool, mpi.label, ranks, loop, min(p[1] for p in pairs), *added(pairs))
        for loop, pairs in found.items()
    ]


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
    worst: dict[str, float] = defaultdict(float)
    try:
        print(f"# {common.machine()}\n")
        print(HEADER.format("", "MPI", "ranks", "call", "alone ns", "added", "least"))
        for name in options.mpi or ["mpich"]:
            mpi = find(name)
            with tempfile.TemporaryDirectory() as folder:
                program = build(Path(folder), mpi)
                ours = {"LD_PRELOAD": str(library()), "MPIGAUGE_PROFILE": folder}
                for ranks in (1, 2):
                    found = run(mpi, ranks, program, blocks, ours)
                    print(*rows("mpigauge", mpi, ranks, found), sep="\n")
                    for loop, pairs in found.items():
                        worst[loop] = max(worst[loop], added(pairs)[1])
                    if options.mpip:
                        other = run(mpi, ranks, program, blocks, {"LD_PRELOAD": options.mpip})
                        print(*rows("mpiP", mpi, ranks, other), sep="\n")
    except UserError as error:
        print(f"profile_cost: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    for loop, most in MOST_NS.items():
        print(f"{loop}: at most {worst[loop]:.1f} ns, by the least; the limit is {most:.0f} ns")
    return 0 if all(worst[loop] <= most for loop, most in MOST_NS.items()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
