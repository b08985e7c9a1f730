#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Is DGEMM as fast as when OpenBLAS is called by hand, and our peak that of likwid-bench?

Exit status: 0 both within 2 % (or likwid-bench is not there), 1 one is not, 2 not tried.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import common

from mpigauge.model.columns import Cell
from mpigauge.model.errors import UserError
from mpigauge.model.libraries import Blas
from mpigauge.model.record import CellRecord, parse
from mpigauge.site.launch import Command
from mpigauge.site.mpi import find, kernels
from mpigauge.site.mpi.blas import usual_blas

PROMISE = "within 2 %, by the fastest launches"
MOST_APART = 0.02
BY_COLUMNS, AS_IT_IS = 102, 111
PEAKS = {"Peak_avx512": "peakflops_avx512_fma", "Peak_avx2": "peakflops_avx_fma"}
NOTES = """\
by hand  the same library called from a small program on as many threads, with matrices of the same
         numbers; its launches and ours take turns.
best     of the fastest product of each launch: where it differs from the median, others were at
         work here. The promise is about the best.
likwid   likwid-bench (Debian's package likwid): peakflops_avx512_fma, peakflops_avx_fma."""

Pair = tuple[float, float]
"""Ours and the other's: GFLOP/s."""


def direct(file: str, order: int, products: int) -> list[float]:
    """Seconds of each product, the first left out."""
    import numpy as np

    product = ctypes.CDLL(file).scipy_cblas_dgemm64_
    whole, real = ctypes.c_int64, ctypes.c_double
    generator = np.random.default_rng(1)
    a, b = (generator.integers(-4, 5, order * order).astype(float) for _ in range(2))
    c = np.zeros(order * order)
    at = [each.ctypes.data_as(ctypes.c_void_p) for each in (a, b, c)]
    n, one, none = whole(order), real(1), real(0)
    times = []
    for _ in range(products + 1):
        start = time.perf_counter()
        product(BY_COLUMNS, AS_IT_IS, AS_IT_IS, n, n, n, one, at[0], n, at[1], n, none, at[2], n)
        times.append(time.perf_counter() - start)
    return times[1:]


def by_hand(file: str, order: int, cores: int, protect: bool) -> list[float]:
    words = ["taskset", "-c", f"0-{cores - 1}", sys.executable, __file__, "--direct", file]
    env = {"OPENBLAS_NUM_THREADS": str(cores), "PYTHONPATH": os.pathsep.join(sys.path)}
    lines = common.launch(Command((*words, str(order)), env), protect).lines
    return [float(each) for each in json.loads(lines[-1].text)]


def ours(names: Sequence[str], protect: bool, *options: str) -> list[Cell]:
    """Cells of one rank, without a launcher: MPICH's gives ranks a session of their own, which
    --protect would not reach."""
    mpi = find("mpich")
    built = kernels(mpi)
    program = (str(built.executable), "--libmpi", str(mpi.library), "--plugin", str(built.plugin),
               "--benchmarks", ",".join(names), "--ranks", "1", *options)  # fmt: skip
    lines = common.launch(Command(program, mpi.env), protect).lines
    cells = [r.cell for line in lines if isinstance(r := parse(line.text), CellRecord)]
    if len(cells) != len(names) or any(cell.wrong_count for cell in cells):
        raise UserError(f"{', '.join(names)}: some were not measured, or are wrong")
    return cells


def likwid(name: str, protect: bool) -> float:
    """GFLOP/s of one core."""
    words = ("taskset", "-c", "0", "likwid-bench", "-t", name, "-w", "N:16kB:1")
    text = "\n".join(line.text for line in common.launch(Command(words, {}), protect).lines)
    match = re.search(r"^MFlops/s:\s+([\d.]+)", text, re.MULTILINE)
    if not match:
        raise UserError(f"likwid-bench -t {name} gave no speed")
    return float(match[1]) / 1e3


