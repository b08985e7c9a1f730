# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the kept calls of a call site say of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.products.profile.match.totals import (
    CAME_S,
    SURE,
    AllCalls,
    SampledCalls,
    Total,
    by_time,
    shared_out,
)
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
        assert (found.low >= 0).all()
        assert (found.low <= found.parts).all()
        assert (found.parts <= found.high).all()


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


# --- against the textbook -----------------------------------------------------------------------
MANY, TOOK_S = 100, 300 * US
WAITED_S = np.array([50, 80, 90, 100, 110, 120, 150, 200, 250, 160]) * US


def few_of_many(waited: Any) -> SampledCalls:
    """Of calls that all took alike and that none disturbed."""
    kept = len(waited)
    return SampledCalls(
        parts=np.stack([waited, TOOK_S - waited, np.zeros(kept)], axis=1),
        took=np.full(kept, TOOK_S),
        here=np.ones(kept, dtype=bool),
        weight=np.full(kept, MANY / kept),
        calls=MANY,
        seconds=MANY * TOOK_S,
        usual_s=OPERATION_S,
        rare_s=RARE_S,
    )


def all_alike() -> AllCalls:
    """All calls in the middle one of three bins."""
    edges = TOOK_S * np.array([0.0, 0.9, 1.1, 2.0])
    return AllCalls(MANY, MANY * TOOK_S, edges, np.array([0.0, MANY, 0.0]), TOOK_S)


@pytest.mark.parametrize("is_told", [True, False])
@pytest.mark.parametrize("kept", [8, 10])
def test_the_interval_is_that_of_a_sample_without_replacement(kept: int, is_told: bool) -> None:
    """Cochran, equation 2.20: the variance of a total is N (N - n) s² / n."""
    waited = WAITED_S[:kept]
    sample = few_of_many(waited)
    found = by_time([sample], all_alike()) if is_told else shared_out([sample])
    variance = MANY * (MANY - kept) * waited.var(ddof=1) / kept
    assert found.parts[0] == pytest.approx(MANY * waited.mean())
    assert width(found) == pytest.approx(SURE * np.sqrt(variance) + CAME_S * MANY)


def test_two_kept_calls_have_one_degree_of_freedom() -> None:
    waited = WAITED_S[3:5]
    variance = MANY * (MANY - 2) * waited.var(ddof=1) / 2
    found = shared_out([few_of_many(waited)])
    assert width(found) == pytest.approx(SURE * np.sqrt(variance) + CAME_S * MANY)


def test_no_time_is_below_zero() -> None:
    """However wide the interval: most calls did not wait."""
    waited = np.array([0.0] * 7 + [290 * US])
    for found in (by_time([few_of_many(waited)], all_alike()), shared_out([few_of_many(waited)])):
        assert found.low[0] == found.low[2] == 0.0
        assert found.high[0] > 2 * found.parts[0]


def test_a_kept_call_that_another_clock_puts_into_another_bin_is_no_call_less_than_none() -> None:
    """The kept calls are in the upper bin, all calls in the one below."""
    waited = WAITED_S[:8]
    sample = few_of_many(waited)
    edges = TOOK_S * np.array([0.0, 0.5, 0.99, 1.5])
    below = AllCalls(MANY, MANY * TOOK_S, edges, np.array([0.0, MANY, 0.0]), TOOK_S)
    found = by_time([sample], below)
    assert found.parts[0] == pytest.approx(MANY * waited.mean())
    assert found.parts.sum() == pytest.approx(MANY * TOOK_S)


def short_and_long(kept_long: int, all_long: int = 20, all_short: int = MANY) -> Total:
    """Long calls that only wait and short ones that only move; eight short ones are kept."""
    short, long = 100 * US, 1000 * US
    took = np.array([short] * 8 + [long] * kept_long)
    waited = np.where(took == long, took, 0.0)
    kept, calls = len(took), all_short + all_long
    sample = SampledCalls(
        parts=np.stack([waited, took - waited, np.zeros(kept)], axis=1),
        took=took,
        here=np.ones(kept, dtype=bool),
        weight=np.full(kept, calls / kept),
        calls=calls,
        seconds=all_short * short + all_long * long,
        usual_s=OPERATION_S,
        rare_s=RARE_S,
    )
    edges = np.array([0.0, 0.9, 1.1, 9.0, 11.0]) * short
    counts = np.array([0.0, all_short, 0.0, all_long])
    return by_time([sample], AllCalls(calls, sample.seconds, edges, counts, long))


def test_eight_kept_calls_speak_for_those_that_took_alike() -> None:
    found = short_and_long(kept_long=8)
    assert found.parts[0] == pytest.approx(20 * 1000 * US)
    assert found.parts[1] == pytest.approx(MANY * 100 * US)


def test_seven_kept_calls_are_too_few_to_speak_alone() -> None:
    """They and the next shorter ones are one stratum."""
    others_s = (13 * 1000 + (MANY - 8) * 100) * US
    share = 7 * 1000 / (7 * 1000 + 8 * 100)
    assert short_and_long(kept_long=7).parts[0] == pytest.approx(7000 * US + share * others_s)


def test_what_kept_calls_waited_is_not_taken_back() -> None:
    """Nine long calls were kept, of which the rank's own clock puts one among the short ones."""
    assert short_and_long(kept_long=9, all_long=8, all_short=MANY + 1).parts[0] == pytest.approx(
        9 * 1000 * US
    )


def test_calls_that_were_all_kept_have_their_own_parts_on_a_slower_clock() -> None:
    """Two of eight lie in another bin by it, and all together took less."""
    waited = WAITED_S[:8]
    sample = few_of_many(waited)
    edges = TOOK_S * np.array([0.0, 0.5, 0.99, 1.5])
    seconds = 0.999 * 8 * TOOK_S
    found = by_time([sample], AllCalls(8, seconds, edges, np.array([0.0, 2.0, 6.0]), TOOK_S))
    assert found.parts == pytest.approx(0.999 * sample.parts.sum(axis=0))
    assert (found.low <= found.parts).all()


def test_short_calls_beside_long_kept_ones_make_no_interval_narrower() -> None:
    found = short_and_long(kept_long=7, all_long=7)
    assert (found.low <= found.parts).all()
    assert (found.parts <= found.high).all()


def test_calls_that_were_all_disturbed_wait_as_the_kept_ones_do() -> None:
    """The interval is that of a mean of kept calls for so many others."""
    waited = WAITED_S[:8]
    sample = replace(few_of_many(waited), rare_s=US)
    found, others = by_time([sample], all_alike()), MANY - 8
    variance = others * (1 + others / 8) * waited.var()
    assert found.parts[0] == pytest.approx(MANY * waited.mean())
    assert width(found) == pytest.approx(SURE * np.sqrt(variance) + CAME_S * MANY)
