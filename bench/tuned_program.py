#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does a program spend less time in MPI with what `mpigauge tune --for` has chosen for it?

The program (data_parallel.py, on mpi4py) sums gradients over two ranks, of one size after the
other. It is profiled, tuned for, and launched with the tuning and without in turn, as a user does
it; what is printed is the verdict of `tune` on the program itself.

Exit status: 0 on one MPI at least its time in MPI falls by 15 % or more with certainty, 1 on none,
2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import common
from mpi4py_suite import VARIANTS, fetched

from mpigauge.model.errors import UserError
from mpigauge.runs.store.tuned_rules import Evidence
from mpigauge.runs.store.tunings import load_tuning
from mpigauge.site.mpi import find

PROMISE = "on one MPI at least its time in MPI falls by 15 % or more with certainty"
PROGRAM = Path(__file__).with_name("data_parallel.py")
LESS = 0.85
"""The upper limit of time in MPI with the tuning over without, for its whole interval."""
STEPS = 20000
NOTES = """\
run     how long the program runs with the tuning, over without: a 95 % interval of launches in turn
in MPI  the same of its time in MPI\
"""
HEADER = "{:<9} {:>8}  {:>12}  {:>12}  {}"


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    print(f"# {common.machine()}\n")
    print(HEADER.format("MPI", "weights", "run", "in MPI", "by"))
    shares: dict[str, Evidence] = {}
    try:
        packages = fetched(()).packages
        for mpi in options.mpi or ["mpich"]:
            for weights in options.weights.split(","):
                share = tuned(mpi, int(weights), packages, options.steps)
                shares |= {f"{mpi} {weights}": share} if share else {}
    except UserError as error:
        print(f"tuned_program: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    figures = [f"{name} {_interval(share)} of its time" for name, share in shares.items()]
    is_kept = any(share.high <= LESS for share in shares.values())
    return common.conclude(is_kept, ", ".join(figures) or "the defaults stay")


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", action="append", help="mpich, openmpi, intel; again for more")
    parser.add_argument("--weights", default="2048,16384,65536", help="(2048,16384,65536)")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"of the program ({STEPS})")
    parser.add_argument("--quick", action="store_true", help="one size, few steps")
    options = parser.parse_args(words)
    if options.quick:
        options.weights, options.steps = "2048", 2000
    return options


def tuned(mpi: str, weights: int, packages: Path, steps: int) -> Evidence | None:
    """Prints a row, and returns the time in MPI with the tuning over that without, if there is a
    tuning. UserError: a command fails."""
    here = find(mpi)
    env = {
        **os.environ,
        "PYTHONPATH": str(packages),
        "OPENBLAS_NUM_THREADS": "1",
        "MPI4PY_MPIABI": VARIANTS[here.abi],
        "MPI4PY_LIBMPI": str(here.library),
    }
    program = [sys.executable, str(PROGRAM), str(weights), str(steps)]
    with tempfile.TemporaryDirectory() as folder:
        where = ["--mpi", mpi, "--np", "2", "--place", "compact"]
        common.run_mpigauge(
            "profile", *where, "--output", "before", "--", *program, folder=Path(folder), env=env
        )
        tune = ("tune", "--for", "before", "--p2p", "--output", "tuned")
        common.run_mpigauge(*tune, folder=Path(folder), env=env)
        tuning = load_tuning(Path(folder) / "tuned")
    settings = [f"{name}={value}" for name, value in tuning.message_settings.items()]
    rules = [f"{each.rule.collective} by {each.rule.candidate}" for each in tuning.rules]
    by = ", ".join(settings + rules) or "nothing: the default stays"
    if tuning.trial is None:
        print(HEADER.format(mpi, weights, "", "", by), flush=True)
        return None
    run, inside = tuning.trial.run_time, tuning.trial.mpi_time
    print(HEADER.format(mpi, weights, _interval(run), _interval(inside), by), flush=True)
    return inside


def _interval(ratio: Evidence) -> str:
    return f"{ratio.low:.2f} to {ratio.high:.2f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
