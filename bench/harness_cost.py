#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What do our timed loops add to a call, over loops written by hand?

Exit status: 0 at most 1 ns everywhere, 1 more somewhere, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError
from mpigauge.site.mpi import find

PROMISE = "at most 1 ns a call"
MOST_NS = 1.0
HERE = Path(__file__).resolve().parent
NOTES = """\
A call of `send` is one MPI_Send, of `send and recv` both, of an MPI that does nothing.
added    median over rounds of the difference of ours and by hand, measured side by side in each
         round. A sample of one call holds a reading of the clock, in both loops alike."""

Loop = tuple[str, str]
Pairs = dict[Loop, list[tuple[float, float]]]


def build(folder: Path) -> Path:
    """The program, from the kernels' own sources; calls of MPI that it never makes stay open."""
    sources = [HERE / "harness_cost.cpp", HERE / "fake_mpi.cpp"]
    link = ("-no-pie", "-Wl,--unresolved-symbols=ignore-all")
    return common.built(folder / "harness_cost", find("mpich"), sources, link)


def run(program: Path, rounds: int) -> Pairs:
    done = subprocess.run([program, str(rounds)], capture_output=True, text=True, check=True)
    return read(done.stdout)


def read(text: str) -> Pairs:
    """Nanoseconds per call, ours and by hand, for each loop."""
    pairs: Pairs = defaultdict(list)
    for line in text.splitlines():
        cut, body, ours, by_hand = line.split("\t")
        pairs[cut, body].append((float(ours), float(by_hand)))
    return pairs


def added(pairs: Sequence[tuple[float, float]]) -> float:
    """Paired, since the frequency of a core may change from round to round."""
    return median(ours - by_hand for ours, by_hand in pairs)


def table(by_loop: Pairs) -> str:
    form = "{:<28} {:<15} {:>8} {:>8} {:>8}"
    lines = [form.format("loop", "call", "ours ns", "by hand", "added")]
    for (cut, body), pairs in by_loop.items():
        ours, by_hand = (median(times) for times in zip(*pairs, strict=True))
        numbers = (f"{ours:.2f}", f"{by_hand:.2f}", f"{added(pairs):+.2f}")
        lines.append(form.format(cut, body, *numbers))
    return "\n".join(lines)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=1001, help="of 20000 calls (1001)")
    parser.add_argument("--quick", action="store_true", help="20 rounds: does it work at all?")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    try:
        conditions = common.machine()
        with tempfile.TemporaryDirectory() as folder:
            by_loop = run(build(Path(folder)), 20 if options.quick else options.rounds)
    except UserError as error:
        print(f"harness_cost: {error}", file=sys.stderr)
        return 2
    print(f"# {conditions}\n")
    print(table(by_loop), NOTES, sep="\n\n")
    worst = max(map(added, by_loop.values()))
    return common.conclude(worst <= MOST_NS, f"at most {worst:.2f} ns a call")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
