# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How often does a trend claim a step where there is none, and find one that is there?

Made-up series, so that nothing is measured; docs/explain/trend.md shows what comes out:

    python bench/false_steps.py
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import common
import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from mpigauge.products.browse.shifts import shifts

Values = NDArray[np.float64]
PROMISE = "a false step in at most 5 % of series whose runs are independent"
SCATTER = 0.02
LENGTHS = (14, 30, 90)
STEPS, STEP_LENGTHS = (0.05, 0.10), (14, 30, 60)
MOST = 0.05
"""The largest share of false steps in series of independent runs: the promise."""
CHANCE = 3.0
"""The tolerance of a share from a number of trials, in standard deviations."""


def groups(share: float, random: Generator, count: int) -> Values:
    """Returns a series with this share of runs in another group, 50 standard deviations away."""
    return (random.random(count) < share) + 0.02 * random.standard_normal(count)


def alike(correlation: float, random: Generator, count: int) -> Values:
    """Neighbours that correlate; long enough on their way when the series begins."""
    values = random.standard_normal(count + 50)
    for place in range(1, len(values)):
        values[place] += correlation * values[place - 1]
    return values[50:]


INDEPENDENT: dict[str, Callable[[Generator, int], Values]] = {
    "normal": lambda random, count: random.standard_normal(count),
    "heavy tails (t with 3 degrees of freedom)": lambda random, count: random.standard_t(3, count),
    "skewed (exponential)": lambda random, count: random.standard_exponential(count),
    "two groups, half of the runs in each": lambda *of: groups(0.5, *of),
    "two groups, one run in five in the other": lambda *of: groups(0.2, *of),
}
DEPENDENT: dict[str, Callable[[Generator, int], Values]] = {
    "neighbours correlate with 0.5": lambda *of: alike(0.5, *of),
    "neighbours correlate with 0.7": lambda *of: alike(0.7, *of),
}


def series(process: Callable[[Generator, int], Values], random: Generator, count: int) -> Values:
    """Around 1, scattering by SCATTER in the long run."""
    spread = float(np.std(process(default_rng(0), 20_000)))
    return np.asarray(np.exp(SCATTER * process(random, count) / spread))


def claimed(process: Callable[[Generator, int], Values], count: int, trials: int) -> float:
    """Returns the share of series of `count` runs with a claimed step, without a tolerance."""
    random = default_rng(count)
    results = (shifts(series(process, random, count).tolist(), 0.0, 0.0) for _ in range(trials))
    return sum(bool(each.steps) for each in results) / trials


def detection_rate(step: float, count: int, trials: int) -> float:
    """Returns the share of series with a step in the middle in which trends detect one."""
    random = default_rng(count)
    behind = np.where(np.arange(count) < count // 2, 1.0, 1.0 + step)
    runs = (series(INDEPENDENT["normal"], random, count) * behind for _ in range(trials))
    return sum(bool(shifts(each.tolist(), 0.0).steps) for each in runs) / trials


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--trials", type=int, default=200, help="of each kind and length")
    options.add_argument("--quick", action="store_true", help="a few, to see that it runs")
    chosen = options.parse_args()
    trials = 3 if chosen.quick else chosen.trials
    most = 0.0
    print(f"| series | {' | '.join(f'{count} runs' for count in LENGTHS)} |")
    for name, process in {**INDEPENDENT, **DEPENDENT}.items():
        shares = [claimed(process, count, trials) for count in LENGTHS]
        most = max([most, *(shares if name in INDEPENDENT else ())])
        print(f"| {name} | {' | '.join(f'{share:.0%}' for share in shares)} |", flush=True)
    for step in STEPS:
        shares = [detection_rate(step, count, trials) for count in STEP_LENGTHS]
        words = (f"{s:.0%} with {n}" for s, n in zip(shares, STEP_LENGTHS, strict=True))
        print(f"steps of {step:.0%} are found: {', '.join(words)} runs")
    is_kept = most <= MOST + CHANCE * (MOST * (1 - MOST) / trials) ** 0.5
    status = common.conclude(is_kept, f"false steps in at most {most:.0%} of independent series")
    return 0 if chosen.quick else status


if __name__ == "__main__":
    sys.exit(main())
