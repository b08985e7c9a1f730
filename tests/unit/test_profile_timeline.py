# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The timeline of a profile: which calls it has, how much is stored, and the trace of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.products.profile.match.timeline import TIMED_CALL, TimedCalls
from mpigauge.products.profile.store.stored import ProfiledJob, load_jobs, save
from tests.profiles import job, stored

STEP_S = 0.01


def calls_of(ranks: int, count: int, late: int = 1) -> TimedCalls:
    """Each rank calls every 10 ms; all wait 2 ms for the late one, and move data for 1 ms."""
    rows = np.zeros(ranks * count, TIMED_CALL)
    rows["rank"] = np.tile(np.arange(ranks), count)
    rows["entered_s"] = np.repeat(np.arange(count) * STEP_S, ranks)
    waits = rows["rank"] != late
    rows["entered_s"][~waits] += 2e-3
    rows["took_s"] = np.where(waits, 3e-3, 1e-3)
    rows["waiting_s"] = np.where(waits, 2e-3, 0)
    return TimedCalls(rows, np.zeros(ranks))


def with_calls(calls: TimedCalls) -> ProfiledJob:
    plain = job()
    site = next(n for n, spot in enumerate(plain.profile.spots) if spot.group == "collective")
    calls.calls["site"] = site
    return replace(plain, profile=replace(plain.profile, timeline=calls))


def test_what_is_stored_is_bounded_and_has_the_longest_calls(tmp_path: Path) -> None:
    every = calls_of(2, 1000)
    every.calls["took_s"] = np.random.default_rng(1).exponential(1e-3, len(every.calls))
    most = 500 * TIMED_CALL.itemsize
    save(with_calls(every), tmp_path, most)
    (after,) = load_jobs(tmp_path)
    kept = after.profile.timeline.calls
    assert kept.nbytes <= most
    assert len(kept) == 500
    assert kept["took_s"].min() == pytest.approx(np.sort(every.calls["took_s"])[-500], rel=1e-6)
    assert (np.diff(kept["entered_s"]) >= 0).all()
    assert np.array_equal(after.profile.timeline.begins_s, every.begins_s)


def test_a_trace_has_a_slice_for_each_call(tmp_path: Path) -> None:
    folder, trace = stored(tmp_path / "run", with_calls(calls_of(2, 50))), tmp_path / "t.json"
    assert mpigauge(["export", "perfetto", str(folder), "-o", str(trace)]) == 0
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    names = {
        event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"
    }
    assert names == {0: "rank 0 on node0", 1: "rank 1 on node1"}
    slices = [event for event in events if event["ph"] == "X"]
    calls = [event for event in slices if event["cat"] == "collective"]
    assert len(calls) == 100
    assert calls[2]["ts"] == pytest.approx(STEP_S * 1e6)
    assert calls[0]["args"]["place"] == "norm at norm.cpp:88"
    waits = [event for event in slices if event["cat"] == "waiting"]
    assert {event["pid"] for event in waits} == {0}
    assert all(event["dur"] == pytest.approx(2000) for event in waits)
    assert {event["ph"] for event in events} == {"M", "X", "C"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["ref:ember"], "is not a profile"),
        ([], "perfetto is of one profile"),
        (["{run}"], "has no timeline"),
        (["{run}", "--samples"], "--samples is for csv"),
    ],
)
def test_what_has_no_trace_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    plain = job()
    old = replace(plain, profile=replace(plain.profile, timeline=TimedCalls()))
    folder = str(stored(tmp_path / "run", old))
    target = tmp_path / "x.json"
    line = [word.format(run=folder) for word in words]
    assert mpigauge(["export", "perfetto", *line, "-o", str(target)]) == 2
    assert why in capsys.readouterr().err
    assert not target.exists()


def test_a_limit_is_a_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert mpigauge(["profile", "--timeline-limit", "much", "--", "true"]) == 2
    assert "--timeline-limit" in capsys.readouterr().err
