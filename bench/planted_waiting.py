#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does a profile tell how long ranks wait, where that is known?

Ranks of tests/profiled/late.cpp, on this machine, come late as they are told, and meet; they note
when they really came, since a rank that is kept from its core is later than it was told. A launch
is right where the time that each rank really had to wait lies within its interval, which is at most
±10 % wide, and no rank is said to wait where none is late. (What is long and rare is disturbance by
the definition of profiles, and taken off the sum of all calls as well.)

Exit status: 0 at least 19 of 20 launches of each row are right, 1 fewer, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import common
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.match.merge import Profile, merged
from mpigauge.products.profile.match.waiting import without_rare
from mpigauge.site.mpi import find
from tests.profiled import build, profiled

CALL_OF = {
    "allreduce": "MPI_Allreduce",
    "alltoall": "MPI_Alltoall",
    "barrier": "MPI_Barrier",
    "bcast": "MPI_Bcast",
    "reduce": "MPI_Reduce",
    "recv": "MPI_Recv",
    "sendrecv": "MPI_Sendrecv",
    "irecv": "MPI_Waitall",
    "waitany": "MPI_Waitany",
    "persistent": "MPI_Waitall",
    "probe": "MPI_Probe",
    "iallreduce": "MPI_Wait",
    "ibcast": "MPI_Wait",
}
PROMISE = "in 19 of 20 launches of each row the waiting is in its interval, at most ±10 % wide"
WIDEST = 0.1
"""Half the interval, of the planted time."""
LEAST_RIGHT = 0.95
NOTES = """\
planted   how long the ranks have to wait in all calls together, as they are told
happened  how long they had to, by when they really came, over what was planted: the median of
          launches
told      the same as the profile says, over what happened: the median of launches
wide      half the interval over what happened: the widest of all launches
right     launches in which what happened is within the interval of each rank, of how many\
"""
HEADER = "{:<11} {:<11} {:<12} {:>5}  {:>9} {:>8} {:>7} {:>7} {:>7}"
ROW = "{:<11} {:<11} {:<12} {:>5}  {:>6.1f} ms {:>8.3f} {:>7.3f} {:>7.1%} {:>7}"


@dataclass(frozen=True)
class Planted:
    """One launch, by rank."""

    planted_s: tuple[float, ...]
    happened_s: tuple[float, ...]
    told_s: tuple[float, ...]
    low_s: tuple[float, ...]
    high_s: tuple[float, ...]
    resolved: tuple[bool, ...]

    @property
    def waiting_ranks(self) -> list[int]:
        return [rank for rank, seconds in enumerate(self.planted_s) if seconds > 0]

    @property
    def is_right(self) -> bool:
        for rank, planted in enumerate(self.planted_s):
            within = self.low_s[rank] <= self.happened_s[rank] <= self.high_s[rank]
            if planted == 0 and self.resolved[rank]:
                return False
            if planted > 0 and not (within and self.wide(rank) <= WIDEST and self.resolved[rank]):
                return False
        return True

    def wide(self, rank: int) -> float:
        return (self.high_s[rank] - self.low_s[rank]) / 2 / self.happened_s[rank]

    def ratio(self, rank: int) -> float:
        return self.told_s[rank] / self.happened_s[rank]

    @property
    def happened(self) -> float:
        """The real wait of the ranks that were to wait, over the planted wait."""
        return sum(self.happened_s[rank] for rank in self.waiting_ranks) / sum(self.planted_s)


def launch(mpi: Mpi, ranks: int, program: Path, words: Sequence[str]) -> Planted:
    with tempfile.TemporaryDirectory() as folder:
        done = profiled(mpi, ranks, [str(program), *words], Path(folder) / "profile")
    if done.status != 0:
        raise UserError(f"{mpi.label}: {done.errors.strip()[-300:]}")
    return compared(merged(done.files), CALL_OF[words[3]], done.output)


