# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does every one of many short runs end well?

Benchmarks, sizes, ranks, options and MPIs are drawn at random, and run one after the other. A run
is good when it exits with 0, its status says done, what it stored is whole, and none of its
processes is left. Of any other the command is printed and the folder kept; the same --seed draws
the same runs again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import common

from mpigauge.model.cards import Cards
from mpigauge.runs.store import load
from mpigauge.site.mpi import find, kernels
from mpigauge.site.topology.busy import grown

PROMISE = "all of 100 runs, drawn at random on three MPIs"
BENCHMARKS = (
    "PingPong", "PingPing", "Sendrecv", "Exchange", "Uniband", "Biband", "Bcast", "Allreduce",
    "Reduce", "Allgather", "Alltoall", "Gather", "Scatter", "Reduce_scatter", "Barrier",
    "RMA:Unidir_put", "RMA:Unidir_get", "NBC:Ibcast", "NBC:Iallreduce", "P2P:Birandom",
)  # fmt: skip
SIZES = ("0,8", "1..64", "4Ki", "64Ki,8", "1Mi", "0..1Ki")
OPTIONS = (
    (), ("--classic",), ("--launches", "1"), ("--launches", "2"), ("--launches", "6"),
    ("--cache", "cold"), ("--data", "fresh"), ("--sync", "dissemination"), ("--precision", "20%"),
    ("--datatype", "double"), ("--bind", "none"),
)  # fmt: skip
HEEDED_BY = {"--data": "PingPong", "--cache": "PingPong", "--sync": "Bcast", "--datatype": "Bcast"}
"""A benchmark that each of these options changes: a run of others alone is refused."""
LONGEST_S = 300
"""The longest time of a run in seconds; on an idle machine it takes a tenth."""


def drawn(chance: random.Random, mpis: Sequence[str], most_ranks: int) -> list[str]:
    """The words of one run."""
    names = chance.sample(BENCHMARKS, chance.choice((1, 1, 2, 3)))
    ranks = chance.choice((2, 2, *range(3, most_ranks + 1)))
    options = chance.choice(OPTIONS)
    heeding = [name for option, name in HEEDED_BY.items() if option in options]
    heeding += ["PingPong"] if names == ["Barrier"] else []  # which has no sizes
    names = list(dict.fromkeys([*names, *heeding]))
    words = [*names, "--mpi", chance.choice(mpis), "--sizes", chance.choice(SIZES)]
    words += ["--np", str(ranks), *options]
    words += [] if "--classic" in options else ["--in", chance.choice(("1s", "2s", "3s"))]
    return words + (["--oversubscribe"] if ranks > len(os.sched_getaffinity(0)) else [])


def trouble(words: Sequence[str], folder: Path) -> str:
    """Runs a command and returns what went wrong; empty: nothing."""
    command = [common.MPIGAUGE, "run", *words, "--output", str(folder)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=(limit := grown(LONGEST_S)),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it was not over after {limit:.0f} s"
    if done.returncode != 0:
        return f"exit status {done.returncode}: {' '.join(done.stderr.split())[-300:]}"
    if "Traceback" in done.stderr:
        return f"a traceback: {done.stderr[-300:]}"
    return stored_badly(folder)


def stored_badly(folder: Path) -> str:
    """Returns the problem in the folder of a run that ended well; empty: none."""
    stored = load(folder)
    if stored.damaged:
        return f"damaged: {stored.damaged[0]}"
    if stored.status.get("status") != "done":
        return f"its status is {json.dumps(dict(stored.status))}"
    if not stored.cells and not stored.skips:
        return "it holds neither a number nor a reason why there is none"
    left = [rank.pid for rank in stored.ranks if is_ours(rank.pid, folder)]
    return f"rank processes are left: {left}" if left else ""


def is_ours(pid: int, folder: Path) -> bool:
    """True if the process with this number still runs kernels of that run."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"mpigauge" in words and str(folder).encode() in words


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--mpi", default="mpich,openmpi,intel", help="drawn from these")
    parser.add_argument("--np", type=int, default=4, help="ranks at most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", type=Path, default=Path("build/soak"))
    parser.add_argument("--quick", action="store_true", help="only try whether it works")
    given = parser.parse_args()
    mpis = given.mpi.split(",")
    for name in mpis:  # so that no run builds
        build = kernels(find(name))
        benchmarks = {card.word for card in Cards.load(build.cards)}
        if lost := [word for word in BENCHMARKS if word not in benchmarks]:
            parser.error(f"the kernels of {name} have no {', '.join(lost)}")
    chance, bad = random.Random(given.seed), 0
    place = given.keep / str(given.seed)
    place.mkdir(parents=True, exist_ok=True)
    count = 3 if given.quick else given.runs
    print(f"seed {given.seed}; {count} runs below {place}", flush=True)
    for number in range(count):
        words, folder = drawn(chance, mpis, given.np), place / f"{number:03d}"
        if why := trouble(words, folder):
            bad += 1
            print(f"{number:03d} mpigauge run {shlex.join(words)}\n    {why}", flush=True)
        else:
            subprocess.run(["rm", "-r", str(folder)], check=True)
    return common.conclude(not bad, f"{count - bad} of {count} runs ended well")


if __name__ == "__main__":
    raise SystemExit(main())
