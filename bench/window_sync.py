#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Do collectives that start by the clock take as long as in a loop over windows written by hand?

Both (window_sync.cpp, window_by_hand.cpp) run in turn within one job, visit by visit on the same
memory, and the visits of a round are compared: launches of one program differ by a third here.
Exit status: 0 within 5 % in every row, 1 further apart, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.result.stats.order import fixed_order, median_interval
from mpigauge.site.launch import Job, command
from mpigauge.site.mpi import find

MOST = 0.05
BENCHMARKS = ("bcast", "reduce", "allreduce", "alltoall")
SIZES = (8, 64, 512, 4096, 32768, 262144)
MPIS = ("mpich", "openmpi", "intel")
HERE = Path(__file__).resolve().parent
NOTES = """\
µs from the opening of a window to the end of the last rank, medians over visits; ratio: the median
over rounds of ours through by hand, and its 95 % interval."""


@dataclass(frozen=True)
class Visits:
    """Two visits of one round, in microseconds."""

    ours: float
    by_hand: float

    @property
    def ratio(self) -> float:
        return self.ours / self.by_hand


Rows = dict[common.Cell, list[Visits]]


def compiled(folder: Path, mpi: Mpi) -> Path:
    """The program, linked to the library of this MPI."""
    suites = common.KERNELS / "suites" / "collectives"
    sources = [HERE / "window_sync.cpp", HERE / "window_by_hand.cpp"]
    sources += [suites / f"{name}.cpp" for name in BENCHMARKS]
    link = (str(mpi.library), f"-Wl,-rpath,{mpi.library.parent}")
    return common.built(folder / "window_sync", mpi, sources, link)


def measured(mpi: Mpi, options: argparse.Namespace) -> Rows:
    rows: Rows = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        sizes = ",".join(map(str, SIZES))
        words = (str(compiled(Path(folder), mpi)), str(options.rounds), sizes, options.cores)
        job = Job(mpi, options.cores.count(",") + 1, words)
        for launch in range(1, options.launches + 1):
            common.say_progress(f"{mpi.label}: {launch} of {options.launches}")
            for line in common.launch(command(job), options.protect).lines:
                _, name, size, ours, by_hand = line.text.split()
                rows[name, int(size)].append(Visits(float(ours), float(by_hand)))
    common.end_progress()
    return rows


def line(cell: common.Cell, visits: Sequence[Visits]) -> str:
    name, size = cell
    ratios = [visit.ratio for visit in visits]
    ratio = median(ratios)
    low, high = median_interval(sorted(ratios), fixed_order(len(ratios)))
    ours = median(visit.ours for visit in visits)
    by_hand = median(visit.by_hand for visit in visits)
    mark = "" if abs(ratio - 1) <= MOST else "  <--"
    times = f"{by_hand:>10.3f}{ours:>10.3f}"
    return f"{name:12}{size:>8} B{times}{ratio:>9.3f} [{low:.3f}, {high:.3f}]{mark}"


def table(rows: Rows) -> str:
    head = f"{'':22}{'by hand':>10}{'ours':>10}{'ratio':>9}"
    return "\n".join([head, *(line(cell, visits) for cell, visits in rows.items())])


def furthest(rows: Rows) -> float:
    """Returns the largest distance of a median ratio from 1."""
    return max(abs(median(v.ratio for v in visits) - 1) for visits in rows.values())


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mpi", nargs="+", default=list(MPIS), help=f"({' '.join(MPIS)})")
    parser.add_argument("--launches", type=int, default=5, help="(5)")
    parser.add_argument("--rounds", type=int, default=60, help="in each launch (60)")
    parser.add_argument("--quick", action="store_true", help="1 launch of MPICH: does it work?")
    common.add_options(parser)
    options = parser.parse_args(words)
    if options.quick:
        options.mpi, options.launches, options.rounds = ["mpich"], 1, 10
    return options


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    print(f"# {common.machine()}, {options.launches} launches of each\n\n{NOTES}")
    worst = 0.0
    try:
        with common.protection(options.protect):
            for mpi in map(find, options.mpi):
                rows = measured(mpi, options)
                print(f"\n{mpi.label}\n{table(rows)}", flush=True)
                worst = max(worst, furthest(rows))
    except UserError as error:
        print(f"window_sync: {error}", file=sys.stderr)
        return 2
    print(f"\nat most {worst:.1%} apart; the limit is {MOST:.0%}")
    return 0 if worst <= MOST or options.quick else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
