# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What data that the receiver's cache still holds do to times, and to the ranking of MPIs.

Each launch measures static and fresh data in turn, and launches of the MPIs follow each other, in
the other order each round. Where both ranks share a cache, or are two threads of a core, the data
never leave it; a guest whose cores the host moves about is in either state for a while. So the
launches whose empty message takes less than 1.4 times the shortest of that MPI (`close`) are shown
by themselves, and the others too (`apart`).

    .venv/bin/python bench/fresh_data.py --rounds 12 --protect
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from statistics import median

from common import Site, add_options, end_progress, launch, machine, ours, say_progress

from mpigauge.model.errors import UserError
from mpigauge.model.record import CellRecord, parse
from mpigauge.site.mpi import find, kernels

MPIS = ("mpich", "openmpi", "intel")
BENCHMARKS = ("PingPong", "Allreduce")
SIZES = tuple(1 << power for power in range(14, 23, 2))
CLOSE = 1.4
Key = tuple[str, int, str]
"""Benchmark, bytes, data."""
EMPTY = ("PingPong", 0, "static")
Launch = Mapping[Key, float]
"""The time in µs of each key."""


def measured(rounds: int, seconds: float, cores: str, protect: bool) -> dict[str, list[Launch]]:
    """The launches of each MPI."""
    sites = {name: Site(mpi := find(name), kernels(mpi, print), cores, {}) for name in MPIS}
    words = ("--benchmarks", ",".join(BENCHMARKS), "--sizes", ",".join(map(str, (0, *SIZES))),
             "--ranks", "2", "--data", "both", "--seconds", str(seconds))  # fmt: skip
    launches: dict[str, list[Launch]] = {name: [] for name in MPIS}
    for number in range(rounds):
        for name in MPIS if number % 2 == 0 else reversed(MPIS):
            say_progress(f"round {number + 1} of {rounds}: {name}")
            output = launch(ours(sites[name], *words, "--seed", str(number + 1)), protect)
            launches[name].append(times_of(name, [line.text for line in output.lines]))
    end_progress()
    return launches


def times_of(name: str, lines: Sequence[str]) -> Launch:
    cells = [record.cell for line in lines if isinstance(record := parse(line), CellRecord)]
    if any(cell.wrong_count for cell in cells):
        raise UserError(f"{name}: wrong data, so its times mean nothing")
    return {(c.benchmark, c.message_bytes, c.data): c.latency_s * 1e6 for c in cells}


def by_state(launches: Sequence[Launch]) -> dict[str, list[Launch]]:
    """Returns the launches in which the cores were close together, and the others."""
    usable = [each for each in launches if EMPTY in each]
    least = min((each[EMPTY] for each in usable), default=0.0)
    return {
        "close": [each for each in usable if each[EMPTY] < CLOSE * least],
        "apart": [each for each in usable if each[EMPTY] >= CLOSE * least],
    }


def pairs(launches: Sequence[Launch], benchmark: str, size: int) -> list[tuple[float, float]]:
    """Static and fresh of each launch that had the time for both."""
    keys = [(benchmark, size, data) for data in ("static", "fresh")]
    return [(each[keys[0]], each[keys[1]]) for each in launches if set(keys) <= each.keys()]


def line(by_mpi: Mapping[str, Sequence[Launch]], benchmark: str, size: int) -> str:
    """Returns static, fresh and their ratio with its range by MPI, and Intel MPI over Open MPI."""
    words, middles = [f"{size:>8}"], {}
    for name, launches in by_mpi.items():
        if measured := pairs(launches, benchmark, size):
            static, fresh = (median(times) for times in zip(*measured, strict=True))
            ratios = sorted(after / before for before, after in measured)
            ratio_text = f"{median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
            words.append(f"{name} {static:.2f} / {fresh:.2f} = {ratio_text}")
            middles[name] = static, fresh
    if {"intel", "openmpi"} <= middles.keys():
        static, fresh = (a / b for a, b in zip(middles["intel"], middles["openmpi"], strict=True))
        words.append(f"intel/openmpi {static:.2f}, {fresh:.2f}")
    return ";  ".join(words)


def print_tables(by_mpi: Mapping[str, Sequence[Launch]]) -> None:
    states = {name: by_state(launches) for name, launches in by_mpi.items()}
    for state in ("close", "apart"):
        there = {name: of[state] for name, of in states.items() if of[state]}
        counts = ", ".join(f"{len(launches)} of {name}" for name, launches in there.items())
        for benchmark in BENCHMARKS if there else ():
            print(
                f"\n{benchmark}, cores {state}: static µs / fresh µs = ratio (launches: {counts})"
            )
            for size in SIZES:
                print(line(there, benchmark, size))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=12, help="a launch of each MPI in each")
    options.add_argument("--seconds", type=float, default=6.0, help="of measuring in a launch")
    options.add_argument(
        "--quick", action="store_true", help="one short round, to see that it runs"
    )
    add_options(options)
    chosen = options.parse_args()
    rounds, seconds = (1, 2.0) if chosen.quick else (chosen.rounds, chosen.seconds)
    print(machine())
    try:
        by_mpi = measured(rounds, seconds, chosen.cores, chosen.protect)
    except UserError as error:
        print(f"fresh_data: {error}", file=sys.stderr)
        return 2
    print_tables(by_mpi)
    return 0


if __name__ == "__main__":
    sys.exit(main())
