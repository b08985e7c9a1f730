#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What does it cost a program to run on an MPI of another ABI than its own?

Another translation, such as Wi4MPI, is measured beside ours where it is given as the command that
programs are started by: `--beside "/opt/wi4mpi/bin/wi4mpi -f {program} -t {target}"`. Ours has to
add less in every loop, and a third of it at most to MPI_Sendrecv.

Exit status: 0 within the limits, 1 above one of them, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import common

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.site.launch import Job
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make.translation import translation

PROMISE = "PingPong 1.02 ×; 64 messages in flight 1.05 ×, from MPICH 1.10 ×; MPI_Iprobe 4 ns more"
SOURCE = "translation_cost"
MOST_ADDED_NS = {"Iprobe": 4.0}
MOST_RATIO = {"PingPong 8 B": 1.02}
MOST_OF_OTHER = {"Sendrecv to itself": 1 / 3}
"""The largest share of the time that another translation adds to a call; default: 1."""
MOST_IN_FLIGHT = {"mpich": 1.10}
"""The largest ratio with integer handles in the program and pointers in the target; else 1.05."""
NOTES = """\
native      a program of the target's own ABI, ns of a call; half a round trip; a message of 64
translated  the same source built for another ABI; launches of both in turn
ratio       the median over launches of the ratio of the medians of blocks\
"""
HEADER = "{:<34} {:<20} {:>10} {:>11} {:>7}"
ROW = "{:<34} {:<20} {:>10.1f} {:>11.1f} {:>7.3f}"
Blocks = Mapping[str, Sequence[float]]
Times = Mapping[str, list[float]]
"""The times of each launch, by loop."""


def run(
    mpi: Mpi, program: Path, blocks: int, env: Mapping[str, str], before: Sequence[str] = ()
) -> Blocks:
    """`before`: a command that starts the program."""
    return read(common.printed_by(Job(mpi, 2, (*before, str(program), str(blocks)), env=env)))


def read(text: str) -> Blocks:
    times: dict[str, list[float]] = defaultdict(list)
    for line in text.splitlines():
        name, tab, value = line.partition("\t")
        if tab:
            times[name].append(float(value))
    return times


def translated_env(program: Mpi, target: Mpi) -> dict[str, str]:
    made = translation(program.abi, target, print)
    paths = [str(made.folder), target.env.get("LD_LIBRARY_PATH", "")]
    return {**made.env, "LD_LIBRARY_PATH": ":".join(filter(None, paths))}


def limit(program: Mpi, loop: str) -> float | None:
    if loop == "64 in flight":
        return MOST_IN_FLIGHT.get(program.abi, 1.05)
    return MOST_RATIO.get(loop)


def compared(
    program: Mpi, target: Mpi, launches: int, blocks: int, beside: Sequence[str]
) -> list[str]:
    """Prints a row for each loop, and returns what is above a limit. `beside`: the command of
    another translation; empty: none."""
    env = translated_env(program, target)
    native: dict[str, list[float]] = defaultdict(list)
    other: dict[str, list[float]] = defaultdict(list)
    third: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        own, foreign = (common.mpi_program(SOURCE, mpi, Path(folder)) for mpi in (target, program))
        ways: list[tuple[dict[str, list[float]], Path, Mapping[str, str], Sequence[str]]] = [
            (native, own, {}, ()),
            (other, foreign, env, ()),
        ]
        if beside:
            ways.append((third, foreign, {}, beside))
        for _ in range(launches):
            for times, started, variables, before in ways:
                for loop, values in run(target, started, blocks, variables, before).items():
                    times[loop].append(median(values))
    above = []
    pair = f"{program.label} on {target.label}"
    if beside:
        above += beside_ours(pair, beside, native, other, third)
    for loop, alone in native.items():
        ratio = median(b / a for a, b in zip(alone, other[loop], strict=True))
        print(ROW.format(pair, loop, median(alone), median(other[loop]), ratio))
        most, added = limit(program, loop), min(other[loop]) - min(alone)
        if most is not None and ratio > most:
            above.append(f"{pair}, {loop}: {ratio:.3f}, the limit is {most}")
        if added > MOST_ADDED_NS.get(loop, float("inf")):
            above.append(f"{pair}, {loop}: {added:.1f} ns more, the limit is 4")
    return above


def beside_ours(
    pair: str, beside: Sequence[str], native: Times, ours: Times, theirs: Times
) -> list[str]:
    """Prints a row for each loop of another translation; where ours adds too much comes back."""
    above = []
    name = f"{pair} by {Path(beside[0]).name}"
    for loop, alone in native.items():
        ratio = median(b / a for a, b in zip(alone, theirs[loop], strict=True))
        print(ROW.format(name, loop, median(alone), median(theirs[loop]), ratio))
        added, most = (min(each[loop]) - min(alone) for each in (ours, theirs))
        share = MOST_OF_OTHER.get(loop, 1.0)
        if added > most * share:
            above.append(f"{name}, {loop}: ours adds {added:.1f} ns to a call, it {most:.1f} ns")
    return above


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--launches", type=int, default=10, help="of each, in turn (10)")
    parser.add_argument("--blocks", type=int, default=100, help="of each loop in a launch (100)")
    parser.add_argument("--beside", default="", help="the command of another translation (none)")
    parser.add_argument("--quick", action="store_true", help="does it work at all?")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    launches, blocks = (1, 5) if options.quick else (options.launches, options.blocks)
    pairs = [("mpich", "openmpi"), ("openmpi", "mpich"), ("openmpi", "mpich@std")]
    above: list[str] = []
    try:
        print(f"# {common.machine()}\n")
        if not options.beside:
            print("No other translation is measured: --beside names none.\n")
        print(HEADER.format("", "call", "native ns", "translated", "ratio"))
        for program, target in pairs:
            named = options.beside.replace("{program}", program).replace("{target}", target)
            beside = [] if "@" in target else shlex.split(named)
            above += compared(find(program), find(target), launches, blocks, beside)
    except UserError as error:
        print(f"translation_cost: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    for line in above:
        print(f"above: {line}")
    figures = f"{len(above) or 'nothing'} above a limit, {len(pairs)} pairs of ABIs"
    return common.conclude(not above, figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
