# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does anything that one can be given stop a reader, or keep it for a second?

Readers, plan files, limits, hostfiles, topologies, runs and packs get damaged texts, as many as fit
into --minutes: no exception may come out of them but our own, and no text of 64 KiB may take
a second of processor time. Each finding is kept as a file with what it did; the same --seed finds
the same again.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fuzzing import LARGE, Target, complaint, cpu_seconds, damaged, pumped, targets

LONGEST_S = 1.0
MOST_KEPT = 5
"""Of one reader, before the next one has its turn."""


def findings(
    target: Target, seconds: float, seed: int, folder: Path
) -> Iterator[tuple[str, bytes]]:
    """What went wrong, and with which text; at the end, what did not."""
    chance, tried, longest = random.Random(f"{seed} {target.name}"), 0, 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        example = chance.choice(target.examples)
        if tried % 2:
            text = pumped(example, chance)
        else:
            text = damaged(example, chance, target.examples)[:LARGE]
        tried += 1
        if why := complaint(target, text, folder):
            yield why, text
            continue
        took = cpu_seconds(target, text, folder)
        if took > LONGEST_S:  # others may have used the core
            took = min(took, *(cpu_seconds(target, text, folder) for _ in range(2)))
        if took > LONGEST_S:
            yield f"takes {took:.2f} s", text
        longest = max(longest, took)
    print(f"{target.name:<22} {tried:>8} texts, the longest took {longest:.3f} s", flush=True)


def look(target: Target, seconds: float, seed: int, kept: Path) -> int:
    """How many texts did what they should not; each is kept."""
    found: dict[str, Path] = {}
    with tempfile.TemporaryDirectory() as folder:
        for why, text in findings(target, seconds, seed, Path(folder)):
            kept.mkdir(parents=True, exist_ok=True)
            path = kept / f"{target.name.replace(' ', '-')}-{len(found)}.txt"
            path.write_bytes(text)
            found[why] = path
            print(f"{target.name}: {why[:200]}; the text is in {path}", flush=True)
            if len(found) == MOST_KEPT:
                break
    return len(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="for all of them together")
    parser.add_argument("--only", default="", help="name of one of them")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--quick", action="store_true", help="only try whether it works")
    given = parser.parse_args()
    chosen = [each for name, each in targets().items() if given.only in ("", name)]
    if not chosen:
        parser.error(f"there is no '{given.only}'; there are {', '.join(targets())}")
    seconds = 0.5 if given.quick else given.minutes * 60 / len(chosen)
    print(f"seed {given.seed}; {seconds:.1f} s for each")
    found = sum(look(each, seconds, given.seed, given.keep) for each in chosen)
    print(f"{found} findings" if found else "nothing was found")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
