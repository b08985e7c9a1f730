# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two ways to run the same benchmarks: measured in turn, compared cell by cell.

Runs of both sides take turns, in an order that is drawn anew for each round, of point-to-point and
collective benchmarks at several sizes, each of several launches. The ratios of each cell and, as
geometric means, of each family have intervals of 95 % over rounds.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log, sqrt
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory

from mpigauge.result.stats.student import quantile
from mpigauge.runs.store import Run, load

FAMILIES = {
    "point-to-point": ("PingPong", "Sendrecv", "Exchange"),
    "collective": ("Allreduce", "Bcast", "Alltoall", "Barrier"),
}
SIZES = "0,8,512,64Ki,1Mi"
LAUNCHES = 6
"""The launches of each run: times differ more between launches than within one."""
CELL, MEAN = 0.05, 0.02
MAIN = "from mpigauge.cli import main; main()"
Ratios = dict[tuple[str, int], list[float]]
"""Logarithms, one a round, or of times one a launch."""


@dataclass(frozen=True)
class Side:
    name: str
    words: Sequence[str] = ()
    """Options of `mpigauge run`."""
    env: Mapping[str, str] = field(default_factory=dict)
    prelude: str = ""
    """Python to run first in the process of mpigauge."""

    def run(self, mpi: str, folder: Path) -> Run:
        names = [name for family in FAMILIES.values() for name in family]
        words = [sys.executable, "-c", f"{self.prelude}\n{MAIN}", "run", *names, "--mpi", mpi]
        words += ["--np", "2", "--sizes", SIZES, "--launches", str(LAUNCHES), "--in", "8s"]
        env = {**os.environ, "MPIGAUGE_HISTORY": "off", **self.env}
        whole = [*words, *self.words, "--output", str(folder)]
        subprocess.run(whole, env=env, check=True, capture_output=True)
        return load(folder)


def times_of(run: Run) -> dict[tuple[str, int], float]:
    """The geometric mean over launches of each benchmark and size."""
    logarithms: Ratios = defaultdict(list)
    for cell in run.cells:
        logarithms[cell.benchmark, cell.message_bytes].append(log(cell.time_p50_s))
    return {cell: exp(fmean(values)) for cell, values in logarithms.items()}


def measure_in_turn(sides: tuple[Side, Side], mpi: str, rounds: int) -> Ratios:
    """Returns the first side's times divided by the second's."""
    first, second = sides
    ratios: Ratios = defaultdict(list)
    with TemporaryDirectory() as folder:
        for number in range(rounds):
            times = {}
            for side in random.sample(sides, 2):
                run = side.run(mpi, Path(folder) / f"{number}-{side.name}")
                times[side.name] = times_of(run)
            for cell, time in times[first.name].items():
                ratios[cell].append(log(time / times[second.name][cell]))
    return ratios


def are_equal(ratios: Ratios) -> bool:
    """Prints all ratios, and returns whether the two sides measure the same.

    No cell's interval may lie outside 0.95 to 1.05 as a whole, and the interval of each family's
    mean has to lie within 2 %. The mean of collectives leaves out those of 0 bytes, which come back
    at once and send nothing.
    """
    unequal = [family for family in FAMILIES if not _is_equal(family, ratios)]
    return not unequal


def _is_equal(family: str, ratios: Ratios) -> bool:
    chosen = {cell: values for cell, values in ratios.items() if cell[0] in FAMILIES[family]}
    wrong_cells = [*_outside(chosen)]
    sending = [values for cell, values in chosen.items() if family != "collective" or cell[1] != 0]
    per_round = [fmean(values) for values in zip(*sending, strict=True)]
    mean, low, high = _interval(per_round)
    print(f"{family}: {mean:.4f}, {low:.4f} to {high:.4f}, of {len(sending)} cells")
    return not wrong_cells and 1 - MEAN <= low <= high <= 1 + MEAN


def _outside(ratios: Ratios) -> Iterator[tuple[str, int]]:
    for (name, size), values in sorted(ratios.items()):
        mean, low, high = _interval(values)
        wrong = low > 1 + CELL or high < 1 - CELL
        print(f"  {name:<12} {size:>8} B  {mean:.3f}  {low:.3f} to {high:.3f}{'  !' * wrong}")
        if wrong:
            yield name, size


def _interval(logarithms: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean and its interval of 95 %."""
    mean, many = fmean(logarithms), len(logarithms)
    half = quantile(0.05, many - 1) * stdev(logarithms) / sqrt(many)
    return exp(mean), exp(mean - half), exp(mean + half)
