#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What does `mpigauge profile` cost a process that never calls MPI: a shell, mpirun, a daemon?

Its library is loaded into such processes as well. /bin/true is started without it, with it, and
with an empty library, in turn: what is above the empty one is ours.

Exit status: 0 the median is within the limit, 1 above it, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import common
import numpy as np

from mpigauge.products.profile.launch.library import library
from mpigauge.site.builds.cxx import compiler_words

PROMISE = "at most 0.5 ms more than an empty library"
MOST_US = 500.0
PROGRAM = "/bin/true"
NOTES = """\
median   how long the process lives, from its start to its end, in the middle of all rounds
added    the median over rounds of what it takes more than without, with its 95 % interval\
"""
HEADER = "{:<14} {:>9} {:>9}  {}"
ROW = "{:<14} {:>6.0f} µs {:>6.0f} µs  {:.0f} to {:.0f} µs"


def main(words: Sequence[str]) -> int:
    rounds = 20 if arguments(words).quick else arguments(words).rounds
    with tempfile.TemporaryDirectory() as folder:
        loaded = {
            "without": {},
            "empty library": {"LD_PRELOAD": str(empty_library(Path(folder)))},
            "ours": {"LD_PRELOAD": str(library()), "MPIGAUGE_PROFILE": folder},
        }
        times = lived({name: {**os.environ, **env} for name, env in loaded.items()}, rounds)
    print(f"# {common.machine()}, {rounds} rounds of {PROGRAM}\n")
    print(HEADER.format("loaded", "median", "added", "").rstrip())
    for name, own in times.items():
        print(ROW.format(name, np.median(own), *added(own - times["without"])))
    ours = added(times["ours"] - times["empty library"])
    print(f"\n{NOTES}")
    figures = f"{ours[0]:.0f} µs, {ours[1]:.0f} to {ours[2]:.0f}"
    return common.conclude(ours[0] <= MOST_US, figures)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=500, help="each with all of them (500)")
    parser.add_argument("--quick", action="store_true", help="20 rounds: does it work at all?")
    return parser.parse_args(words)


def empty_library(folder: Path) -> Path:
    made = folder / "libempty.so"
    words = [*compiler_words("this program"), "-shared", "-fPIC", "-x", "c++", "/dev/null"]
    subprocess.run([*words, "-o", str(made)], check=True)
    return made


def lived(loaded: Mapping[str, Mapping[str, str]], rounds: int) -> dict[str, np.ndarray]:
    """Microseconds of each round, by what is loaded; the order is turned round each time."""
    times = {name: np.empty(rounds) for name in loaded}
    for number in range(rounds):
        names = list(loaded)
        for name in names if number % 2 else reversed(names):
            began = time.perf_counter()
            subprocess.run([PROGRAM], env=loaded[name], check=True)
            times[name][number] = 1e6 * (time.perf_counter() - began)
    return times


def added(differences: np.ndarray) -> tuple[float, float, float]:
    """The median, and the order statistics that hold it in 95 of 100 cases."""
    ordered = np.sort(differences)
    half = 1.96 * np.sqrt(len(ordered)) / 2
    low = max(round(len(ordered) / 2 - half), 0)
    high = min(round(len(ordered) / 2 + half), len(ordered) - 1)
    return float(np.median(ordered)), float(ordered[low]), float(ordered[high])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
