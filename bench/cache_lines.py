#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does the time of a cache line between two cores come out the same again?

A run is as many launches as are asked for, and its value the median of theirs; runs take turns,
launch by launch, so that all of them see the machine in the same minutes.
Exit status: 0 runs within 2 ns for each way, 1 further apart, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from statistics import median

import common

from mpigauge.model.errors import UserError
from mpigauge.model.record import CellRecord, parse
from mpigauge.site.mpi import find, kernels

MOST_NS = 2.0
WAYS = ("Line", "Mailbox", "Payload")
NOTES = """\
ns one way, the median over lines of a launch, the median over launches of a run. Launches that ran
while the cores of the guest were elsewhere on their host (25 % off) are left out of all runs."""

Launch = Mapping[str, float]
"""Nanoseconds by way."""


def measure(here: common.Site, seed: int, protect: bool) -> Launch:
    words = ["--benchmarks", ",".join(f"NODE:{way}" for way in WAYS), "--ranks", "2"]
    job = common.ours(here, *words, "--seed", str(seed), "--records", "-")
    return read(common.launch(job, protect).lines)


def read(lines: Sequence[common.Line]) -> Launch:
    cells = [r.cell for line in lines if isinstance(r := parse(line.text), CellRecord)]
    return {cell.benchmark: cell.latency_s * 1e9 for cell in cells}


def values(launches: Sequence[Launch], runs: int) -> dict[str, list[float]]:
    """The value of each run, by way; launches 0, runs, 2 runs … are those of the first run."""
    usual = common.in_one_state([launch[WAYS[0]] for launch in launches])
    return {
        way: [
            median(launch[way] for launch, good in one if good)
            for i in range(runs)
            if (one := list(zip(launches, usual, strict=True))[i::runs]) and any(g for _, g in one)
        ]
        for way in WAYS
    }


def table(times_ns: Mapping[str, Sequence[float]]) -> str:
    lines = [f"{'':9}{'runs, ns':<40}{'apart':>8}"]
    for way, of in times_ns.items():
        lines.append(f"{way:9}{' '.join(f'{value:.1f}' for value in of):<40}{apart(of):>8.1f}")
    return "\n".join(lines)


def apart(of: Sequence[float]) -> float:
    return max(of) - min(of)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="that are compared (3)")
    parser.add_argument("--launches", type=int, default=7, help="of each run (7)")
    parser.add_argument("--quick", action="store_true", help="1 launch each: does it work at all?")
    common.add_options(parser)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    many = options.runs * (1 if options.quick else options.launches)
    try:
        conditions = common.machine()
        mpi = find("mpich")
        here = common.Site(mpi, kernels(mpi), options.cores, {})
        with common.protection(options.protect):
            launches = [measure(here, i + 1, options.protect) for i in range(many)]
    except UserError as error:
        print(f"cache_lines: {error}", file=sys.stderr)
        return 2
    times_ns = values(launches, options.runs)
    print(f"# {conditions}, {many} launches\n", table(times_ns), NOTES, sep="\n\n")
    if any(len(of) < options.runs for of in times_ns.values()):
        print("\ntoo few launches in one state of the machine; more launches help")
        return 2
    worst = max(map(apart, times_ns.values()))
    print(f"\nat most {worst:.1f} ns apart; the limit is {MOST_NS:.0f} ns")
    return 0 if worst <= MOST_NS else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