def compared(profile: Profile, call: str, output: str) -> Planted:
    """The site that is called deepest is the one in which ranks meet."""
    spots = [number for number, spot in enumerate(profile.spots) if spot.call == call]
    where = max(spots, key=lambda number: len(profile.spots[number].frames))
    rows = profile.waits[profile.waits["site"] == where]
    by_rank = {int(row["rank"]): row for row in rows}
    planted = [float(seconds[0]) for seconds in printed(output, "planted")]
    ranks = range(len(planted))

    def numbers(column: str) -> tuple[float, ...]:
        return tuple(float(by_rank[rank][column]) if rank in by_rank else 0.0 for rank in ranks)

    happened = [
        without_rare(seconds, float(by_rank[rank]["usual_s"]) if rank in by_rank else 0.0)[0]
        for rank, seconds in enumerate(printed(output, "happened"))
    ]
    return Planted(
        tuple(planted),
        tuple(float(each.sum()) for each in happened),
        numbers("waiting_s"),
        numbers("waiting_low_s"),
        numbers("waiting_high_s"),
        tuple(bool(by_rank[rank]["resolved"]) if rank in by_rank else False for rank in ranks),
    )


def printed(output: str, word: str) -> list[npt.NDArray[np.float64]]:
    """Returns the seconds that the program printed after this word, for each rank in order."""
    lines = [line.split() for line in output.splitlines()]
    return [np.array(line[2:], dtype=np.float64) for line in lines if line and line[0] == word]


def cases(late: Sequence[int], whats: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    for what in whats:
        early = "root" if "bcast" in what else "one"
        for microseconds in late:
            for who in (early, "turns", "exponential"):
                yield what, who, microseconds
        yield what, "nobody", 0


def shown(label: str, case: tuple[str, str, int], launches: Sequence[Planted]) -> str:
    what, who, late = case
    right = f"{sum(each.is_right for each in launches)}/{len(launches)}"
    if not launches[0].waiting_ranks:
        return HEADER.format(label, what, who, late, "none", "", "", "", right)
    ratios = [each.ratio(rank) for each in launches for rank in each.waiting_ranks]
    wide = max(each.wide(rank) for each in launches for rank in each.waiting_ranks)
    planted = 1e3 * sum(launches[0].planted_s)
    happened = median(each.happened for each in launches)
    return ROW.format(label, what, who, late, planted, happened, median(ratios), wide, right)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", action="append", help="mpich, openmpi, intel; again for more")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--calls", type=int, default=1000, help="in each launch (1000)")
    parser.add_argument("--rounds", type=int, default=20, help="launches of each row (20)")
    parser.add_argument("--late", default="50,200,1000", help="microseconds (50,200,1000)")
    parser.add_argument("--what", default=",".join(CALL_OF), help="in what they meet (all)")
    parser.add_argument("--quick", action="store_true", help="two launches of a few rows")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    whats = ["allreduce", "recv"] if options.quick else options.what.split(",")
    late = [200] if options.quick else [int(each) for each in options.late.split(",")]
    rounds = 2 if options.quick else options.rounds
    if unknown := [what for what in whats if what not in CALL_OF]:
        print(f"planted_waiting: no {unknown[0]}, only {', '.join(CALL_OF)}", file=sys.stderr)
        return 2
    are_right: list[bool] = []
    print(f"# {common.machine()}\n")
    print(
        HEADER.format(
            "MPI", "meet in", "late", "µs", "planted", "happened", "told", "wide", "right"
        )
    )
    try:
        for name in options.mpi or ["mpich"]:
            mpi = find(name)
            with tempfile.TemporaryDirectory() as folder:
                program = build(mpi, "late.cpp", Path(folder))
                for what, who, microseconds in cases(late, whats):
                    asked = (who, str(options.calls), str(microseconds), what)
                    launches = [launch(mpi, options.ranks, program, asked) for _ in range(rounds)]
                    print(shown(mpi.label, (what, who, microseconds), launches), flush=True)
                    right = sum(each.is_right for each in launches) / rounds
                    are_right.append(right >= LEAST_RIGHT)
    except UserError as error:
        print(f"planted_waiting: {error}", file=sys.stderr)
        return 2
    print(f"\n{NOTES}")
    figures = f"{sum(are_right)} of {len(are_right)} rows right"
    return common.conclude(all(are_right), figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
