# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Divides the time of --time among the runs of a tuning.

Each run gets a share of the time that is left, so that one that takes longer shortens the later
ones. Correctness tests are never cut short, but for launches of single candidates, which have the
time left and at least two minutes. Time is kept for the program itself at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

SHARES = {
    "p2p": 0.15,
    "p2p-trial": 0.05,
    "p2p-finalists": 0.2,
    "p2p-confirm": 0.25,
    "screen": 0.15,
    "grid": 0.5,
    "refine": 0.1,
    "confirm": 0.6,
    "beyond": 0.5,
}
"""The share of the time left for each kind of run; other kinds are correctness tests."""
TESTS = "right-alone"
"""The kind of run that tests each candidate in launches of its own."""
LEAST_TESTS_S = 120.0
"""The least time for it. Usual launches take a fraction of a second, and those of hundreds of ranks
that share cores a minute or two."""
LEAST_S = 1.0
"""The least time of a run that may be cut short."""
START_S = 1.0
"""The time of a launch besides its measurements and its program."""
LEAST_POINTS = 4
LEAST_ROUNDS = 6
"""The fewest launches of the program with and without rules for a verdict."""
MOST_KEPT = 0.4
"""The largest share of the whole time that is kept for the program itself."""


@dataclass
class TimeBudget:
    """The time of one call of `tune`."""

    whole_s: float
    program_s: float = 0.0
    """The run time of the program that is tried at the end; 0: none is."""
    clock: Callable[[], float] = time.monotonic
    started_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Starts the time again, after kernels are built."""
        self.started_s = self.clock()

    @property
    def left_s(self) -> float:
        return max(self.whole_s - (self.clock() - self.started_s), 0.0)

    @property
    def kept_s(self) -> float:
        """The time that is kept for the program itself."""
        if not self.program_s:
            return 0.0
        return min(2 * LEAST_ROUNDS * (self.program_s + START_S), MOST_KEPT * self.whole_s)

    def share_s(self, kind: str) -> float | None:
        """Returns the time for a run of this kind; None: it is never cut short."""
        if kind == TESTS:
            return max(self.left_s - self.kept_s, LEAST_TESTS_S)
        if kind not in SHARES:
            return None
        return max(SHARES[kind] * (self.left_s - self.kept_s), LEAST_S)

    def points(self, launches: int) -> int:
        """Returns how many combinations of settings the first step of a search can measure, by the
        whole time, so that a resumed search measures the same. `launches`: of each of them."""
        share_s = SHARES["p2p"] * (self.whole_s - self.kept_s)
        return max(int(share_s / (launches * START_S)), LEAST_POINTS)

    def rounds(self, most: int) -> int:
        """Returns how often the program can be launched with the rules and without."""
        affordable = int(self.left_s / (2 * (self.program_s + START_S)))
        return min(max(affordable, 2), most)
