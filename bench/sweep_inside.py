# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Whether settings written while the MPI runs have the effect that they have from its start.

Sweeps one setting of known effect both ways, in turn, and prints the ratio to the default of each:

    .venv/bin/python bench/sweep_inside.py --rounds 3
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from mpigauge.cli.comparing import sides_within
from mpigauge.result.compare.compare import compare
from mpigauge.runs.store import load

CASES = (
    ("mpich", "PingPong", "64Ki", "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD=262144", ()),
    ("mpich", "Allreduce", "8", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling",
     ("--set", "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE=0")),
    ("mpich", "Allreduce", "8", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=ring",
     ("--set", "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE=0")),
    ("openmpi", "Allreduce", "8", "coll_tuned_allreduce_algorithm=4",
     ("--set", "coll_tuned_use_dynamic_rules=1")),
)  # fmt: skip


def ratio_of(case: tuple[str, str, str, str, tuple[str, ...]], more: list[str]) -> str:
    """The ratio of the arm to the default, with its interval."""
    mpi, benchmark, size, vary, base = case
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        words = ["sweep", benchmark, "--sizes", size, "--ranks", "2", "--mpi", mpi, "--vary", vary]
        words += ["--launches", "6", "--output", str(out), *base, *more]
        program = [sys.executable, "-c", "from mpigauge.cli import main; main()"]
        subprocess.run([*program, *words], check=True, capture_output=True)
        comparison = compare(sides_within(load(out), "arm"), 0.05, "arm", curves=False)
    ratio = comparison.tables[0].lines[0][comparison.names.index(vary)].ratio
    assert ratio is not None
    value = ratio.estimate
    return f"{value.value:.2f} ({value.low:.2f}-{value.high:.2f})"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=3, help="of each case")
    options.add_argument("--quick", action="store_true", help="one round, to see that it runs")
    chosen = options.parse_args()
    rounds = 1 if chosen.quick else chosen.rounds
    for case in CASES:
        print(f"{case[0]} {case[1]} {case[2]} B {case[3]}")
        for number in range(1, rounds + 1):
            print(f"  {number}: while it runs {ratio_of(case, [])}, ", end="", flush=True)
            print(f"from the start {ratio_of(case, ['--relaunch'])}", flush=True)


if __name__ == "__main__":
    main()
