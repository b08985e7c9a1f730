#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How much processor time does an edit of one kernel cost until its row is there?

In a copy of this tree, with a cache of its own, a comment is added to a kernel file, and
`mpigauge run` measures one cell in one launch. CPU seconds are those of the whole command and its
children: the build, Python, and the ranks. The first build of the empty cache is shown beside it.

Exit status: 0 no edit costs more than the limit, 1 one does, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import common

from mpigauge.model.errors import UserError
from mpigauge.site.mpi.make import SOURCES, source_folder

PROMISE = "at most 15 s of processor time"
LIMIT_S = 15.0
EDITED = (
    "kernels/suites/p2p/pingpong.cpp",
    "kernels/suites/collectives/allreduce.cpp",
    "kernels/driver/adaptive.cpp",
)
MEASURE = ("run", "PingPong", "--sizes", "8", "--launches", "1", "--in", "1s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", default="mpich", help="the MPI to build for (mpich)")
    parser.add_argument(
        "--quick", action="store_true", help="edit one file only, after a first build with ccache"
    )
    given = parser.parse_args()
    print(common.machine())
    try:
        with tempfile.TemporaryDirectory() as folder:
            costs = measure(Path(folder), given.mpi, given.quick)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return report(costs)


def measure(folder: Path, mpi: str, quick: bool) -> dict[str, float]:
    """Returns the CPU seconds of the first run of a copy of the tree, and of a run per edit."""
    edits = EDITED[:1] if quick else EDITED
    tree = folder / "tree"
    copy_tree(tree)
    env = os.environ | {"PYTHONPATH": str(tree / "src"), "MPIGAUGE_CACHE": str(folder / "cache")}
    uncached = env | {"CCACHE_DISABLE": "1"}  # a comment changes nothing that ccache looks at
    words = [sys.executable, "-c", "from mpigauge.cli import main; main()", *MEASURE, "--mpi", mpi]

    def measured(env: dict[str, str]) -> float:
        return cpu_seconds([*words, "--output", tempfile.mkdtemp(dir=folder)], env)

    costs = {"everything": measured(env if quick else uncached)}
    for name in edits:
        with (tree / name).open("a") as file:
            file.write("// An edit.\n")
        costs[name] = measured(uncached)
    costs["nothing"] = measured(uncached)
    return costs


def copy_tree(tree: Path) -> None:
    """The kernels' sources and the package beside them, as in the repository."""
    place = source_folder()
    for name in SOURCES:
        copy = shutil.copytree if (place / name).is_dir() else shutil.copy2
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        copy(place / name, tree / name)
    import mpigauge

    package = Path(mpigauge.__file__).parent
    shutil.copytree(
        package, tree / "src" / "mpigauge", ignore=shutil.ignore_patterns("__pycache__")
    )


def cpu_seconds(words: list[str], env: dict[str, str]) -> float:
    """User and system time of a command and all that it waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise UserError(f"`{' '.join(words)}` failed: {done.stderr.strip()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(costs: dict[str, float]) -> int:
    """Prints the table, and returns the exit status."""
    print(f"{'edited':<40}{'CPU s to the row':>18}")
    for name, seconds in costs.items():
        print(f"{name:<40}{seconds:>18.1f}")
    edits = [seconds for name, seconds in costs.items() if name != "everything"]
    return common.conclude(max(edits) <= LIMIT_S, f"at most {max(edits):.1f} s for an edit")


if __name__ == "__main__":
    sys.exit(main())
