#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Do collectives that start by the clock take as long as in a loop over windows written by hand?

The loop (bench/window_by_hand.cpp) and our kernels run in turn, a launch each, on the same cores of
this machine; compared are the medians over launches.
Exit status: 0 within 5 % in every row, 1 further apart, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError
from mpigauge.model.record import CellRecord, parse
from mpigauge.site.launch import Job, command
from mpigauge.site.mpi import find, kernels
from mpigauge.site.mpi.build import headers

MOST = 0.05
BENCHMARKS = ("Bcast", "Reduce", "Allreduce", "Alltoall")
SIZES = (8, 64, 512, 4096, 32768, 262144)
MPIS = ("mpich", "openmpi", "intel")
SOURCE = Path(__file__).with_name("window_by_hand.cpp")
NOTES = """\
µs from the opening of a window to the end of the last rank, medians over launches; by hand: a loop
of its own; ours: --sync auto; barrier: ours with --sync barrier, the slowest rank's own time."""

Rows = Mapping[common.Cell, float]


def by_hand(here: common.Site, program: Path, rounds: int, protect: bool) -> Rows:
    words = (str(program), str(rounds), ",".join(map(str, SIZES)), here.cores)
    out = common.launch(command(Job(here.mpi, here.ranks, words)), protect)
    found = (line.text.split() for line in out.lines)
    return {(words[0], int(words[1])): float(words[2]) for words in found if len(words) == 3}


def ours(here: common.Site, sync: str, seed: int, protect: bool) -> Rows:
    words = ("--benchmarks", ",".join(BENCHMARKS), "--ranks", str(here.ranks), "--sync", sync)
    sizes = ("--sizes", ",".join(map(str, SIZES)), "--seed", str(seed), "--records", "-")
    lines = common.launch(common.ours(here, *words, *sizes), protect).lines
    cells = [r.cell for line in lines if isinstance(r := parse(line.text), CellRecord)]
    other = {cell.sync for cell in cells} - {"clock" if sync == "auto" else sync}
    if other:
        raise UserError(f"the ranks share no clock here: they started by {', '.join(other)}")
    return common.our_rows(lines)


def compiled(here: common.Site, folder: Path) -> Path:
    """The loop, linked to the library of this MPI."""
    program = folder / here.mpi.name
    library = here.mpi.library
    words = ["g++", "-O2", "-std=c++20", "-I", str(headers(here.mpi)), str(SOURCE), str(library)]
    done = subprocess.run(
        [*words, f"-Wl,-rpath,{library.parent}", "-o", str(program)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise UserError(f"the loop by hand does not compile:\n{done.stderr}")
    return program


def measured(here: common.Site, launches: int, rounds: int, protect: bool) -> list[Sequence[Rows]]:
    """For each launch the rows by hand, ours, and ours after a barrier."""
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(here, Path(folder))
        found: list[Sequence[Rows]] = []
        for seed in range(1, launches + 1):
            common.say_progress(f"{here.mpi.label}: {seed} of {launches}")
            found.append(
                (
                    by_hand(here, program, rounds, protect),
                    ours(here, "auto", seed, protect),
                    ours(here, "barrier", seed, protect),
                )
            )
        common.end_progress()
    return found


def lines(found: Sequence[Sequence[Rows]]) -> Iterator[tuple[common.Cell, list[float]]]:
    for name in BENCHMARKS:
        for size in SIZES:
            cell = (name, size)
            if all(cell in rows for launch in found for rows in launch):
                yield cell, [median(launch[i][cell] for launch in found) for i in range(3)]


def table(found: Sequence[Sequence[Rows]]) -> tuple[str, float]:
    """The text, and by how much the worst row is off."""
    text = [f"{'':22}{'by hand':>10}{'ours':>10}{'':>9}{'barrier':>10}"]
    worst = 0.0
    for (name, size), (hand, our, barrier) in lines(found):
        off = our / hand - 1
        worst = max(worst, abs(off))
        mark = "" if abs(off) <= MOST else "  <--"
        text.append(
            f"{name:12}{size:>8} B{hand:>10.3f}{our:>10.3f}{off:>+8.1%} {barrier:>10.3f}{mark}"
        )
    return "\n".join(text), worst


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mpi", nargs="+", default=list(MPIS), help=f"({' '.join(MPIS)})")
    parser.add_argument("--launches", type=int, default=9, help="of each (9)")
    parser.add_argument("--rounds", type=int, default=60, help="of the loop by hand (60)")
    parser.add_argument("--quick", action="store_true", help="1 launch of MPICH: does it work?")
    common.add_options(parser)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    names = ["mpich"] if options.quick else options.mpi
    launches = 1 if options.quick else options.launches
    rounds = 10 if options.quick else options.rounds
    print(f"# {common.machine()}, {launches} launches of each\n\n{NOTES}")
    worst = 0.0
    try:
        with common.protection(options.protect):
            for mpi in map(find, names):
                here = common.Site(mpi, kernels(mpi), options.cores, {})
                text, off = table(measured(here, launches, rounds, options.protect))
                print(f"\n{mpi.label}\n{text}")
                worst = max(worst, off)
    except UserError as error:
        print(f"window_sync: {error}", file=sys.stderr)
        return 2
    print(f"\nat most {worst:.1%} apart; the limit is {MOST:.0%}")
    return 0 if worst <= MOST or options.quick else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
