# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a program gains by the rules, from launches of it with them and without in turn."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.features.tune.plan import TUNED
from mpigauge.features.tune.result import evidence
from mpigauge.result.tuning.choose import judge
from mpigauge.result.tuning.grid import DEFAULT, grid_of
from mpigauge.runs.store.tunings import Evidence, ProgramTrial

ROUNDS = 10
"""Each with a launch of both."""
_WHOLE = 0
"""In the place of a message size."""
Times = tuple[float, float]
"""Of one launch: how long it ran, and how long its ranks were in MPI."""


def trial_of(command: str, default: Sequence[Times], tuned: Sequence[Times]) -> ProgramTrial:
    """The trial of a program, from the launches of as many rounds."""
    run_time, mpi_time = (
        _ratio([each[of] for each in default], [each[of] for each in tuned]) for of in (0, 1)
    )
    return ProgramTrial(command, run_time, mpi_time)


def _ratio(default: Sequence[float], tuned: Sequence[float]) -> Evidence:
    times = {(DEFAULT, _WHOLE, number): seconds for number, seconds in enumerate(default)}
    times |= {(TUNED, _WHOLE, number): seconds for number, seconds in enumerate(tuned)}
    grid = grid_of(times, [_WHOLE], [TUNED])
    (found,) = judge(grid, [(TUNED, [_WHOLE])], picked_from=1)
    return evidence(found)
