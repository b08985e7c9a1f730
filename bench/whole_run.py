#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does a whole default IMB-MPI1 on 2 ranks take longer with us than with IMB?

The real program and ours of the same name, in IMB's schedule and with -adaptive (±5 %), run in turn
on Intel MPI, from the start of mpirun to its end. Rows that only one of them has are named.

Exit status: 0 neither of ours takes longer than IMB by the median of the ratios within a round,
1 one does, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from statistics import median

import common
from common import Cell, Site

from mpigauge.model.errors import UserError
from mpigauge.products.imb import install as imb
from mpigauge.site.launch import Command

PROMISE = "no longer, by the median of the ratios"
LEAST_ROUNDS = 3
SLACK = 1.02
"""The least ratio that is a difference: launches of one program differ by less."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    common.add_options(parser)
    parser.add_argument("--rounds", type=int, default=10, help="launches of each (10)")
    parser.add_argument("--quick", action="store_true", help="1 round: does it work at all?")
    given = parser.parse_args()
    if given.rounds < LEAST_ROUNDS:
        parser.error(f"--rounds: {given.rounds} are too few, {LEAST_ROUNDS} is the least")
    given.rounds = 1 if given.quick else given.rounds
    try:
        here = common.site(given.cores, {})
        with tempfile.TemporaryDirectory() as folder:
            imb.install(Path(folder) / "imb", ("intel",), False, common.say_progress)
            walls, rows = measure(here, Path(folder) / "imb" / "IMB-MPI1", given)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return report(walls, rows)


def tools(here: Site, program: Path) -> dict[str, Command]:
    env = {**here.mpi.env, **here.settings, "I_MPI_PIN_PROCESSOR_LIST": here.cores}
    start = (str(here.mpi.mpiexec), "-n", str(here.ranks))
    return {
        "IMB": common.imb(here),
        "ours, classic": Command((*start, str(program)), env),
        "ours, -adaptive": Command((*start, str(program), "-adaptive"), env),
    }


def measure(
    here: Site, program: Path, given: argparse.Namespace
) -> tuple[dict[str, list[float]], dict[str, set[Cell]]]:
    """Seconds of each launch of each tool, round by round, and the rows of its last one."""
    commands = tools(here, program)
    walls: dict[str, list[float]] = {name: [] for name in commands}
    rows: dict[str, set[Cell]] = {}
    print(common.machine())
    for number in range(given.rounds):
        for name in random.sample(list(commands), len(commands)):
            common.say_progress(f"round {number + 1} of {given.rounds}: {name}")
            output = common.launch(commands[name], given.protect)
            walls[name].append(output.wall_s)
            rows[name] = set(common.imb_rows(output.lines))
    common.end_progress()
    return walls, rows


def report(walls: dict[str, list[float]], rows: dict[str, set[Cell]]) -> int:
    """Prints the table, and returns the exit status."""
    print(f"{'':<18}{'least s':>10}{'median s':>10}{'most s':>10}{'to IMB':>10}{'rows':>8}")
    all_ratios: dict[str, float] = {}
    for name, seconds in walls.items():
        ratio = median(a / b for a, b in zip(seconds, walls["IMB"], strict=True))
        all_ratios[name] = ratio
        print(
            f"{name:<18}{min(seconds):>10.2f}{median(seconds):>10.2f}{max(seconds):>10.2f}"
            f"{ratio:>10.2f}{len(rows[name]):>8}"
        )
    for name, cells in rows.items():
        if odd := sorted(cells ^ rows["IMB"]):
            print(f"{name}: rows that only one has: {odd}")
    figures = [f"{name} {ratio:.2f}" for name, ratio in all_ratios.items() if name != "IMB"]
    return common.conclude(max(all_ratios.values()) <= SLACK, "; ".join(figures))


if __name__ == "__main__":
    sys.exit(main())
