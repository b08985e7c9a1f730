#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does a program that makes and frees MPI objects grow or slow down on an MPI of another ABI?

A million of each kind: requests, types, communicators, groups, operations and attributes.

Exit status: 0 within the limits, 1 above one of them, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import common
from translation_cost import translated_env

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.site.launch import Job
from mpigauge.site.mpi import find

PROMISE = "at most 4 MB more than natively; no slow-down beyond 1.5 × its own"
SOURCE = "made_and_freed"
MOST_GROWTH_KB = 4096
"""More than a program of the target's own ABI grows. A million handles that stay are more."""
MOST_SLOWER = 1.5
"""The largest ratio of the last tenth to the first, over that of the target's own ABI."""
PAIRS = (
    ("mpich", "openmpi"),
    ("openmpi", "mpich"),
    ("mpich@std", "openmpi"),
    ("mpich", "mpich@std"),
)
NOTES = """\
grown   kB from the first tenth to the last, of the process
slower  what one takes in the last tenth over what one takes in the first
native  a program of the target's own ABI\
"""
HEADER = "{:<34} {:<14} {:>12} {:>9} {:>14} {:>8}"
ROW = "{:<34} {:<14} {:>12} {:>9} {:>14.2f} {:>8.2f}"


@dataclass(frozen=True)
class Found:
    grown_kb: int
    slower: float


def measured(mpi: Mpi, program: Path, times: int, env: Mapping[str, str]) -> dict[str, Found]:
    return dict(_read(common.printed_by(Job(mpi, 1, (str(program), str(times)), env=env))))


def _read(text: str) -> Iterator[tuple[str, Found]]:
    for line in text.splitlines():
        if len(words := line.split("\t")) == 4:
            yield words[0], Found(int(words[1]), float(words[3]) / float(words[2]))


def above(pair: str, kind: str, native: Found, translated: Found) -> Iterator[str]:
    if (more := translated.grown_kb - native.grown_kb) > MOST_GROWTH_KB:
        yield f"{pair}, {kind}: {more} kB more, the limit is {MOST_GROWTH_KB}"
    if translated.slower > MOST_SLOWER * max(1.0, native.slower):
        yield f"{pair}, {kind}: {translated.slower:.2f} times slower, native {native.slower:.2f}"


def compared(program: Mpi, target: Mpi, times: int) -> Iterator[str]:
    """Prints a row for each kind, and yields what is above a limit."""
    pair = f"{program.label} on {target.label}"
    with tempfile.TemporaryDirectory() as folder:
        own = common.mpi_program(SOURCE, target, Path(folder))
        foreign = common.mpi_program(SOURCE, program, Path(folder))
        native = measured(target, own, times, {})
        translated = measured(target, foreign, times, translated_env(program, target))
    for kind, there in translated.items():
        alone = native[kind]
        print(ROW.format(pair, kind, alone.grown_kb, there.grown_kb, alone.slower, there.slower),
              flush=True)  # fmt: skip
        yield from above(pair, kind, alone, there)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=1_000_000, help="of each kind (1000000)")
    parser.add_argument("--quick", action="store_true", help="does it work at all?")
    options = parser.parse_args(words)
    times = 1000 if options.quick else options.times
    lines: list[str] = []
    try:
        print(f"# {common.machine()}\n# {times} of each kind\n")
        print(HEADER.format("", "kind", "native grown", "grown", "native slower", "slower"))
        for program, target in PAIRS:
            lines += compared(find(program), find(target), times)
    except UserError as error:
        print(f"made_and_freed: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    for line in lines:
        print(f"above: {line}")
    figures = (
        f"{len(lines) or 'nothing'} above a limit, {times} of each kind, {len(PAIRS)} pairs of ABIs"
    )
    return common.conclude(not lines, figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
