# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Searches settings by trials with Optuna.

Optuna's tree-structured Parzen estimator (J. Bergstra, 2011) supports settings that only have an
effect with some values of others. Every trial is a run of its own, which is kept. The same seed and
runs lead to the same points, so that an interrupted search can be resumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.units import settings_in_words
from mpigauge.products.tune.decide.spaces import Point, drawn_point

if TYPE_CHECKING:
    from mpigauge.products.tune.decide.spaces import SpaceSetting


def tried_points(
    space: Sequence[SpaceSetting],
    cost: Callable[[int, Point], float],
    trials: int,
    seed: int,
) -> list[tuple[Point, float]]:
    """Returns each point that was tried, once, with its cost; without the default, whose cost is 0.
    `cost` takes the number of the trial, from 1, and the point, and is called once per point.
    Infinite: the point cannot be measured."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(sampler=sampler)
    costs: dict[str, float] = {"": 0.0}
    results: list[tuple[Point, float]] = []
    for number in range(1, trials + 1):
        trial = study.ask()
        point = drawn_point(space, trial.suggest_categorical)
        words = settings_in_words(point)
        if words not in costs:
            costs[words] = cost(number, point)
            results.append((point, costs[words]))
        if math.isfinite(costs[words]):
            study.tell(trial, costs[words])
        else:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return results
