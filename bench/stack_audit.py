#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Is every stack that the profiler knows again the one that the compiler's own way finds?

Builds profiler/tests/stacks.cpp, which draws trees of calls with frames of every kind, and compares
at each leaf.

Exit status: 0 no stack is wrong, 1 one is, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import common

PROMISE = "no wrong stack in a million"
PROFILER = Path(__file__).resolve().parents[1] / "profiler"


def built(folder: Path) -> Path:
    """The program that compares."""
    configure = ["cmake", "-S", str(PROFILER), "-B", str(folder), "-DMPIGAUGE_TESTS=ON"]
    make = ["cmake", "--build", str(folder), "--target", "profiler_stacks"]
    for words in (configure, [*make, "--parallel", str(os.cpu_count() or 1)]):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return folder / "tests" / "profiler_stacks"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=1_000_000, help="stacks to compare (10^6)")
    parser.add_argument("--quick", action="store_true", help="10 000: does it work at all?")
    options = parser.parse_args(words)
    calls = 10_000 if options.quick else options.calls
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = built(Path(folder))
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"stack_audit: {error}", file=sys.stderr)
            return 2
        done = subprocess.run([program, str(calls)], check=False)
    is_kept = done.returncode == 0
    return common.conclude(is_kept, f"{'no' if is_kept else 'a'} wrong stack in {calls}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
