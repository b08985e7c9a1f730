# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the kept calls of a call site say of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.features.profile.totals import AllCalls, SampledCalls, Total, by_time, shared_out
from tests.profiles import site

US = 1e-6
HZ = 2e9
CALLS = 1000
OPERATION_S = 2 * US
RARE_S = 5e-3


def total(
    waiting: Any, kept: Any, longer: Any = 0.0, is_told: bool = True, operation: float = OPERATION_S
) -> Total:
    """Of calls that wait so long, of which these are kept, and that some take longer. `is_told`:
    whether it is known how long all calls took."""
    moving = np.full(CALLS, operation)
    parts = np.stack([waiting, moving, np.broadcast_to(longer, CALLS)], axis=1)
    took = parts.sum(axis=1)
    sample = SampledCalls(
        parts=parts[kept],
        took=took[kept],
        here=np.ones(len(parts[kept]), dtype=bool),
        weight=np.full(len(parts[kept]), CALLS / len(parts[kept])),
        calls=CALLS,
        seconds=float(took.sum()),
        usual_s=operation,
        rare_s=RARE_S,
    )
    if not is_told:
        return shared_out([sample])
    return by_time([sample], AllCalls.of([site("MPI_Any", "collective", (), took, HZ)], HZ))


def width(of: Total, part: int = 0) -> float:
    return float(of.high[part] - of.low[part]) / 2


def holds(of: Total, part: int, seconds: float) -> bool:
    return bool(of.low[part] <= seconds <= of.high[part])


def one_of_four(seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    return np.sort(rng.permutation(CALLS)[: CALLS // 4])


def test_a_long_call_that_was_not_kept_is_not_shared_out() -> None:
    waiting, longer = np.full(CALLS, 200 * US), np.zeros(CALLS)
    longer[7] = 50e-3
    found = total(waiting, np.arange(0, CALLS, 4), longer)
    assert holds(found, 0, waiting.sum())
    assert width(found) < 0.03 * waiting.sum()
    assert found.parts[2] == pytest.approx(longer.sum(), rel=0.02)


def test_a_long_call_that_was_kept_is_one() -> None:
    waiting, longer = np.full(CALLS, 200 * US), np.zeros(CALLS)
    longer[8] = 50e-3
    kept = np.arange(0, CALLS, 4)
    found = total(waiting, kept, longer)
    assert holds(found, 0, waiting.sum())
    assert found.parts[2] == pytest.approx(longer.sum(), rel=0.02)
    # Without the times of all calls it stands for several.
    assert total(waiting, kept, longer, is_told=False).parts[2] > 2 * longer.sum()


def test_parts_are_all_of_the_time() -> None:
    waiting = np.random.default_rng(3).exponential(100 * US, CALLS)
    for is_told in (True, False):
        found = total(waiting, one_of_four(), is_told=is_told)
        assert found.parts.sum() == pytest.approx(waiting.sum() + CALLS * OPERATION_S)
        assert found.seconds == pytest.approx(found.parts.sum())
        assert found.calls == CALLS


@given(
    microseconds=st.lists(st.tuples(*[st.floats(0.05, 1e5)] * 3, st.booleans()), min_size=1),
    rare_us=st.floats(1.0, 1e5),
    slower=st.floats(0.9999, 1.0001),
)
def test_parts_are_all_of_the_time_whatever_is_kept(
    microseconds: list[tuple[float, float, float, bool]], rare_us: float, slower: float
) -> None:
    """`slower`: the rate of the host's clock, by which the kept calls are told, to that of the
    rank's file, by which all calls are."""
    parts = np.array([each[:3] for each in microseconds]) * US
    kept = np.array([each[3] for each in microseconds])
    kept[0] = True
    calls, count = len(kept), int(kept.sum())
    sample = SampledCalls(
        parts=slower * parts[kept],
        took=slower * parts[kept].sum(axis=1),
        here=np.ones(count, dtype=bool),
        weight=np.full(count, calls / count),
        calls=calls,
        seconds=float(parts.sum()),
        usual_s=OPERATION_S,
        rare_s=rare_us * US,
    )
    took = [float(each) for each in parts.sum(axis=1)]
    whole = AllCalls.of([site("MPI_Any", "collective", (), took, HZ)], HZ)
    for found in (by_time([sample], whole), shared_out([sample])):
        assert found.parts.sum() == pytest.approx(parts.sum())
        assert (found.parts >= 0).all()


def test_waiting_by_chance_is_in_the_interval_which_is_narrow() -> None:
    within = 0
    for seed in range(60):
        waiting = np.random.default_rng(seed).exponential(100 * US, CALLS)
        found = total(waiting, one_of_four(seed + 1000))
        within += holds(found, 0, waiting.sum())
        assert width(found) < 0.1 * waiting.sum()
    assert within >= 55  # 57 are expected


def test_of_calls_longer_than_any_kept_one_nobody_knows_what_they_waited() -> None:
    """They are shorter than what is called rare."""
    waiting = np.full(CALLS, 200 * US)
    waiting[1:40:4] = 2e-3
    found = total(waiting, np.arange(0, CALLS, 4))
    assert width(found) >= 10 * 1.8e-3
    assert holds(found, 0, waiting.sum())


def test_a_single_kept_call_is_enough_to_say_how_little_is_known() -> None:
    waiting = np.full(CALLS, 100 * US)
    found = total(waiting, np.array([5]))
    assert holds(found, 0, waiting.sum())


def test_calls_that_are_all_rare_are_disturbed() -> None:
    waiting = np.full(CALLS, 2 * RARE_S)
    found = total(waiting, np.arange(0, CALLS, 4))
    assert found.parts[0] == pytest.approx(waiting.sum(), rel=0.02)


def test_calls_that_were_kept_waited_as_they_did_however_long_they_took() -> None:
    """Ranks are late in turn, so there is no usual waiting; some calls are disturbed."""
    waiting = np.where(np.arange(CALLS) % 2 == 0, 0.0, 1000 * US)
    longer = np.where(np.arange(CALLS) % 20 == 3, 50e-3, 0.0)
    all_kept = total(waiting, np.arange(CALLS), longer)
    assert all_kept.parts[0] == pytest.approx(waiting.sum(), rel=1e-6)
    some = total(waiting, one_of_four(), longer)
    assert holds(some, 0, waiting.sum())
    assert width(some) < 0.1 * waiting.sum()
