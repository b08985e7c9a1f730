#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does our classic mode give the numbers of the real IMB-MPI1?

Both run on Intel MPI, on the same cores, in turn; medians over the launches are compared.
Exit status: 0 all rows agree, 1 some do not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import common
from common import Cell, Site

from mpigauge.model.errors import UserError
from mpigauge.model.units import byte_count

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
IMB/IMB  the same ratio between every other launch of IMB and the rest: what this machine cannot
         tell apart today. A disagreement that is no larger says nothing.
adaptive ratio of the adaptive mode to IMB. It may differ, since
         - it gives a median of samples, IMB a mean that holds every interruption;
         - its buffers are its own and re-mapped, IMB's come from MPI_Alloc_mem, once per row, and
           some libraries move those faster (here: large messages);
         - cells are visited in turn, so that a chunk starts on caches that others have used;
         - it reads the clock at every sample, which adds some 10 ns to the shortest calls."""

Times = dict[Cell, list[float]]


@dataclass(frozen=True)
class Row:
    cell: Cell
    imb: float
    classic: float
    adaptive: float
    imb_against_imb: float

    @property
    def agrees(self) -> bool:
        limit = WITHIN_EMPTY_US if self.cell[1] == 0 else WITHIN * self.imb
        return abs(self.classic - self.imb) <= limit + ROUNDING_US


def measure(here: Site, launches: int, protect: bool) -> dict[str, Times]:
    """Times of each instrument, the order turned round from launch to launch."""
    found: dict[str, Times] = {name: defaultdict(list) for name in ("imb", "classic", "adaptive")}
    with tempfile.NamedTemporaryFile("w", suffix=".sizes") as sizes:
        sizes.write("".join(f"{size}\n" for size in SIZES))
        sizes.flush()
        for n in range(launches):
            order = ["imb", "classic", "adaptive"]
            for name in order if n % 2 == 0 else reversed(order):
                common.say_progress(f"launch {n + 1} of {launches}: {name}")
                for cell, time in one_launch(here, name, n, sizes.name, protect).items():
                    found[name][cell].append(time)
    common.end_progress()
    return found


def one_launch(here: Site, name: str, n: int, sizes: str, protect: bool) -> dict[Cell, float]:
    if name == "imb":
        what = common.imb(here, *BENCHMARKS, "-msglen", sizes)
        return common.imb_rows(common.launch(what, protect).lines)
    words = ["--benchmarks", ",".join(BENCHMARKS), "--sizes", ",".join(map(str, SIZES))]
    what = common.ours(here, *words, "--mode", name, "--seed", str(n + 1))
    return common.our_rows(common.launch(what, protect).lines)


def compare(found: dict[str, Times]) -> list[Row]:
    rows = []
    for name in BENCHMARKS:
        for size in SIZES:
            imb = found["imb"][name, size]
            rows.append(
                Row(
                    (name, size),
                    median(imb),
                    median(found["classic"][name, size]),
                    median(found["adaptive"][name, size]),
                    ratio(median(imb[::2]), median(imb[1::2] or imb)),
                )
            )
    return rows


def ratio(above: float, below: float) -> float:
    """1 for two times that are both too short to be printed."""
    return 1.0 if above == below else above / below if below else float("inf")


def table(rows: Sequence[Row]) -> str:
    head = ("benchmark", "size", "IMB µs", "classic", "ratio", "IMB/IMB", "", "adaptive", "ratio")
    form = "{:<10} {:>7} {:>9} {:>9} {:>6} {:>8} {:<9} {:>9} {:>6}"
    return "\n".join(form.format(*words).rstrip() for words in [head, *map(words_of, rows)])


def words_of(row: Row) -> tuple[str, ...]:
    return (
        row.cell[0],
        byte_count(row.cell[1]),
        f"{row.imb:.2f}",
        f"{row.classic:.3f}",
        f"{ratio(row.classic, row.imb):.2f}",
        f"{row.imb_against_imb:.2f}",
        "agrees" if row.agrees else "DISAGREES",
        f"{row.adaptive:.3f}",
        f"{ratio(row.adaptive, row.imb):.2f}",
    )


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--launches", type=int, default=10, help="of each instrument (10)")
    parser.add_argument("--quick", action="store_true", help="2 launches: does it work at all?")
    common.add_options(parser)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    launches = 2 if options.quick else options.launches
    try:
        conditions = common.machine()
        here = common.site(options.cores, {})
        with common.protection(options.protect):
            rows = compare(measure(here, launches, options.protect))
    except UserError as error:
        print(f"agreement: {error}", file=sys.stderr)
        return 2
    print(f"# {here.mpi.label}, {conditions}, {launches} launches of each in turn\n")
    print(table(rows), NOTES, sep="\n\n")
    agreed = sum(row.agrees for row in rows)
    print(f"\n{agreed} of {len(rows)} rows agree")
    return 0 if agreed == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
