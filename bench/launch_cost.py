#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How long does one launch take, and for what, beside an empty job of the same MPI?

Each round runs three commands in a random order: `mpigauge run PingPong` (24 sizes, 2 ranks) with 1
launch and with 7, and an empty job, which only starts and ends MPI, by the same launcher. A launch
is one of those of the 7 that sample no noise, which are the five in the middle, or fewer:

empty job   the launcher, MPI_Init and MPI_Finalize
measuring   from the first measurement to the last, as the kernels report it
kernels     the rest of the job: the kernels' own start and records, and the work of mpigauge on the
            launch before, which shares the cores with it
between     from the end of a launcher to the start of the next: a sixth of what 7 launches take
            outside of launchers more than one
noise       the noise samples of the last launch: what it takes beside measuring more than these

Exit status: 0 a launch takes at most 60 ms beside the empty job and measuring, and 10 ms between
launches, on all MPIs; 1 it takes more; 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import common

from mpigauge.model.errors import UserError
from mpigauge.model.record import Noise
from mpigauge.runs.store import load
from mpigauge.site.launch import Job, command
from mpigauge.site.mpi import find
from mpigauge.site.mpi.quick_start import is_slow_version, quick_start

PROMISE = (
    "60 ms beside the empty job and measuring, without noise samples, and 10 ms between two "
    "launches, on each MPI"
)
MPIS = ("mpich", "openmpi", "intel")
MANY = 7
LEAST_ROUNDS = 2
MOST_BESIDE_S, MOST_BETWEEN_S = 0.060, 0.010
COLUMNS = ("a launch", "empty job", "measuring", "kernels", "between", "noise")
Costs = dict[str, list[float]]
"""Seconds of one launch, by column, of each round."""


@dataclass(frozen=True)
class Timed:
    """The seconds of a run: outside of its launches, and of each launch beside and in measuring."""

    outside_s: float
    beside_s: Sequence[float]
    measuring_s: Sequence[float]
    plain: Sequence[int]
    """The launches without noise samples."""


class Bench:
    """The commands of one MPI."""

    def __init__(self, name: str, folder: Path) -> None:
        self.mpi, self.folder = find(name), folder
        program = common.mpi_program("plain_pingpong", self.mpi, folder)
        is_slow = is_slow_version(self.mpi.name, self.mpi.version)
        settings = quick_start(self.mpi, {}, os.environ) if is_slow else {}
        self.empty = command(Job(self.mpi, 2, (str(program), "empty"), env=settings))

    def round(self, number: int) -> dict[str, float]:
        """The seconds of one launch, by column."""
        runs: dict[int, Timed] = {}
        empty_s = 0.0
        for launches in random.sample((0, 1, MANY), 3):
            if launches:
                runs[launches] = self.run(launches, self.folder / f"{number}-{launches}")
            else:
                empty_s = common.launch(self.empty).wall_s
        many = runs[MANY]
        between = (many.outside_s - runs[1].outside_s) / (MANY - 1)
        if not many.plain:
            raise UserError("all launches sampled noise: the machine changes from each to the next")
        measuring = fmean(many.measuring_s[launch] for launch in many.plain)
        beside = fmean(many.beside_s[launch] for launch in many.plain)
        parts = (
            beside + measuring + between,
            empty_s,
            measuring,
            beside - empty_s,
            between,
            many.beside_s[-1] - beside,
        )
        return dict(zip(COLUMNS, parts, strict=True))

    def run(self, launches: int, folder: Path) -> Timed:
        """The seconds of a run with so many launches."""
        ours = common.MPIGAUGE
        words = [ours, "run", "PingPong", "--mpi", self.mpi.name, "--launches", str(launches)]
        env = {**os.environ, "MPIGAUGE_HISTORY": "off"}
        start = time.perf_counter()
        subprocess.run([*words, "--output", str(folder)], env=env, check=True, capture_output=True)
        took = time.perf_counter() - start
        stored = load(folder)
        noisy = {each.launch for each in stored.of(Noise)}
        outcomes: Sequence[Mapping[str, float]] = stored.status["launches"]
        walls, measuring = ([each[name] for each in outcomes] for name in
                            ("wall_s", "measuring_s"))  # fmt: skip
        beside = [wall - own for wall, own in zip(walls, measuring, strict=True)]
        plain = [launch for launch in range(launches) if launch not in noisy]
        return Timed(took - sum(walls), beside, measuring, plain)


def measured(names: Sequence[str], rounds: int) -> dict[str, Costs]:
    costs: dict[str, Costs] = {name: defaultdict(list) for name in names}
    with tempfile.TemporaryDirectory() as root:
        benches = {}
        for name in names:
            folder = Path(root, name)
            folder.mkdir()
            benches[name] = Bench(name, folder)
            benches[name].run(1, folder / "first")
        for number in range(rounds):
            for name in random.sample(names, len(names)):
                common.say_progress(f"round {number + 1} of {rounds}: {name}")
                for column, seconds in benches[name].round(number).items():
                    costs[name][column].append(seconds)
    common.end_progress()
    return costs


def table(costs: Mapping[str, Costs]) -> str:
    """Milliseconds: the median over rounds, and the quartiles."""
    lines = [f"{'ms':<10}" + "".join(f"{column:>20}" for column in COLUMNS)]
    for name, of in costs.items():
        cells = []
        for column in COLUMNS:
            low, middle, high = (1e3 * seconds for seconds in common.quartiles(of[column]))
            cells.append(f"{middle:.0f} ({low:.0f} to {high:.0f})")
        lines.append(f"{name:<10}" + "".join(f"{cell:>20}" for cell in cells))
    return "\n".join(lines)


def verdicts(costs: Mapping[str, Costs]) -> list[tuple[str, bool]]:
    """The times beside the job and between launches of each MPI, and whether both are within."""
    figures = []
    for name, of in costs.items():
        beside = median(map(sum, zip(of["kernels"], of["between"], strict=True)))
        between = median(of["between"])
        is_met = beside <= MOST_BESIDE_S and between <= MOST_BETWEEN_S
        figures.append((f"{name} {1e3 * beside:.0f} and {1e3 * between:.0f} ms", is_met))
    return figures


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mpi", action="append", choices=MPIS, help="only this one")
    parser.add_argument("--rounds", type=int, default=15, help="two or more (15)")
    parser.add_argument("--quick", action="store_true", help="2 rounds, to see whether it works")
    given = parser.parse_args(words)
    if given.rounds < LEAST_ROUNDS:
        parser.error("--rounds: quartiles need two rounds")
    print(f"# {common.machine()}\n")
    try:
        costs = measured(given.mpi or MPIS, LEAST_ROUNDS if given.quick else given.rounds)
    except (UserError, subprocess.CalledProcessError) as error:
        print(f"launch_cost: {error}", file=sys.stderr)
        return 2
    results = verdicts(costs)
    print(table(costs))
    figures = ", ".join(words for words, _ in results)
    return common.conclude(all(is_met for _, is_met in results), figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
