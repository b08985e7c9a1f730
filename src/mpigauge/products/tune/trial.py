# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Measures the gain of a program by the rules, from alternating launches with and without."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.products.tune.decide.choose import judge
from mpigauge.products.tune.decide.grid import DEFAULT, grid_of
from mpigauge.products.tune.plan import TUNED
from mpigauge.products.tune.result import evidence
from mpigauge.runs.store.tuned_rules import Evidence
from mpigauge.runs.store.tunings import ProgramTrial

ROUNDS = 10
"""The number of rounds, each with a launch with the rules and one without."""
_WHOLE = 0
"""The placeholder for a message size."""
Times = tuple[float, float]
"""The run time of one launch, and the time of its ranks in MPI, in seconds."""


def trial_of(command: str, default: Sequence[Times], tuned: Sequence[Times]) -> ProgramTrial:
    """Returns the trial of a program, from its launches in the same rounds."""
    run_time, mpi_time = (
        _ratio([each[of] for each in default], [each[of] for each in tuned]) for of in (0, 1)
    )
    return ProgramTrial(command, run_time, mpi_time)


def _ratio(default: Sequence[float], tuned: Sequence[float]) -> Evidence:
    times = {(DEFAULT, _WHOLE, number): seconds for number, seconds in enumerate(default)}
    times |= {(TUNED, _WHOLE, number): seconds for number, seconds in enumerate(tuned)}
    grid = grid_of(times, [_WHOLE], [TUNED])
    (stretch,) = judge(grid, [(TUNED, [_WHOLE])])
    return evidence(stretch)
