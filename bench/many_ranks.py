#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How many seconds and bytes does mpigauge itself take for each rank, from 64 ranks to 10 000?

Runs, networks and profiles of so many ranks are generated and stored, then shown, explained and
reported, each by a command of its own. Launch lines are made for every launcher, with nothing
started. The records of a map are calculated. Real ranks of one MPI share the cores that are there:
`run Barrier Allreduce --launches 1` on 64 and 512 of them.

Exit status: 0 within the limits, 1 above one of them, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import common

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mpigauge.model.errors import UserError
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.site.launch import Job, OnHost, command
from mpigauge.site.mpi import find
from tests import fabrics, profiles, scale

PROMISE = (
    "from 512 to 10 000 ranks no more than twice the bytes a rank; a map of 10 000 below 2 GB; no "
    "word of a launch of 128 KiB; 512 real ranks end within 1.2 of --time, Python below 200 MB"
)
RANKS = (64, 512, 4096, 10_000)
REAL, SECONDS = (64, 512), 60
GROWTH, MOST_MAP_BYTES, LONGEST_WORD = 2.0, 2e9, 1 << 17
OVER, MOST_PYTHON_BYTES = 1.2, 200e6
SHOWN = {
    "run": ("show", "explain", "report"),
    "fabric": ("show", "explain", "report"),
    "profile": ("show",),
}
"""The commands that show each kind of generated data."""
LAUNCHERS = ("mpich", "openmpi", "intel")
STORE = "--store"
"""The option with which this program runs itself, to measure the memory of storing alone."""


@dataclass(frozen=True)
class Taken:
    """The cost of a step on so many ranks."""

    step: str
    ranks: int
    seconds: float
    bytes: float
    """The peak memory of its process, or what it wrote."""


# --- what is generated ------------------------------------------------------------------------
def store(kind: str, ranks: int, folder: Path) -> int:
    """Stores a generated run, one of a network, or the joined profile of all ranks."""
    if kind == "run":
        scale.store_run(folder, ranks)
    elif kind == "profile":
        joined = merged([profiles.rank_file(rank) for rank in range(ranks)])
        profiles.stored(folder, ProfiledJob(0, 0, joined, {}))
    else:
        fabrics.run(folder, hosts=[f"n{host:05}" for host in range(ranks)])
    return 0


