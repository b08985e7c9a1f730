# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What was waited is stored, and said in words where it is sure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.match.waiting import WAIT
from mpigauge.products.profile.show.perfcatch import perfcatch
from mpigauge.products.profile.show.sentences import sentences
from mpigauge.products.profile.store.stored import ProfiledJob, load_jobs, save
from tests.profiles import job


def waits(waiting_s: float, wide_s: float, resolved: bool, disturbed_s: float = 0.0) -> ProfiledJob:
    """The first spot that is not a message: 10 ms of waiting and moving on two ranks."""
    plain = job()
    site = next(n for n, spot in enumerate(plain.profile.spots) if spot.group == "collective")
    rows = np.zeros(2, WAIT)
    rows["site"], rows["rank"], rows["calls"], rows["kept"] = site, [0, 1], 100, 100
    rows["waiting_s"] = [waiting_s, waiting_s / 10]
    rows["waiting_low_s"], rows["waiting_high_s"] = rows["waiting_s"], rows["waiting_s"] + wide_s
    rows["moving_s"], rows["resolved"], rows["disturbed_s"] = 1e-3, resolved, disturbed_s
    return replace(plain, profile=replace(plain.profile, waits=rows))


def said(of: ProfiledJob) -> str:
    return " ".join(sentences([Account(of)]))


def test_waiting_is_told_by_place_and_rank() -> None:
    text = said(waits(8e-3, 1e-4, True))
    assert "2.5 % of the time in MPI is waiting for ranks that come or send later, most in" in text
    assert "ms, all ranks together, longest by rank 0)." in text


def test_an_interval_wider_than_the_time_is_not_printed() -> None:
    assert "waiting" not in said(waits(8e-3, 1e-2, True))


def test_waiting_that_is_no_longer_than_the_operation_is_not_printed() -> None:
    assert "waiting" not in said(waits(1e-4, 1e-5, False))


def test_disturbance_is_told_where_waiting_is_not() -> None:
    assert "Disturbance" not in said(waits(1e-4, 1e-5, False))
    text = said(waits(1e-4, 1e-5, False, disturbed_s=90e-3))
    assert "Disturbance is 51 % of the time in MPI: few calls took far longer" in text


def test_scripts_for_perfcatch_find_what_is_known_of_waits() -> None:
    lines = perfcatch(Account(waits(8e-3, 1e-4, True)))
    (first, second) = [line.split() for line in lines if "wait time:" in line]
    assert first == ["waits:", "100", "wait", "time:", "0.008", "s"]
    assert second == ["waits:", "100", "wait", "time:", "0.0008", "s"]
    assert "wait time" not in "".join(perfcatch(Account(waits(8e-3, 1e-2, True))))


def test_a_profile_without_kept_calls_says_nothing_of_waiting() -> None:
    assert "wait" not in said(job())


def test_what_was_waited_is_stored(tmp_path: Path) -> None:
    kept = waits(8e-3, 1e-4, True)
    save(kept, tmp_path)
    (loaded,) = load_jobs(tmp_path)
    assert loaded.profile.waits.tolist() == kept.profile.waits.tolist()
