#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does our classic mode give the numbers of the real IMB-MPI1?

Both run on Intel MPI, on the same cores, in turn; medians over the launches are compared.
Exit status: 0 all rows agree, 1 some do not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import common
from common import Cell, Site

from mpigauge.model.errors import UserError
from mpigauge.model.units import byte_count

PROMISE = "all rows within 10 %, at 0 B within 0.03 µs"
BENCHMARKS = ("PingPong", "Sendrecv", "Allreduce", "Bcast")
SIZES = (0, 8, 4096, 65536, 1 << 20, 4 << 20)
WITHIN = 0.10
WITHIN_EMPTY_US = 0.03
ROUNDING_US = 0.005
"""IMB prints two decimals, so its true value is this far away at most."""
NOTES = """\
ratio    ours / IMB, of the medians over launches. Agreed: within 10 %, and 0.03 µs at 0 B.
         IMB prints two decimals; a row counts as agreed when a value that rounds to what was
         printed agrees. That is worth 2.5 % at 0.2 µs and nothing from 4 KiB on.
±        of that ratio: half its central 95 % when the launches are drawn again. A disagreement
         that is no larger than limit and ± together may be noise: take more launches.
adaptive ratio of the adaptive mode to IMB. It differs where
         - nothing is sent (collectives, 0 B): the clock is timed, IMB's MPI_Wtime costs more;
         - calls are shortest: the slowest rank of each sample counts, in IMB that of the mean;
         - some calls are slow (Bcast 4 KiB): a median of samples against a mean of all;
         - messages are large: buffers are mapped anew, IMB's come from MPI_Alloc_mem, and caches
           hold what the cell before has left, not a thousand repetitions of the same.\
"""

TOOLS = ("imb", "classic", "adaptive")
DRAWS = 2000


@dataclass(frozen=True)
class Launch:
    tool: str
    times: dict[Cell, float]

    @property
    def latency(self) -> float:
        """The shortest: noise does not move it, the state of the machine does."""
        return min(self.times["PingPong", 0], self.times["PingPong", 8])


@dataclass(frozen=True)
class Row:
    cell: Cell
    imb: float
    classic: float
    adaptive: float
    uncertainty: float
    """Half the central 95 % of the ratio of classic to IMB when launches are resampled."""

    @property
    def agrees(self) -> bool:
        limit = WITHIN_EMPTY_US if self.cell[1] == 0 else WITHIN * self.imb
        return abs(self.classic - self.imb) <= limit + ROUNDING_US


def measure(here: Site, count: int, protect: bool) -> list[Launch]:
    """Launches each tool `count` times, in reversed order every other time."""
    launches = []
    with tempfile.NamedTemporaryFile("w", suffix=".sizes") as sizes:
        sizes.write("".join(f"{size}\n" for size in SIZES))
        sizes.flush()
        for n in range(count):
            for tool in TOOLS if n % 2 == 0 else reversed(TOOLS):
                common.say_progress(f"launch {n + 1} of {count}: {tool}")
                times = one_launch(here, tool, n, sizes.name, protect)
                launches.append(Launch(tool, times))
    common.end_progress()
    return launches


def one_launch(here: Site, name: str, n: int, sizes: str, protect: bool) -> dict[Cell, float]:
    if name == "imb":
        what = common.imb(here, *BENCHMARKS, "-msglen", sizes)
        return common.imb_rows(common.launch(what, protect).lines)
    words = ["--benchmarks", ",".join(BENCHMARKS), "--sizes", ",".join(map(str, SIZES))]
    what = common.ours(here, *words, "--mode", name, "--seed", str(n + 1))
    return common.our_rows(common.launch(what, protect).lines)


def in_one_state(launches: Sequence[Launch]) -> list[Launch]:
    """All of them where no state of the machine lasted."""
    good = common.in_one_state([launch.latency for launch in launches])
    kept = [launch for launch, is_good in zip(launches, good, strict=True) if is_good]
    return kept if {launch.tool for launch in kept} == set(TOOLS) else list(launches)


def compare(launches: Sequence[Launch]) -> list[Row]:
    return [compare_cell((name, size), launches) for name in BENCHMARKS for size in SIZES]


def compare_cell(cell: Cell, launches: Sequence[Launch]) -> Row:
    imb, classic, adaptive = ([x.times[cell] for x in launches if x.tool == t] for t in TOOLS)
    uncertainty = uncertainty_of_ratio(classic, imb)
    return Row(cell, median(imb), median(classic), median(adaptive), uncertainty)


def uncertainty_of_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    draw = random.Random(1).choices
    ratios = sorted(
        ratio(median(draw(above, k=len(above))), median(draw(below, k=len(below))))
        for _ in range(DRAWS)
    )
    return (ratios[int(0.975 * DRAWS)] - ratios[int(0.025 * DRAWS)]) / 2


def ratio(above: float, below: float) -> float:
    """1 for two times that are both too short to be printed."""
    return 1.0 if above == below else above / below if below else float("inf")


def table(rows: Sequence[Row]) -> str:
    head = ("benchmark", "size", "IMB µs", "classic", "ratio", "±", "", "adaptive", "ratio")
    form = "{:<10} {:>7} {:>9} {:>9} {:>6} {:>5} {:<9} {:>9} {:>6}"
    return "\n".join(form.format(*words).rstrip() for words in [head, *map(words_of, rows)])


def words_of(row: Row) -> tuple[str, ...]:
    return (
        row.cell[0],
        byte_count(row.cell[1]),
        f"{row.imb:.2f}",
        f"{row.classic:.3f}",
        f"{ratio(row.classic, row.imb):.2f}",
        f"{row.uncertainty:.2f}",
        "agrees" if row.agrees else "DISAGREES",
        f"{row.adaptive:.3f}",
        f"{ratio(row.adaptive, row.imb):.2f}",
    )


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--launches", type=int, default=20, help="of each instrument (20)")
    parser.add_argument("--quick", action="store_true", help="2 launches: does it work at all?")
    common.add_options(parser)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    count = 2 if options.quick else options.launches
    try:
        conditions = common.machine()
        here = common.site(options.cores, {})
        with common.protection(options.protect):
            launches = measure(here, count, options.protect)
    except UserError as error:
        print(f"agreement: {error}", file=sys.stderr)
        return 2
    kept = in_one_state(launches)
    rows = compare(kept)
    used = ", ".join(f"{sum(launch.tool == tool for launch in kept)} {tool}" for tool in TOOLS)
    print(f"# {here.mpi.label}, {conditions}")
    print(f"# {count} launches of each in turn; during the usual state of the machine: {used}\n")
    print(table(rows), NOTES, sep="\n\n")
    agreed = sum(row.agrees for row in rows)
    return common.conclude(agreed == len(rows), f"{agreed} of {len(rows)} rows agree")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
