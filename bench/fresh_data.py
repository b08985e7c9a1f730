# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What data that the receiver's cache still holds do to times, and to the ranking of MPIs.

Each launch measures static and fresh data in turn, and launches of the MPIs follow each other, in
the other order each round:

    .venv/bin/python bench/fresh_data.py --rounds 6 --protect
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from common import Site, add_options, end_progress, launch, machine, ours, say_progress

from mpigauge.model.errors import UserError
from mpigauge.model.record import CellRecord, parse
from mpigauge.mpi import find, kernels

MPIS = ("mpich", "openmpi", "intel")
BENCHMARKS = ("PingPong", "Allreduce")
SIZES = tuple(1 << power for power in range(14, 23))
Key = tuple[str, str, int, str]
"""MPI, benchmark, bytes, data."""
Times = Mapping[Key, Sequence[float]]
"""In µs, one of each round."""


def measured(rounds: int, seconds: float, cores: str, protect: bool) -> Times:
    sites = {name: Site(mpi := find(name), kernels(mpi, print), cores, {}) for name in MPIS}
    words = ("--benchmarks", ",".join(BENCHMARKS), "--sizes", ",".join(map(str, SIZES)),
             "--ranks", "2", "--data", "both", "--seconds", str(seconds))  # fmt: skip
    times: dict[Key, list[float]] = defaultdict(list)
    for number in range(rounds):
        for name in MPIS if number % 2 == 0 else reversed(MPIS):
            say_progress(f"round {number + 1} of {rounds}: {name}")
            output = launch(ours(sites[name], *words, "--seed", str(number + 1)), protect)
            records = [parse(line.text) for line in output.lines]
            for cell in (each.cell for each in records if isinstance(each, CellRecord)):
                if cell.wrong_count:
                    raise UserError(f"{name} {cell.benchmark}: wrong data")
                key = name, cell.benchmark, cell.message_bytes, cell.data
                times[key].append(cell.latency_s * 1e6)
    end_progress()
    if {len(each) for each in times.values()} != {rounds}:
        raise UserError("a launch did not reach every size; give it more --seconds")
    return times


def ratio(times: Times, above: Key, below: Key) -> str:
    """The median of the rounds' ratios, and between what they lie."""
    each = sorted(a / b for a, b in zip(times[above], times[below], strict=True))
    return f"{median(each):.2f} ({each[0]:.2f}-{each[-1]:.2f})"


def print_tables(times: Times) -> None:
    for benchmark in BENCHMARKS:
        print(f"\n{benchmark}: µs with static data / with fresh data = fresh over static (range)")
        for size in SIZES:
            words = []
            for mpi in MPIS:
                static, fresh = ((mpi, benchmark, size, data) for data in ("static", "fresh"))
                pair = f"{median(times[static]):.2f} / {median(times[fresh]):.2f}"
                words.append(f"{mpi} {pair} = {ratio(times, fresh, static)}")
            print(f"{size:>8}  {';  '.join(words)}")
        print(f"\n{benchmark}: times of intel over openmpi, static; fresh")
        for size in SIZES:
            both = [
                ratio(times, ("intel", benchmark, size, data), ("openmpi", benchmark, size, data))
                for data in ("static", "fresh")
            ]
            print(f"{size:>8}  {both[0]};  {both[1]}")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=6, help="a launch of each MPI in each")
    options.add_argument("--seconds", type=float, default=6.0, help="of measuring in a launch")
    options.add_argument(
        "--quick", action="store_true", help="one short round, to see that it runs"
    )
    add_options(options)
    chosen = options.parse_args()
    rounds, seconds = (1, 2.0) if chosen.quick else (chosen.rounds, chosen.seconds)
    print(machine())
    try:
        times = measured(rounds, seconds, chosen.cores, chosen.protect)
    except UserError as error:
        print(f"fresh_data: {error}", file=sys.stderr)
        return 2
    print_tables(times)
    return 0


if __name__ == "__main__":
    sys.exit(main())
