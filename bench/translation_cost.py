#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What does it cost a program to run on an MPI of another ABI than its own?

Exit status: 0 within the limits, 1 above one of them, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.site.launch import Job, command
from mpigauge.site.mpi import find
from mpigauge.site.mpi.build import headers
from mpigauge.site.mpi.cxx import compiler_words
from mpigauge.site.mpi.translation import translation

HERE = Path(__file__).resolve().parent
MOST_ADDED_NS = {"Iprobe": 4.0}
MOST_RATIO = {"PingPong 8 B": 1.02}
MOST_IN_FLIGHT = {"mpich": 1.10}
"""With integers for handles in the program and pointers in the target; else 1.05."""
NOTES = """\
native      a program of the target's own ABI, ns of a call; half a round trip; a message of 64
translated  the same source built for another ABI; launches of both in turn
ratio       the median over launches of the ratio of the medians of blocks\
"""
HEADER = "{:<34} {:<20} {:>10} {:>11} {:>7}"
ROW = "{:<34} {:<20} {:>10.1f} {:>11.1f} {:>7.3f}"
Blocks = Mapping[str, Sequence[float]]


def build(folder: Path, mpi: Mpi, source: str = "translation_cost") -> Path:
    program = folder / f"{source}-{mpi.abi}"
    words = [*compiler_words("this program"), "-std=c++20", "-O2"]
    words += ["-DMPIGAUGE_STANDARD_ABI"] if mpi.abi == "std" else []
    words += ["-isystem", str(headers(mpi)), str(HERE / f"{source}.cpp")]
    words += ["-o", str(program), str(mpi.library), f"-Wl,-rpath,{mpi.library.parent}"]
    subprocess.run(words, check=True)
    return program


def run(mpi: Mpi, program: Path, blocks: int, env: Mapping[str, str]) -> Blocks:
    started = command(Job(mpi, 2, (str(program), str(blocks)), env=env))
    everything = {**os.environ, **started.env}
    done = subprocess.run(
        started.words, env=everything, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise UserError(f"{mpi.label}: {done.stderr.strip()[-300:]}")
    return read(done.stdout)


def read(text: str) -> Blocks:
    found: dict[str, list[float]] = defaultdict(list)
    for line in text.splitlines():
        name, tab, value = line.partition("\t")
        if tab:
            found[name].append(float(value))
    return found


def translated_env(program: Mpi, target: Mpi) -> dict[str, str]:
    made = translation(program.abi, target, print)
    paths = [str(made.folder), target.env.get("LD_LIBRARY_PATH", "")]
    return {**made.env, "LD_LIBRARY_PATH": ":".join(filter(None, paths))}


def limit(program: Mpi, loop: str) -> float | None:
    if loop == "64 in flight":
        return MOST_IN_FLIGHT.get(program.abi, 1.05)
    return MOST_RATIO.get(loop)


def compared(program: Mpi, target: Mpi, launches: int, blocks: int) -> list[str]:
    """Prints a row for each loop; what is above a limit comes back."""
    env = translated_env(program, target)
    native: dict[str, list[float]] = defaultdict(list)
    other: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        own, foreign = build(Path(folder), target), build(Path(folder), program)
        for _ in range(launches):
            for times, found in (
                (native, run(target, own, blocks, {})),
                (other, run(target, foreign, blocks, env)),
            ):
                for loop, values in found.items():
                    times[loop].append(median(values))
    above = []
    pair = f"{program.label} on {target.label}"
    for loop, alone in native.items():
        ratio = median(b / a for a, b in zip(alone, other[loop], strict=True))
        print(ROW.format(pair, loop, median(alone), median(other[loop]), ratio))
        most, added = limit(program, loop), min(other[loop]) - min(alone)
        if most is not None and ratio > most:
            above.append(f"{pair}, {loop}: {ratio:.3f}, the limit is {most}")
        if added > MOST_ADDED_NS.get(loop, float("inf")):
            above.append(f"{pair}, {loop}: {added:.1f} ns more, the limit is 4")
    return above


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--launches", type=int, default=10, help="of each, in turn (10)")
    parser.add_argument("--blocks", type=int, default=100, help="of each loop in a launch (100)")
    parser.add_argument("--quick", action="store_true", help="does it work at all?")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    launches, blocks = (1, 5) if options.quick else (options.launches, options.blocks)
    pairs = [("mpich", "openmpi"), ("openmpi", "mpich"), ("openmpi", "mpich@std")]
    above: list[str] = []
    try:
        print(f"# {common.machine()}\n")
        print(HEADER.format("", "call", "native ns", "translated", "ratio"))
        for program, target in pairs:
            above += compared(find(program), find(target), launches, blocks)
    except UserError as error:
        print(f"translation_cost: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    for line in above:
        print(f"above: {line}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
