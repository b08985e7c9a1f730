# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How long a map takes on a node of 2 × 64 cores, simulated: the sampling of the kernels on
recorded times, in the rounds that `--pairs all` makes."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mpigauge.measuring.campaign.cost import ROUND_S
from mpigauge.measuring.plan.schedule import schedule
from tests.replay.test_coverage import TRACES, replay

__all__ = ["replay"]

CORES = 128
SCHEDULE = schedule("all", CORES)
SIZES = {"8B": 8, "1MiB": 1 << 20}
CALLS = 30
"""Of a visit: 20 samples, and more than enough for those that warm up."""
DRAWS = 400
LIMIT_S = 120.0


def pair_seconds(replay: Path, trace: Path, size: int, folder: Path) -> list[float]:
    """What pairs take until ±5 % or their own budget, each from another moment of the trace."""
    with np.load(trace) as data:
        calls = 2 * data["half_round_trip_ns"]
    file = folder / trace.stem
    calls.astype("<u4").tofile(file)
    words = [str(replay), str(file), str(size), "0.05", str(DRAWS), "1"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rounds = [int(line.split()[3]) for line in done.stdout.splitlines()]
    return [count * CALLS * float(np.mean(calls)) * 1e-9 for count in rounds]


@pytest.mark.parametrize("machine", ["quiet", "busy"])
def test_two_sockets_of_64_cores_take_under_two_minutes(
    replay: Path, tmp_path: Path, machine: str
) -> None:
    """A round lasts until the slowest of its 64 pairs knows enough, at each size."""
    each = [
        pair_seconds(replay, TRACES / f"{machine}-{name}.npz", size, tmp_path)
        for name, size in SIZES.items()
    ]
    draw = random.Random(1)
    rounds = [
        ROUND_S + sum(max(draw.choices(seconds, k=SCHEDULE.together)) for seconds in each)
        for _ in range(SCHEDULE.rounds)
    ]
    print(f"{machine}: {sum(rounds):.0f} s, a round {min(rounds):.2f} to {max(rounds):.2f} s")
    assert 1 < sum(rounds) < LIMIT_S
