# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Efficiencies over the iterations of a run, from traces whose efficiencies are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.iterations import Iterations, iterations_of
from mpigauge.products.profile.match.timeline import TIMED_CALL, TimedCalls
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
            profile=replace(plain.profile, rows=rows, files=tuple(files), timeline=timeline),
        )
    )


def changing() -> Account:
    """Rank 1 has half as much work in the second half."""
    computing_s = np.full((2, COUNT), 10e-3)
    computing_s[1, COUNT // 2 :] = 5e-3
    return trace(computing_s)


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
