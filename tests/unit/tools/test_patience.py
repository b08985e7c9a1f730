# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is not a hang is not a failure: tests wait longer on a busy machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mpigauge.site.topology import busy
from tests import patience


def waits(load: float, seconds: float = 120.0) -> int:
    """Seconds until it is over where a core has so much to do."""
    now = 0

    def clock() -> float:
        return float(now)

    clocked = patience.Patience(seconds, clock, lambda: load)
    while not clocked.is_over():
        now += 1
    return now


def test_it_grows_with_the_load_and_never_shrinks() -> None:
    assert [waits(load) for load in (0.0, 1.0, 2.0, 3.5)] == [120, 120, 240, 420]


def test_our_own_limits_grow_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_load(load: float) -> float:
        monkeypatch.setattr(busy, "load_of_a_core", lambda: load)
        return busy.grown(30.0)

    assert [with_load(load) for load in (0.25, 1.0, 3.5, 300.0)] == [30.0, 30.0, 105.0, 300.0]


def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "load_of_a_core", lambda: 1.0)
    monkeypatch.setattr(patience, "TICK_S", 0.05)
    with pytest.raises(subprocess.TimeoutExpired):
        patience.run([sys.executable, "-c", "import time; time.sleep(1000)"], seconds=0.1)
    with pytest.raises(AssertionError, match="waited too long"):
        patience.wait_for(lambda: False, 0.1)


def test_what_was_said_before_a_tick_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "TICK_S", 0.01)
    script = "import sys, time; print(1, flush=True); time.sleep(0.3); print(2); sys.exit('oh')"
    done = patience.run([sys.executable, "-c", script])
    assert (done.returncode, done.stdout, done.stderr) == (1, "1\n2\n", "oh\n")