def products(asked: argparse.Namespace, cores: int) -> tuple[list[Pair], list[Pair]]:
    """Medians and bests of launches in turn."""
    blas = usual_blas()
    if blas is None:
        raise UserError("scipy-openblas64 is not installed")
    operations = 2.0 * asked.order**3 / 1e9
    usual: list[Pair] = []
    best: list[Pair] = []
    for number in range(asked.rounds):
        done: dict[str, list[float]] = {}
        for who in ("ours", "by hand") if number % 2 == 0 else ("by hand", "ours"):
            done[who] = _times(who, blas, cores, asked)
        (mine, mine_best), (other, other_best) = done["ours"], done["by hand"]
        usual.append((operations / mine, operations / other))
        best.append((operations / mine_best, operations / other_best))
    return usual, best


def _times(who: str, blas: Blas, cores: int, asked: argparse.Namespace) -> list[float]:
    """Median and least of a launch, in seconds."""
    if who == "by hand":
        times = by_hand(blas.file, asked.order, cores, asked.protect)
        return [median(times), min(times)]
    words = ("--sizes", str(8 * asked.order**2), "--seconds", "3", "--bind", f"0-{cores - 1}",
             "--blas", blas.word)  # fmt: skip
    (cell,) = ours(["DGEMM"], asked.protect, *words)
    return [cell.time_p50_s, cell.time_best_s]


def peaks(asked: argparse.Namespace) -> dict[str, list[Pair]]:
    """Returns peaks of one core and likwid-bench's, in turn; empty: likwid-bench is missing."""
    if shutil.which("likwid-bench") is None:
        return {}
    by_benchmark: dict[str, list[Pair]] = {}
    for _ in range(asked.rounds):
        words = ("--seconds", "1", "--bind", "0")
        mine = ours([f"NODE:{name}" for name in PEAKS], asked.protect, *words)
        for cell in mine:
            speed = cell.messages / cell.time_best_s / 1e9
            other = likwid(PEAKS[cell.benchmark], asked.protect)
            by_benchmark.setdefault(cell.benchmark, []).append((speed, other))
    return by_benchmark


def ratio(pairs: Sequence[Pair]) -> float:
    return float(median(mine / other for mine, other in pairs))


def of_fastest(pairs: Sequence[Pair]) -> float:
    mine, other = (max(each) for each in zip(*pairs, strict=True))
    return float(mine / other)


def line(name: str, pairs: Sequence[Pair]) -> str:
    mine, other = (max(each) for each in zip(*pairs, strict=True))
    spread = f"{min(m / o for m, o in pairs):.2f} to {max(m / o for m, o in pairs):.2f}"
    return (
        f"{name:26}{mine:>9.1f}{other:>9.1f}{of_fastest(pairs):>8.3f}{ratio(pairs):>8.3f}  {spread}"
    )


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--order", type=int, default=2000, help="n of n x n (2000)")
    parser.add_argument("--rounds", type=int, default=9, help="launches of each (9)")
    parser.add_argument("--quick", action="store_true", help="one small round: does it work?")
    parser.add_argument("--direct", nargs=2, metavar=("FILE", "N"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--protect", action="store_true", help="let other sessions wait for the jobs (root only)"
    )
    asked = parser.parse_args(words)
    if asked.quick:
        asked.order, asked.rounds = 300, 1
    return asked


def main(words: Sequence[str]) -> int:
    asked = arguments(words)
    if asked.direct:
        print(json.dumps(direct(asked.direct[0], int(asked.direct[1]), 12)))
        return 0
    cores = len(os.sched_getaffinity(0))
    kept, figures = True, []
    try:
        print(f"# {common.machine()}\n")
        print(f"{'':26}{'ours':>9}{'other':>9}{'best':>8}{'median':>8}  ratios of rounds")
        for many in dict.fromkeys((1, cores)):
            usual, best = products(asked, many)
            print(line(f"DGEMM, {many} threads, median", usual))
            print(line(f"DGEMM, {many} threads, best", best), flush=True)
            kept = kept and of_fastest(best) >= 1 - MOST_APART
            figures.append(f"DGEMM on {many} {of_fastest(best):.3f}")
        for name, pairs in peaks(asked).items():
            print(line(f"{name} / likwid", pairs))
            kept = kept and abs(of_fastest(pairs) - 1) <= MOST_APART
            figures.append(f"{name} {of_fastest(pairs):.3f}")
    except UserError as error:
        print(f"node_products: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    status = common.conclude(kept, ", ".join(figures))
    return 0 if asked.quick else status


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.exit(main(sys.argv[1:]))
