# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Efficiencies over the iterations of a run, from traces whose efficiencies are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.iterations import Iterations, iterations_of, times_of
from mpigauge.products.profile.match.timeline import TIMED_CALL, TimedCalls
from mpigauge.products.profile.match.waiting import WAIT
from mpigauge.products.profile.read.rank_file import Timeline
from mpigauge.products.profile.show.iterations import iteration_lines, iteration_rows, iterations
from tests.profiles import job

MOVING_S = 1e-3
COUNT = 48


def collective() -> int:
    spots = job().profile.spots
    return next(n for n, spot in enumerate(spots) if spot.group == "collective")


def trace(computing_s: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Account:
    """Ranks that compute so long in each iteration, by rank and iteration, then meet in a
    collective that moves data for 1 ms."""
    ends_s = np.cumsum(computing_s.max(axis=0) + MOVING_S)
    begins_s = np.concatenate([[0.0], ends_s[:-1]])
    calls = np.zeros(computing_s.size, TIMED_CALL)
    calls["rank"] = np.repeat(np.arange(2), computing_s.shape[1])
    calls["site"] = collective()
    calls["entered_s"] = (begins_s + computing_s).ravel()
    calls["took_s"] = (ends_s - begins_s - computing_s).ravel()
    calls["waiting_s"] = (computing_s.max(axis=0) - computing_s).ravel()
    waits = np.zeros(2, WAIT)
    waits["site"], waits["rank"] = collective(), [0, 1]
    waits["kept"], waits["usual_s"] = computing_s.shape[1], MOVING_S
    plain = job()
    rows = plain.profile.rows.copy()
    rows["seconds"] = 0.0
    rows["seconds"][rows["site"] == collective()] = calls["took_s"].sum() / 2
    run_s = float(ends_s[-1])
    steps = np.histogram(calls["entered_s"], 1000, (0, run_s), weights=calls["took_s"])[0]
    files = [
        replace(file, run_s=run_s, on_s=run_s, timelines=(Timeline(0, 0.0, run_s / 1000, steps),))
        for file in plain.profile.files
    ]
    timeline = TimedCalls(calls, np.zeros(2))
    return Account(
        replace(
            plain,
            profile=replace(
                plain.profile, rows=rows, files=tuple(files), timeline=timeline, waits=waits
            ),
        )
    )


def changing() -> Account:
    """Rank 1 has half as much work in the second half."""
    computing_s = np.full((2, COUNT), 10e-3)
    computing_s[1, COUNT // 2 :] = 5e-3
    return trace(computing_s)


def serial() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Computation of ranks that first work by turns, then at the same time."""
    computing_s = np.full((2, COUNT), 5e-3)
    half = np.arange(COUNT // 2)
    computing_s[half % 2, half] = 10e-3
    computing_s[(half + 1) % 2, half] = 0.0
    return computing_s


def found(account: Account) -> Iterations:
    of = iterations_of(account)
    assert of is not None
    return of


def test_efficiencies_of_iterations_are_those_of_the_trace() -> None:
    of = found(changing())
    assert of.site == collective()
    first, last = of.stretches[0], of.stretches[-1]
    assert (first.load_balance.value, last.load_balance.value) == pytest.approx((1, 0.75), abs=1e-3)
    for each in (first, last):
        assert each.communication.value == pytest.approx(10 / 11, abs=1e-3)
    assert first.parallel.value == pytest.approx(10 / 11, abs=1e-3)
    assert last.parallel.value == pytest.approx(7.5 / 11, abs=1e-3)
    assert of.differ
    rows = iteration_rows(changing())
    assert rows[0]["begin_s"] == pytest.approx(11e-3)
    assert rows[-1]["end_s"] == pytest.approx(COUNT * 11e-3)
    assert rows[-1]["load_balance"] == pytest.approx(0.75, abs=1e-3)


def test_serialisation_and_transfer_are_those_of_the_trace() -> None:
    """On an ideal network an iteration takes as long as its longest computation."""
    computing_s = serial()
    ends_s = np.cumsum(computing_s.max(axis=0) + MOVING_S)
    of = found(trace(computing_s))
    assert of.differ
    for each in of.stretches:
        within = computing_s[:, (ends_s > each.begin_s + 1e-9) & (ends_s < each.end_s + 1e-9)]
        ideal_s, longest_s = within.max(axis=0).sum(), within.sum(axis=1).max()
        run_s = each.end_s - each.begin_s
        assert each.serialisation.value == pytest.approx(longest_s / ideal_s, abs=1e-3)
        assert each.transfer.value == pytest.approx(ideal_s / run_s, abs=1e-3)
        for ratio in (each.serialisation, each.transfer):
            assert ratio.low <= ratio.value <= ratio.high
    assert of.stretches[0].serialisation.value < 0.61
    assert of.stretches[-1].serialisation.value == pytest.approx(1, abs=1e-3)
    rows = iteration_rows(trace(computing_s))
    assert rows[-1]["transfer"] == pytest.approx(5 / 6, abs=1e-3)
    lines = " ".join(iteration_lines(trace(computing_s), 80))
    assert "serial." in lines
    drawn = iterations(trace(computing_s))
    assert drawn is not None
    assert "serialisation" in drawn.svg


@pytest.mark.parametrize(("unsplit", "is_known"), [(2, True), (12, False)])
def test_parts_are_unknown_where_too_many_calls_cannot_be_split(
    unsplit: int, is_known: bool
) -> None:
    """Each of the last calls of rank 1 stands for 1 / 94 of all time in MPI."""
    account = trace(np.full((2, COUNT), 10e-3))
    calls = account.profile.timeline.calls.copy()
    calls["site"][-unsplit:] += 1
    profile = replace(account.profile, timeline=TimedCalls(calls, np.zeros(2)))
    ends_s = np.cumsum(np.full((2, COUNT), 11e-3), axis=1)
    times = times_of(Account(replace(account.job, profile=profile)), ends_s)
    ratios = times.withhold_parts().ratios(lambda seconds: seconds.sum(axis=1))
    assert ratios[:3] == pytest.approx([10 / 11, 1, 10 / 11])
    assert np.isfinite(ratios[3:]).tolist() == [is_known] * 2
    waiting = times.ratios(lambda seconds: seconds.sum(axis=1), waits=True)
    assert waiting[4] > 10 / 11


def test_they_are_shown_where_they_differ() -> None:
    lines = " ".join(iteration_lines(changing(), 80))
    assert "75 %" in lines
    assert "An iteration ends with MPI_Allreduce in norm at norm.cpp:88" in lines
    drawn = iterations(changing())
    assert drawn is not None
    assert "load balance" in drawn.svg
    steady = trace(np.full((2, COUNT), 10e-3))
    assert not found(steady).differ
    assert list(iteration_lines(steady, 80)) == []
    assert iterations(steady) is None


def test_chance_is_no_difference() -> None:
    random = np.random.default_rng(3)
    trials = [random.exponential(10e-3, (2, COUNT)) for _ in range(20)]
    assert sum(found(trace(computing_s)).differ for computing_s in trials) <= 3


def test_a_program_without_a_pattern_has_no_iterations() -> None:
    assert iterations_of(trace(np.full((2, 4), 10e-3))) is None
    many = changing().profile.timeline
    uneven = TimedCalls(many.calls[1:], many.begins_s)
    account = changing()
    alone = replace(account.job, profile=replace(account.profile, timeline=uneven))
    assert iterations_of(Account(alone)) is None
