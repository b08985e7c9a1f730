# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Do the kernels of a wheel measure the times of those that are built here?

    python bench/shipped_kernels.py build/shipped/x86_64/_shipped --mpi mpich --rounds 12

Runs with either kernels take turns, in an order that is drawn anew for each round, of
point-to-point and collective benchmarks at several sizes, each of several launches. The ratios,
shipped by built, of each cell and, as geometric means, of each family have intervals of 95 % over
rounds. The mean of collectives leaves out those of 0 bytes, which come back at once and send
nothing.

Exit status: 0 the promise is kept, 1 it is not or that is undecided, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory

import common

from mpigauge.result.stats.student import quantile
from mpigauge.runs.store import Run, load
from mpigauge.site.builds.kernel_places import BUILT, VARIABLE, name_of
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import sources_digest

PROMISE = "no cell outside 0.95 to 1.05 with its whole interval; the mean of each family within 2 %"
FAMILIES = {
    "point-to-point": ("PingPong", "Sendrecv", "Exchange"),
    "collective": ("Allreduce", "Bcast", "Alltoall", "Barrier"),
}
SIZES = "0,8,512,64Ki,1Mi"
LAUNCHES = 6
"""The launches of each run: times differ more between launches than within one."""
CELL, MEAN = 0.05, 0.02
Ratios = dict[tuple[str, int], list[float]]
"""Logarithms, one a round, or of times one a launch."""


@dataclass(frozen=True)
class Kernels:
    name: str
    place: str
    """The value of the variable that chooses the kernels."""
    built_here: bool = False

    def run(self, mpi: str, folder: Path) -> Run:
        """SystemExit: kernels of the other side ran."""
        names = [name for family in FAMILIES.values() for name in family]
        words = [common.MPIGAUGE, "run", *names, "--mpi", mpi, "--np", "2", "--sizes", SIZES]
        words += ["--launches", str(LAUNCHES), "--in", "8s", "--output", str(folder)]
        env = {**os.environ, "MPIGAUGE_HISTORY": "off", VARIABLE: self.place}
        subprocess.run(words, env=env, check=True, capture_output=True)
        run = load(folder)
        origin = run.passport["kernels"]["origin"]
        if self.built_here != (origin == "built here"):
            raise SystemExit(f"the {self.name} kernels were to run, but those {origin} did")
        return run


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("shipped", type=Path, help="what tools/shipped.py has filled")
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--quick", action="store_true", help="two rounds, to see whether it works")
    given = parser.parse_args(arguments)
    if not (given.shipped / "kernels").is_dir():
        print(f"{given.shipped} has no kernels; `make wheel` fills such a folder", file=sys.stderr)
        return 2
    rounds = 2 if given.quick else given.rounds
    print(f"{common.machine()}; {rounds} rounds of {given.mpi}")
    with TemporaryDirectory() as folder:
        site = as_site(given.shipped, given.mpi, Path(folder))
        sides = Kernels("shipped", str(site)), Kernels("built", BUILT, built_here=True)
        ratios = measure_in_turn(sides, given.mpi, rounds)
    return report(ratios)


def as_site(shipped: Path, spec: str, folder: Path) -> Path:
    """Lays out the kernels of the wheel as those of a site, which a clone also uses."""
    mpi = find(spec)
    site = folder / "site"
    site.mkdir()
    kernels = (shipped / "kernels" / mpi.abi).absolute()
    (site / name_of(mpi.abi, sources_digest())).symlink_to(kernels)
    return site


def times_of(run: Run) -> dict[tuple[str, int], float]:
    """The geometric mean over launches of each benchmark and size."""
    logarithms: Ratios = defaultdict(list)
    for cell in run.cells:
        logarithms[cell.benchmark, cell.message_bytes].append(log(cell.time_p50_s))
    return {cell: exp(fmean(values)) for cell, values in logarithms.items()}


def measure_in_turn(sides: tuple[Kernels, Kernels], mpi: str, rounds: int) -> Ratios:
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


def report(ratios: Ratios) -> int:
    """Prints all ratios, and returns the exit status."""
    wrong_cells = list(_print_cells(ratios))
    means = {family: interval(per_round(family, ratios)) for family in FAMILIES}
    figures = [f"{name} {m:.3f}, {low:.3f} to {high:.3f}" for name, (m, low, high) in means.items()]
    figures += [f"{len(wrong_cells)} cells outside"] if wrong_cells else []
    is_known = all(low >= 1 - MEAN and high <= 1 + MEAN for _, low, high in means.values())
    is_wrong = any(low > 1 + MEAN or high < 1 - MEAN for _, low, high in means.values())
    is_kept = False if wrong_cells or is_wrong else True if is_known else None
    return common.conclude(is_kept, "; ".join(figures))


def per_round(family: str, ratios: Ratios) -> list[float]:
    """The mean of the logarithms of a family's cells in each round."""
    cells = [
        values
        for (name, size), values in ratios.items()
        if name in FAMILIES[family] and (size or family != "collective")
    ]
    return [fmean(values) for values in zip(*cells, strict=True)]


def _print_cells(ratios: Ratios) -> Iterator[tuple[str, int]]:
    """Prints the ratio of each cell, and yields the cells that are outside."""
    for (name, size), values in sorted(ratios.items()):
        mean, low, high = interval(values)
        wrong = low > 1 + CELL or high < 1 - CELL
        print(f"  {name:<12} {size:>8} B  {mean:.3f}  {low:.3f} to {high:.3f}{'  !' * wrong}")
        if wrong:
            yield name, size


def interval(logarithms: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean and its interval of 95 %."""
    mean, many = fmean(logarithms), len(logarithms)
    half = quantile(0.05, many - 1) * stdev(logarithms) / sqrt(many)
    return exp(mean), exp(mean - half), exp(mean + half)


if __name__ == "__main__":
    sys.exit(main())
