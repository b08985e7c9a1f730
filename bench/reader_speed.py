# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How fast is the text of IMB read, on one core?

Whole runs of IMB-MPI1 behind one another, 24 sizes a table, are made up and read. Beside it stands
what a loop needs that only splits lines and makes numbers of their words, on the same text: on a
busy or slow core the ratio says more.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

import common

from mpigauge.runs.readers import READERS, Text
from mpigauge.runs.readers.known import known_cards

PROMISE = "100 MB/s of processor time"
LEAST_MB = 100.0
SIZES = [0, *(1 << i for i in range(23))]
HEADS = {
    "single": ("#bytes", "#repetitions", "t[usec]", "Mbytes/sec"),
    "parallel": ("#bytes", "#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]",
                 "Mbytes/sec"),
    "collective": ("#bytes", "#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]"),
    "barrier": ("#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]"),
}  # fmt: skip
HEADER = """#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
#----------------------------------------------------------------
# Date                  : Sat Nov 21 02:56:53 2026
# MPI Version           : 5.0

# Calling sequence was:

# IMB-MPI1

# MPI_Datatype                   :   MPI_BYTE
# MPI_Datatype for reductions    :   MPI_FLOAT
# MPI_Op                         :   MPI_SUM
"""


def one_run(numbers: random.Random) -> str:
    """Returns the output of IMB-MPI1's default benchmarks on two ranks, with random numbers."""
    tables = (table(card.name, HEADS[card.columns], numbers) for card in known_cards().default())
    return HEADER + "".join(tables) + "\n\n# All processes entering MPI_Finalize\n\n"


def table(name: str, heads: tuple[str, ...], numbers: random.Random) -> str:
    rule = "#" + "-" * (13 * len(heads) - 1)
    lines = ["", rule, f"# Benchmarking {name} ", "# #processes = 2 ", rule]
    lines.append("".join(f"{head:>13}" for head in heads))
    for size in SIZES if "#bytes" in heads else [-1]:
        whole = {"#bytes": size, "#repetitions": 1000}
        lines.append("".join(
            f"{whole[head]:>13}" if head in whole else f"{numbers.uniform(0.1, 5000):>13.2f}"
            for head in heads
        ))  # fmt: skip
    return "\n".join(lines) + "\n"


def plain_loop(text: bytes) -> None:
    """The least that a reader does line by line."""
    for line in text.split(b"\n"):
        if b"#" not in line:
            [float(word) for word in line.split()]


def speed(action: Callable[[], object], size: int, times: int) -> float:
    """Returns the best MB/s of processor time in `times` calls."""
    best = 0.0
    for _ in range(times):
        begin = time.process_time()
        action()
        best = max(best, size / 1e6 / (time.process_time() - begin))
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only try whether it works")
    quick = parser.parse_args().quick
    runs = 20 if quick else 1000
    text = "".join(one_run(random.Random(seed)) for seed in range(min(runs, 50))).encode()
    text *= max(runs // 50, 1)
    times = 1 if quick else 5
    read = READERS.find("imb").read
    rows = read(Text(text)).rows
    ours = speed(lambda: read(Text(text)), len(text), times)
    loop = speed(lambda: plain_loop(text), len(text), times)
    print(f"{len(text) / 1e6:.0f} MB, {rows} rows: {ours:.0f} MB/s")
    print(f"a loop over lines and words: {loop:.0f} MB/s; ratio {ours / loop:.1f}")
    figures = f"{ours:.0f} MB/s, {ours / loop:.1f} times the loop"
    status = common.conclude(ours >= LEAST_MB, figures)
    return 0 if quick else status


if __name__ == "__main__":
    raise SystemExit(main())
