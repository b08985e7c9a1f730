#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How long does the smallest run take from the command to its numbers, beside IMB's?

`mpigauge run PingPong --sizes 8 --launches 1` and IMB-MPI1 with one size, in turn, the order turned
round each time: pairs, of which the median counts. Ours on MPICH and on Intel MPI; IMB on Intel
MPI, with which its binary comes. Variables of Python's that a user does not set are taken away, so
that modules are compiled once. The first runs, which compile them and ask the MPIs what they are,
are not counted.

Exit status: 0 ours takes less than 0.8 s on MPICH, 1 it does not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError

PROMISE = "less than 0.8 s on MPICH"
GOAL_S = 0.8
SIZE = 8
NOT_OURS = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
"""Variables that a user has not set."""
JUDGED = "mpigauge, MPICH"


@dataclass(frozen=True)
class Program:
    name: str
    words: Sequence[str]
    env: Mapping[str, str]
    folder: Path

    def took_s(self) -> float:
        """Returns the wall time of one run of the program, in seconds."""
        start = time.perf_counter()
        done = subprocess.run(
            self.words,
            env=dict(self.env),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        took = time.perf_counter() - start
        if done.returncode != 0:
            errors = done.stderr.decode(errors="replace").strip()
            raise UserError(f"this ended with status {done.returncode}: {self.words}\n{errors}")
        return took


def programs(folder: Path, cores: str) -> list[Program]:
    """Returns the programs: IMB, ours, and parts of ours."""
    plain = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    lengths = folder / "lengths"
    lengths.write_text(f"{SIZE}\n", encoding="utf-8")
    imb = common.imb(common.site(cores, {}), "PingPong", "-msglen", str(lengths))
    ours = common.MPIGAUGE
    run = (ours, "run", "PingPong", "--sizes", str(SIZE), "--launches", "1", "--bind", cores)
    return [
        Program("IMB, Intel MPI", imb.words, {**plain, **imb.env}, folder),
        Program(JUDGED, (*run, "--mpi", "mpich"), plain, folder),
        Program("mpigauge, Intel MPI", (*run, "--mpi", "intel"), plain, folder),
        Program("its plan alone (--dry-run)", (*run, "--mpi", "mpich", "--dry-run"), plain, folder),
        Program("mpigauge --help", (ours, "--help"), plain, folder),
        Program("Python alone", (sys.executable, "-c", "pass"), plain, folder),
    ]


def measured(all_of: Sequence[Program], rounds: int) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {each.name: [] for each in all_of}
    for each in all_of:
        each.took_s()
    for n in range(rounds):
        common.say_progress(f"round {n + 1} of {rounds}")
        for each in all_of if n % 2 == 0 else reversed(all_of):
            took[each.name].append(each.took_s())
    common.end_progress()
    return took


def table(took: dict[str, list[float]]) -> str:
    """Returns the table, with the ratio to IMB's run of the same round."""
    usual, *_ = took.values()
    lines = [f"{'':<28}{'least s':>9}{'median s':>10}{'most s':>9}{'to IMB':>9}"]
    for name, values in took.items():
        ratio = median(a / b for a, b in zip(values, usual, strict=True))
        ends = f"{min(values):>9.2f}{median(values):>10.2f}{max(values):>9.2f}"
        lines.append(f"{name:<28}{ends}{ratio:>9.2f}")
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="of all programs in turn (15)")
    parser.add_argument("--cores", default="0,1", help="of the two ranks (0,1)")
    parser.add_argument("--quick", action="store_true", help="2 rounds: does it work at all?")
    options = parser.parse_args(words)
    try:
        conditions = common.machine()
        with tempfile.TemporaryDirectory() as folder:
            commands = programs(Path(folder), options.cores)
            took = measured(commands, 2 if options.quick else options.rounds)
    except UserError as error:
        print(f"start_up: {error}", file=sys.stderr)
        return 2
    print(f"# {conditions}\n\n{table(took)}")
    imb, *_ = took
    ours = median(took[JUDGED])
    return common.conclude(ours < GOAL_S, f"{ours:.2f} s, IMB {median(took[imb]):.2f} s")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
