# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which launches sample noise, and what they hand on to those that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mpigauge.measuring.campaign.noise_samples import NoiseSamples
from mpigauge.measuring.campaign.results import Results
from mpigauge.measuring.plan import LaunchPlan, Plan, PlanPart, kernel_words
from mpigauge.measuring.plan.noise import detour_words
from mpigauge.model.record import Noise
from tests import cells

PART = PlanPart(("PingPong",), 2)
PLAN = Plan((PART,), mpi="x", seed=1)


def noise(launch: int, rank: int = 0, when: str = "before", lengths: tuple[int, ...] = ()) -> Noise:
    return Noise(
        launch=launch,
        rank=rank,
        when=when,
        cpu=rank,
        seconds=0.05,
        detours=len(lengths),
        lost_ratio=sum(lengths) * 1e-9 / 0.05,
        longest_s=max(lengths, default=0) * 1e-9,
        start_ns=tuple(range(len(lengths))),
        length_ns=lengths,
    )


def sampling(plan: Plan, times: dict[int, float], most: int = 40) -> list[int]:
    """The launches of a run that sample; `times` are those that differ from 1 µs."""
    results = Results(plan.precision)
    samples = NoiseSamples(plan, results)
    numbers = []
    for number in range(most):
        if not samples.words_for(number, is_last=False):
            numbers.append(number)
            samples.learn(noise(number))
        results.put(cells.cell(launch=number, time_p50_s=times.get(number, 1e-6)))
        samples.end_launch(number)
    return numbers


def test_the_first_launch_and_those_that_may_be_the_last_sample() -> None:
    assert sampling(PLAN, {}, most=20) == [0, 5, 9, 13, 19]
    assert sampling(replace(PLAN, launches=4), {}, most=4) == [0, 3]
    assert sampling(replace(PLAN, launches=1), {}, most=1) == [0]


def test_a_launch_after_a_change_samples() -> None:
    assert sampling(replace(PLAN, launches=12), {7: 2e-6}, most=12) == [0, 8, 11]
    assert sampling(replace(PLAN, launches=12), {7: 1.1e-6}, most=12) == [0, 11]


def test_each_part_of_a_plan_has_its_own_samples() -> None:
    plan = replace(PLAN, parts=(PART, PART), launches=4)
    assert sampling(plan, {}, most=8) == [0, 1, 6, 7]
    assert sampling(replace(plan, shuffle=True), {}, most=8)[-2:] == [6, 7]


def test_the_last_launch_that_fits_into_the_time_samples() -> None:
    samples = NoiseSamples(PLAN, Results(0.05))
    samples.learn(noise(0))
    samples.end_launch(0)
    assert samples.words_for(1, is_last=False)
    assert not samples.words_for(1, is_last=True)


def test_noise_after_measuring_is_not_handed_on() -> None:
    samples = NoiseSamples(PLAN, Results(0.05))
    samples.learn(noise(0, when="after"))
    samples.end_launch(0)
    assert not samples.words_for(1, is_last=False)


def test_the_samples_of_all_ranks_are_added() -> None:
    both = [noise(0, 0, lengths=(12_000, 12_000, 152_345)), noise(0, 1, lengths=(12_000,))]
    assert detour_words(both) == "0.1:0.000188345:1.2e-05*3,0.000152*1"
    assert detour_words([noise(0)]) == "0.05:0:"


def test_detours_that_were_kept_stand_for_all() -> None:
    many = replace(noise(0, lengths=(1000, 3000)), detours=10_000)
    assert detour_words([many]).endswith(":1e-06*5000,3e-06*5000")


@pytest.mark.parametrize("words", ["", "0.05:0:"])
def test_kernels_are_given_the_earlier_sample(words: str) -> None:
    launch = LaunchPlan(number=1, part=PART, seed=1, detours=words)
    assert ("--detours" in kernel_words(PLAN, launch)) == bool(words)
