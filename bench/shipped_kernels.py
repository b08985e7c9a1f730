# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Whether the kernels of a wheel measure the same times as those that are built here.

    python bench/shipped_kernels.py build/shipped/x86_64/_shipped --mpi mpich --rounds 12

Prints the ratios, shipped by built (bench/sides.py). Exit status 1 if they are not equal.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import common
from sides import Side, are_equal, measure_in_turn

from mpigauge.runs.store import Run
from mpigauge.site.mpi import find
from mpigauge.site.mpi.build import sources_digest
from mpigauge.site.mpi.kernel_places import BUILT, VARIABLE, name_of


@dataclass(frozen=True)
class Kernels(Side):
    built_here: bool = False

    def run(self, mpi: str, folder: Path) -> Run:
        """SystemExit: kernels of the other side ran."""
        run = super().run(mpi, folder)
        origin = run.passport["kernels"]["origin"]
        if self.built_here != (origin == "built here"):
            raise SystemExit(f"the {self.name} kernels were to run, but those {origin} did")
        return run


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("shipped", type=Path, help="what tools/shipped.py has filled")
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--quick", action="store_true", help="two rounds, to see whether it works")
    given = parser.parse_args(arguments)
    if not (given.shipped / "kernels").is_dir():
        print(f"{given.shipped} has no kernels; `make wheel` fills such a folder", file=sys.stderr)
        return 2
    rounds = 2 if given.quick else given.rounds
    print(f"{common.machine()}; {rounds} rounds of {given.mpi}")
    with TemporaryDirectory() as folder:
        site = as_site(given.shipped, given.mpi, Path(folder))
        shipped = Kernels("shipped", env={VARIABLE: str(site)})
        built = Kernels("built", env={VARIABLE: BUILT}, built_here=True)
        ratios = measure_in_turn((shipped, built), given.mpi, rounds)
    return 0 if are_equal(ratios) else 1


def as_site(shipped: Path, spec: str, folder: Path) -> Path:
    """Lays out the kernels of the wheel as those of a site, which a clone also uses."""
    mpi = find(spec)
    site = folder / "site"
    site.mkdir()
    kernels = (shipped / "kernels" / mpi.abi).absolute()
    (site / name_of(mpi.abi, sources_digest())).symlink_to(kernels)
    return site


if __name__ == "__main__":
    sys.exit(main())
