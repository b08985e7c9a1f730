# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A search of settings by trials, each where those before it make gains likely, with Optuna.

Optuna's tree-structured Parzen estimator (J. Bergstra, 2011) knows settings that only have an
effect beside values of others. Every trial is a run of its own, which is kept; with the same seed
and the same runs the same points are chosen again, so that an interrupted search goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.units import settings_in_words
from mpigauge.site.mpi.settings.spaces import Point, drawn_point

if TYPE_CHECKING:
    from mpigauge.site.mpi.settings.spaces import SpaceSetting


def tried_points(
    space: Sequence[SpaceSetting],
    cost: Callable[[int, Point], float],
    trials: int,
    seed: int,
) -> list[tuple[Point, float]]:
    """Each point that trials have come to, once, with its cost; the default, which costs nothing,
    is not among them. `cost` takes the number of the trial, from 1 on, and the point; it is not
    asked again for a point that it knows. Infinite: the point cannot be measured."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(sampler=sampler)
    known: dict[str, float] = {"": 0.0}
    found: list[tuple[Point, float]] = []
    for number in range(1, trials + 1):
        trial = study.ask()
        point = drawn_point(space, trial.suggest_categorical)
        words = settings_in_words(point)
        if words not in known:
            known[words] = cost(number, point)
            found.append((point, known[words]))
        if math.isfinite(known[words]):
            study.tell(trial, known[words])
        else:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return found
