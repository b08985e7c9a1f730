#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Do ranks come to a benchmark (--arrival) as they came to the program that was profiled?

Ranks of tests/profiled/late.cpp come late to MPI_Allreduce as they are told, and a profile keeps
when they came. The benchmark has them come like that again (--arrival), itself under the profiler,
which so says again when they came. Where a rank is the last to come, it is as late in the median.

Exit status: 0 within 10 % in each row, 1 not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import common
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mpigauge.measuring.plan.arrivals import vectors
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.match.merge import merged
from mpigauge.runs.store.arrivals import ArrivalPattern
from mpigauge.site.mpi import find, kernels
from tests.profiled import build, profiled

CALL, BYTES = "MPI_Allreduce", 8
FEW = 0.1
"""The least share of calls in which a rank is last; ranks below it are not compared."""
PROMISE = "the last rank is as late as in the program within 10 %, in each row"
WITHIN = 0.1
NOTES = """\
planted   how late the rank came in the profile of the program, where it was the last: the median
again     the same in the profiles of the benchmark, all of them together, over that\
"""
HEADER = "{:<15} {:<12} {:>5}  {:>4} {:>12} {:>7}"
ROW = "{:<15} {:<12} {:>5}  {:>4} {:>9.1f} µs {:>7.3f}"


def pattern_of(mpi: Mpi, ranks: int, words: Sequence[str]) -> ArrivalPattern:
    """Profiles a program and returns the arrivals at its site of CALL with most lateness; calls
    that the benchmark does not time have a site of their own, to which no rank is late."""
    with tempfile.TemporaryDirectory() as folder:
        done = profiled(mpi, ranks, words, Path(folder) / "profile")
    if done.status != 0:
        raise UserError(f"{mpi.label}: {done.errors.strip()[-300:]}")
    arrivals = merged(done.files).arrivals
    sums = [each for each in arrivals if (each.call, each.message_bytes) == (CALL, BYTES)]
    if not sums:
        raise UserError(f"{mpi.label}: the profile has no arrival times at {CALL}")
    return max(sums, key=lambda each: each.calls * float(each.lateness_s.max(axis=1).mean()))


def lateness(patterns: Sequence[ArrivalPattern]) -> dict[int, float]:
    """Returns the median lateness in seconds, where it is the last, of each rank that often is."""
    all_calls = np.concatenate([each.lateness_s for each in patterns])
    last = all_calls.argmax(axis=1)
    return {
        rank: float(np.median(all_calls[last == rank, rank]))
        for rank in range(all_calls.shape[1])
        if (last == rank).mean() >= FEW
    }


def again(
    mpi: Mpi, ranks: int, pattern: ArrivalPattern, seconds: float, seed: int
) -> ArrivalPattern:
    made = kernels(mpi)
    words = [str(made.executable), "--libmpi", str(mpi.library), "--plugin", str(made.plugin)]
    words += ["--benchmarks", "Allreduce", "--datatype", "double", "--sizes", str(BYTES)]
    words += ["--ranks", str(ranks), "--seconds", str(seconds), "--use-all", "1"]
    words += ["--seed", str(seed)]
    words += ["--arrival", vectors("profile:planted", pattern)]
    return pattern_of(mpi, ranks, words)


def compared(planted: Mapping[int, float], measured: Mapping[int, float]) -> dict[int, float]:
    """The ratio by rank; NaN where it is not last any more."""
    return {rank: measured.get(rank, np.nan) / late for rank, late in planted.items()}


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", action="append", help="mpich, openmpi, intel; again for more")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--calls", type=int, default=2000, help="of the program (2000)")
    parser.add_argument("--rounds", type=int, default=16, help="of the benchmark (16)")
    parser.add_argument("--late", default="50,200,1000", help="microseconds (50,200,1000)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each of them (2)")
    parser.add_argument("--quick", action="store_true", help="one launch, two rows")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    whose = ("one", "turns") if options.quick else ("one", "turns", "exponential")
    rounds = range(1, 2 if options.quick else options.rounds + 1)
    late = ["200"] if options.quick else options.late.split(",")
    ratios: list[float] = []
    print(f"# {common.machine()}\n")
    print(HEADER.format("MPI", "late", "µs", "rank", "planted", "again"))
    try:
        for name in options.mpi or ["mpich"]:
            mpi = find(name)
            with tempfile.TemporaryDirectory() as folder:
                program = build(mpi, "late.cpp", Path(folder))
                cases = [(who, us) for us in late for who in whose]
                for who, us in cases:
                    asked = [str(program), who, str(options.calls), us, "allreduce"]
                    stored = pattern_of(mpi, options.ranks, asked)
                    measured = [
                        again(mpi, options.ranks, stored, options.seconds, seed) for seed in rounds
                    ]
                    planted = lateness([stored])
                    for rank, ratio in compared(planted, lateness(measured)).items():
                        row = ROW.format(mpi.label, who, us, rank, 1e6 * planted[rank], ratio)
                        print(row, flush=True)
                        ratios.append(ratio)
    except UserError as error:
        print(f"arrival_again: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    figures = f"{min(ratios):.3f} to {max(ratios):.3f} of the program's, {len(ratios)} rows"
    return common.conclude(all(abs(ratio - 1) <= WITHIN for ratio in ratios), figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
