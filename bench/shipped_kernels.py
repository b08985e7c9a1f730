# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Whether the kernels of a wheel measure the same times as those that are built here.

    python bench/shipped_kernels.py build/shipped/x86_64/_shipped --mpi mpich --rounds 12

Runs of both take turns, in an order that is drawn anew for each round, of point-to-point and
collective benchmarks at several sizes, each of several launches. What is printed are the ratios,
shipped by built, of each cell and, as geometric means, of each family, with intervals of 95 % over
rounds. Exit status 1 where a cell's interval lies outside 0.95 to 1.05 as a whole, or a mean's is
not within 2 %. The mean of collectives leaves out those of 0 bytes, which come back at once and
send nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import exp, log, sqrt
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory

import common

from mpigauge.result.stats.student import quantile
from mpigauge.runs.store import load
from mpigauge.site.mpi import find
from mpigauge.site.mpi.build import sources_digest
from mpigauge.site.mpi.kernel_places import BUILT, VARIABLE, name_of

FAMILIES = {
    "point-to-point": ("PingPong", "Sendrecv", "Exchange"),
    "collective": ("Allreduce", "Bcast", "Alltoall", "Barrier"),
}
SIZES = "0,8,512,64Ki,1Mi"
LAUNCHES = 6
"""Of each run: times differ from launch to launch by more than within one."""
CELL, MEAN = 0.05, 0.02
Cells = dict[tuple[str, int], float]
Ratios = dict[tuple[str, int], list[float]]
"""Logarithms, one a round, or of times one a launch."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("shipped", type=Path, help="what tools/shipped.py has filled")
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--quick", action="store_true", help="two rounds, to see whether it works")
    given = parser.parse_args(arguments)
    if not (given.shipped / "kernels").is_dir():
        print(f"{given.shipped} has no kernels; `make wheel` fills such a folder", file=sys.stderr)
        return 2
    given.rounds = 2 if given.quick else given.rounds
    print(f"{common.machine()}; {given.rounds} rounds of {given.mpi}")
    with TemporaryDirectory() as folder:
        ratios = measured(given.shipped, given.mpi, given.rounds, Path(folder))
    wrong = [name for name in FAMILIES if report(name, ratios)]
    return 1 if wrong else 0


def measured(
    shipped: Path, mpi: str, rounds: int, folder: Path
) -> dict[tuple[str, int], list[float]]:
    sides = {"shipped": str(as_site(shipped, mpi, folder)), "built": BUILT}
    ratios: Ratios = defaultdict(list)
    for number in range(rounds):
        order = random.sample(sorted(sides), len(sides))
        times = {each: one_run(sides[each], mpi, folder / f"{number}-{each}") for each in order}
        for cell, time in times["shipped"].items():
            ratios[cell].append(log(time / times["built"][cell]))
    return ratios


def as_site(shipped: Path, spec: str, folder: Path) -> Path:
    """The kernels of the wheel as those of a site, which a clone takes, too."""
    mpi = find(spec)
    site = folder / "site"
    site.mkdir()
    kernels = (shipped / "kernels" / mpi.abi).absolute()
    (site / name_of(mpi.abi, sources_digest())).symlink_to(kernels)
    return site


def one_run(kernels: str, mpi: str, folder: Path) -> Cells:
    names = [name for family in FAMILIES.values() for name in family]
    words = [sys.executable, "-c", "from mpigauge.cli import main; main()", "run", *names]
    words += ["--mpi", mpi, "--np", "2", "--sizes", SIZES]
    words += ["--launches", str(LAUNCHES), "--in", "8s"]
    env = {**os.environ, VARIABLE: kernels, "MPIGAUGE_HISTORY": "off"}
    subprocess.run([*words, "--output", str(folder)], env=env, check=True, capture_output=True)
    stored = load(folder)
    origin = stored.passport["kernels"]["origin"]
    if (kernels == BUILT) != (origin == "built here"):
        raise SystemExit(f"the kernels that ran are not those that were asked for, but {origin}")
    times: Ratios = defaultdict(list)
    for cell in stored.cells:
        times[cell.benchmark, cell.message_bytes].append(log(cell.time_p50_s))
    return {cell: exp(fmean(found)) for cell, found in times.items()}


def report(family: str, ratios: Ratios) -> bool:
    """Prints a family, and says whether it is not as it should be."""
    chosen = {cell: found for cell, found in ratios.items() if cell[0] in FAMILIES[family]}
    failed = [*outside(chosen)]
    sending = [found for cell, found in chosen.items() if family != "collective" or cell[1] != 0]
    per_round = [fmean(values) for values in zip(*sending, strict=True)]
    mean, low, high = interval(per_round)
    print(f"{family}: {mean:.4f}, {low:.4f} to {high:.4f}, of {len(sending)} cells")
    return bool(failed) or low < 1 - MEAN or high > 1 + MEAN


def outside(ratios: Ratios) -> Iterator[tuple[str, int]]:
    for (name, size), found in sorted(ratios.items()):
        mean, low, high = interval(found)
        wrong = low > 1 + CELL or high < 1 - CELL
        print(f"  {name:<12} {size:>8} B  {mean:.3f}  {low:.3f} to {high:.3f}{'  !' * wrong}")
        if wrong:
            yield name, size


def interval(logarithms: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean, and where it lies with 95 %."""
    mean, many = fmean(logarithms), len(logarithms)
    half = quantile(0.05, many - 1) * stdev(logarithms) / sqrt(many)
    return exp(mean), exp(mean - half), exp(mean + half)


if __name__ == "__main__":
    sys.exit(main())
