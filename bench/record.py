# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs a program of this folder, and stores its result for the table of README.md.

    python bench/record.py start_up --rounds 15

The output of the program passes through. What is stored, in results/NAME.json, is its last line
(kept, MISSED or UNDECIDED, and the figures) with the command, the date, the commit and the machine,
in place of the last result of the same command. Nothing is stored of a run that could not be tried.

Exit status: that of the program; 2 also where there is nothing to store.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import common

from mpigauge.model.errors import did_you_mean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import bench_page
from tools.acceptance import commit

LAST_LINE = re.compile(rf"({'|'.join(common.VERDICTS)}): (.+)")


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", metavar="NAME", help="of the program, without .py")
    parser.add_argument("words", metavar="...", nargs=argparse.REMAINDER, help="its options")
    given = parser.parse_args(words)
    names = [program.name for program in bench_page.programs(common.HERE)]
    if given.name not in names:
        parser.error(f"NAME: there is no '{given.name}'{did_you_mean(given.name, names)}")
    if "--quick" in given.words:
        parser.error(f"--quick: {given.name} would only be tried; leave it out to store a result")
    conditions = common.machine()
    status, last = passed_through([str(common.HERE / f"{given.name}.py"), *given.words])
    line = LAST_LINE.fullmatch(last)
    if status not in (0, 1) or line is None:
        print(f"record: {given.name} ended with status {status}, {'and' if line else 'without'} a "
              "result; nothing is stored", file=sys.stderr)  # fmt: skip
        return status or 2
    bench_page.store(
        given.name,
        bench_page.Result(
            command=shlex.join(["python", f"bench/{given.name}.py", *given.words]),
            date=f"{datetime.now(timezone.utc):%Y-%m-%d}",
            commit=commit(),
            machine=conditions,
            verdict=line[1],
            figures=line[2],
        ),
        common.HERE,
    )
    bench_page.write(common.HERE)
    return status


def passed_through(words: Sequence[str]) -> tuple[int, str]:
    """Runs a program of Python, prints its output as it comes, and returns its status and its last
    line."""
    last = ""
    with subprocess.Popen(
        [sys.executable, "-u", *words], stdout=subprocess.PIPE, text=True, errors="replace"
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return child.returncode, last


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
