# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does anything that one can be given stop a reader, or keep it for a second?

Readers, plan files, limits, hostfiles, topologies, runs and packs get --texts damaged texts, all
together, and what looks into machine code gets --programs damaged files: no exception may come out
of them but our own, and no text of 64 KiB may take a second of processor time. Each finding is kept
as a file with what it did; the same --seed finds the same again.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import common

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fuzzing import (
    LARGE,
    PROGRAMS,
    Target,
    complaint,
    cpu_seconds,
    damaged,
    pumped,
    targets,
)

PROMISE = "no exception but ours, and no text of 64 KiB takes a second"
LONGEST_S = 1.0
MOST_KEPT = 5
"""Findings of one reader, before the next one has its turn."""
QUICK = 20


def findings(target: Target, count: int, seed: int, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yields each failure with its text; prints the number of texts and the longest time."""
    chance, longest = random.Random(f"{seed} {target.name}"), 0.0
    for number in range(count):
        example = chance.choice(target.examples)
        if number % 2:
            text = pumped(example, chance)
        else:
            text = damaged(example, chance, target.examples)[:LARGE]
        start = time.process_time()
        why = complaint(target, text, folder)
        seconds = time.process_time() - start
        if seconds > LONGEST_S:  # others may have used the core
            seconds = min(seconds, *(cpu_seconds(target, text, folder) for _ in range(2)))
        if why or seconds > LONGEST_S:
            yield why or f"takes {seconds:.2f} s", text
        longest = max(longest, seconds)
    print(f"{target.name:<22} {count:>8} texts, the longest took {longest:.3f} s", flush=True)


def look(target: Target, count: int, seed: int, kept: Path) -> int:
    """Returns the number of texts that a target mishandles; keeps each in a file."""
    files: dict[str, Path] = {}
    with tempfile.TemporaryDirectory() as folder:
        for why, text in findings(target, count, seed, Path(folder)):
            kept.mkdir(parents=True, exist_ok=True)
            path = kept / f"{target.name.replace(' ', '-')}-{len(files)}.txt"
            path.write_bytes(text)
            files[why] = path
            print(f"{target.name}: {why[:200]}; the text is in {path}", flush=True)
            if len(files) == MOST_KEPT:
                break
    return len(files)


def counts(texts: int, programs: int, only: str) -> dict[str, int]:
    """The number of texts for each target, by its name. SystemExit: there is no such target."""
    chosen = [name for name in targets() if only in ("", name)]
    if not chosen:
        sys.exit(f"there is no '{only}'; there are {', '.join(targets())}")
    others = [name for name in chosen if name != PROGRAMS]
    shares = {name: -(-texts // len(others)) for name in others}
    return shares | {name: programs for name in chosen if name == PROGRAMS}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=200_000, help="for all of them together")
    parser.add_argument("--programs", type=int, default=2000, help="damaged files of machine code")
    parser.add_argument("--only", default="", help="name of one of them")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--quick", action="store_true", help="only try whether it works")
    given = parser.parse_args()
    text_counts = counts(given.texts, given.programs, given.only)
    if given.quick:
        text_counts = dict.fromkeys(text_counts, QUICK)
    print(f"seed {given.seed}; {sum(text_counts.values())} texts")
    failures = sum(
        look(targets()[name], count, given.seed, given.keep) for name, count in text_counts.items()
    )
    figures = f"{failures or 'no'} findings in {sum(text_counts.values())} texts and programs"
    return common.conclude(not failures, figures)


if __name__ == "__main__":
    raise SystemExit(main())
