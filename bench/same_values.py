# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks that what makes runs shorter leaves measured values as they are.

    python bench/same_values.py overlap --mpi mpich
    python bench/same_values.py noise --mpi mpich
    python bench/same_values.py quick-start --mpi openmpi

overlap: bookkeeping while the next launch starts, against bookkeeping between launches. noise: only
some launches sample the noise of their cores, against all. quick-start: Open MPI 5 without btl/ofi,
against all its BTLs. Prints the ratios (bench/sides.py). Exit status 1 if they are not equal.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import common

AS_IT_IS = "as it is"
OTHERS = {
    "overlap": Side(
        "between launches",
        prelude="from mpigauge.measuring.campaign.backlog import Backlog\n"
        "Backlog.add = lambda self, task: task()",
    ),
    "noise": Side(
        "all launches sample",
        prelude="from mpigauge.measuring.campaign.noise_samples import NoiseSamples\n"
        "NoiseSamples.words_for = lambda self, number, is_last: ''",
    ),
    "quick-start": Side("all BTLs", ("--set", "btl=self,sm,tcp,uct,ofi")),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=OTHERS)
    parser.add_argument("--mpi", help="by default mpich, for quick-start openmpi")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--quick", action="store_true", help="two rounds, to see whether it works")
    given = parser.parse_args(arguments)
    mpi = given.mpi or ("openmpi" if given.what == "quick-start" else "mpich")
    rounds = 2 if given.quick else given.rounds
    print(f"{common.machine()}; {given.what}, {rounds} rounds of {mpi}")
    return 0 if are_equal(measure_in_turn((Side(AS_IT_IS), OTHERS[given.what]), mpi, rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