def measured(step: str, ranks: int, words: Sequence[str]) -> Taken:
    """A process from its start to its end. UserError: it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if process.returncode is None:
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise UserError(f"{step} on {ranks} ranks: {errors.strip()[-300:]}")
    return Taken(step, ranks, time.perf_counter() - start, usage.ru_maxrss * 1024)


def generated(kind: str, ranks: int, folder: Path) -> Iterator[Taken]:
    """Each step of a generated run, by a process of its own."""
    target = folder / f"{kind}-{ranks}"
    again = [sys.executable, str(Path(__file__)), STORE, kind, str(ranks), str(target)]
    yield measured(f"{kind}: store", ranks, again)
    written = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    yield Taken(f"{kind}: stored", ranks, 0, written)
    for name in SHOWN[kind]:
        page = ["-o", str(target / "page.html")] if name == "report" else []
        words = [common.MPIGAUGE, name, str(target), *page]
        yield measured(f"{kind}: {name}", ranks, words)


# --- what is calculated -----------------------------------------------------------------------
def map_records(ranks: int) -> Taken:
    """The records of all rounds of pairs at two sizes, by those of one round."""
    start = time.perf_counter()
    rounds = ranks - 1 + ranks % 2
    of_round = sum(len(scale.block_line(ranks, 1, size)) + 1 for size in scale.SIZES)
    return Taken("map: records", ranks, time.perf_counter() - start, rounds * of_round)


def launch_line(name: str, ranks: int) -> tuple[Taken, int]:
    """The words of a launch with one rank on each host, and the longest of them."""
    start = time.perf_counter()
    hosts = tuple(OnHost(f"node-{host:05}.cluster.example", 1) for host in range(ranks))
    made = command(Job(find(name), ranks, ("program",), hosts=hosts, stem="launch-000"))
    took = time.perf_counter() - start
    size = sum(len(word) + 1 for word in made.words) + sum(map(len, made.files.values()))
    return Taken(f"launch line of {name}", ranks, took, size), max(map(len, made.words))


# --- real ranks -------------------------------------------------------------------------------
@dataclass(frozen=True)
class Real:
    """A run with real ranks."""

    ranks: int
    measuring_s: float
    wall_s: float
    python_bytes: float
    cells: int


def real(mpi: str, ranks: int, seconds: int, folder: Path) -> Real:
    """`run Barrier Allreduce` in one launch. UserError: it fails."""
    target = folder / f"real-{ranks}"
    words = [common.MPIGAUGE, "run", "Barrier", "Allreduce", "--mpi", mpi, "--np", str(ranks)]
    words += ["--oversubscribe", "--launches", "1", "--time", f"{seconds}s"]
    words += ["--output", str(target)]
    taken = measured("run", ranks, words)
    lines = (target / "records.jsonl").read_text(encoding="utf-8").splitlines()
    (end,) = (json.loads(line) for line in lines if re.match(r'\{"record": ?"end"', line))
    return Real(ranks, end["measuring_s"], taken.seconds, taken.bytes, end["cells"])


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mpi", default="mpich", help="of the real ranks (mpich)")
    parser.add_argument("--no-real", action="store_true", help="start no ranks")
    parser.add_argument("--quick", action="store_true", help="few ranks: does it work at all?")
    parser.add_argument(STORE, nargs=3, metavar=("KIND", "RANKS", "DIR"), help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    if options.store:
        kind, ranks, folder = options.store
        return store(kind, int(ranks), Path(folder))
    quick = options.quick
    numbers: Sequence[int] = (8, 64) if quick else RANKS
    reals: Sequence[int] = (4,) if quick else REAL
    seconds = 1 if quick else SECONDS
    print(f"# {common.machine()}\n")
    try:
        return tried(options.mpi, numbers, () if options.no_real else reals, seconds)
    except UserError as error:
        print(f"many_ranks: {error}", file=sys.stderr)
        return 2


def tried(mpi: str, numbers: Sequence[int], reals: Sequence[int], seconds: int) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        taken = [step for n in numbers for kind in SHOWN
                 for step in generated(kind, n, folder)]  # fmt: skip
        lines = [launch_line(each, n) for n in numbers for each in LAUNCHERS]
        maps = [map_records(n) for n in numbers]
        print_table([*taken, *(line for line, _ in lines), *maps], numbers)
        runs = [real(mpi, n, seconds, folder) for n in reals]
    for run in runs:
        print(f"{run.ranks} real ranks of {mpi}: {run.cells} cells in {run.measuring_s:.1f} s of")
        print(f"{seconds} s, {run.wall_s:.0f} s in all, Python {run.python_bytes / 1e6:.0f} MB")
    growth = worst_growth(taken)
    longest = max(length for _, length in lines)
    over = max((run.measuring_s / seconds for run in runs), default=0.0)
    python = max((run.python_bytes for run in runs), default=0.0)
    is_kept = (
        growth <= GROWTH
        and maps[-1].bytes < MOST_MAP_BYTES
        and longest < LONGEST_WORD
        and over <= OVER
        and python < MOST_PYTHON_BYTES
    )
    figures = f"bytes a rank grow by at most {growth:.2f}, map {maps[-1].bytes / 1e9:.2f} GB, "
    figures += f"longest word of a launch {longest / 1024:.0f} KiB"
    if runs:
        figures += f", {over:.2f} of --time on {max(reals)} ranks, Python {python / 1e6:.0f} MB"
    return common.conclude(is_kept, figures)


def worst_growth(taken: Sequence[Taken]) -> float:
    """The largest ratio of the bytes of a rank between two numbers of ranks, from 512 on."""
    worst = 0.0
    for step in {each.step for each in taken}:
        same = [each for each in taken if each.step == step]
        for few, many in pairwise(each for each in same if each.ranks >= REAL[-1]):
            worst = max(worst, many.bytes / many.ranks / (few.bytes / few.ranks))
    return worst


def print_table(taken: Sequence[Taken], numbers: Sequence[int]) -> None:
    """Prints seconds, and bytes a rank, of each step in columns of the numbers of ranks."""
    print("| seconds, bytes a rank | " + " | ".join(f"{n} ranks" for n in numbers) + " |")
    print("|---" * (1 + len(numbers)) + "|")
    for step in dict.fromkeys(each.step for each in taken):
        cells = [f"{each.seconds:.2f} s, {each.bytes / each.ranks:.0f}"
                 for each in taken if each.step == step]  # fmt: skip
        print(f"| {step} | {' | '.join(cells)} |")
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
