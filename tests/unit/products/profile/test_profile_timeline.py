# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The timeline of a profile: which calls it has, how much is stored, and the trace of it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.phases import phases
from mpigauge.products.profile.kind import page_of
from mpigauge.products.profile.launch.profiling import jobs_of
from mpigauge.products.profile.match.kept import kept_calls
from mpigauge.products.profile.match.timeline import TIMED_CALL, LongestCalls, TimedCalls
from mpigauge.products.profile.read.rank_file import Timeline
from mpigauge.products.profile.show.perfetto import write_perfetto
from mpigauge.products.profile.show.pictures import memory_over_time, sent_over_time
from mpigauge.products.profile.show.timeline import rows_of, timeline
from mpigauge.products.profile.store.stored import ProfiledJob, load_jobs, save
from tests.profiles import job, rank_file, stored

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


def test_the_timeline_is_bounded_and_has_the_longest_calls() -> None:
    """Calls come rank by rank, and are kept as if they were sorted all together."""
    every = calls_of(8, 1000).calls
    every = every[np.argsort(every["entered_s"], kind="stable")]
    every["took_s"] = np.random.default_rng(1).integers(1, 200, len(every)) * 1e-5
    most = 500 * TIMED_CALL.itemsize
    longest = LongestCalls(kept_calls([rank_file(rank) for rank in range(8)], []), most)
    for rank in range(8):
        longest.add(every[every["rank"] == rank])
    made = longest.timeline()
    assert len(made.calls) == 500
    kept = np.sort(np.argsort(-every["took_s"], kind="stable")[:500])
    assert np.array_equal(made.calls, every[kept])
    assert made.begins_s.tolist() == [0.0] * 8


def test_the_timeline_is_stored(tmp_path: Path) -> None:
    every = calls_of(2, 1000)
    save(with_calls(every), tmp_path)
    (after,) = load_jobs(tmp_path)
    assert np.array_equal(after.profile.timeline.calls, every.calls)
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


# --- how it is drawn ------------------------------------------------------------------------------
def spread(ranks: int, levels: tuple[float, ...], calls: TimedCalls) -> Account:
    """Ranks whose share of MPI has these levels, one after the other, for 10 s in all."""
    rng = np.random.default_rng(2)
    shares = np.repeat(levels, 1000 // len(levels))
    files = []
    for number in range(ranks):
        noisy = np.clip(shares + rng.normal(0, 0.03, len(shares)), 0, 1)
        line = Timeline(0, 0.0, 10 / len(shares), noisy * 10 / len(shares))
        plain = replace(rank_file(number), ranks=ranks, run_s=10.0, on_s=10.0)
        files.append(replace(plain, timelines=(line,)))
    (made,) = jobs_of(0, files)
    return Account(replace(made, profile=replace(made.profile, timeline=calls)))


@pytest.mark.parametrize("levels", [(0.5,), (0.1, 0.8), (0.1, 0.8, 0.3, 0.6)])
def test_phases_begin_where_the_share_of_mpi_changes(levels: tuple[float, ...]) -> None:
    found = phases(spread(3, levels, TimedCalls()))
    assert len(found) == len(levels)
    length = 10 / len(levels)
    for number, (phase, level) in enumerate(zip(found, levels, strict=True)):
        assert phase.begin_s == pytest.approx(number * length, abs=0.06)
        assert phase.share == pytest.approx(level, abs=0.02)


def test_the_memory_of_ranks_is_stored_and_drawn(tmp_path: Path) -> None:
    """A step without a call of MPI has no sample."""
    line = Timeline(0, 0.0, 0.25, np.zeros(4), np.array([4.0, 0.0, 8.0, 6.0]) * 2**20)
    files = [replace(rank_file(rank), timelines=(line,)) for rank in range(2)]
    (made,) = jobs_of(0, files)
    save(made, tmp_path)
    (again,) = load_jobs(tmp_path)
    assert again.profile.files[1].timelines[0].memory_bytes.tolist() == line.memory_bytes.tolist()
    drawn = memory_over_time(Account(again))
    assert drawn is not None
    assert "rank 1" in drawn.svg
    assert memory_over_time(Account(job())) is None


def test_the_bytes_of_ranks_are_stored_and_shown(tmp_path: Path) -> None:
    """Rank 0 sends 3 MiB in the first quarter of a second, rank 1 one MiB in each."""
    files = []
    for rank, sent in enumerate(([3, 0, 0, 0], [1, 1, 1, 1])):
        line = Timeline(0, 0.0, 0.25, np.full(4, 0.1), np.zeros(4), np.array(sent) * 2.0**20)
        files.append(replace(rank_file(rank), run_s=1.0, on_s=1.0, timelines=(line,)))
    (made,) = jobs_of(0, files)
    save(made, tmp_path)
    (again,) = load_jobs(tmp_path)
    account = Account(again)
    between = account.sent_between(np.array([0.0, 0.25, 0.5, 1.0]))
    assert (between / 2**20).tolist() == [4, 1, 2]
    drawn = sent_over_time(account)
    assert drawn is not None
    assert "MiB/s" in drawn.svg
    rows, below = rows_of(account), timeline(account)
    assert rows is not None
    assert below is not None
    assert (rows.sent[[0, 59, 60, -1]] / 2**20).tolist() == pytest.approx([16, 16, 4, 4])
    assert "bytes sent" in below.svg
    assert "all ranks send, at most 16.0 MiB/s" in below.about
    silent = timeline(Account(job()))
    assert silent is not None
    assert "bytes sent" not in silent.svg
    assert sent_over_time(Account(job())) is None
    (phase,) = phases(account)
    assert phase.sent_bytes == 7 * 2**20
    with (tmp_path / "trace.json").open("w", encoding="utf-8") as file:
        write_perfetto(account, file)
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    counted = [
        (event["pid"], event["args"]["bytes per second"])
        for event in events
        if event["name"] == "bytes sent"
    ]
    rates = [12, 0, 0, 0], [4, 4, 4, 4]
    assert counted == [(rank, rate * 2**20) for rank in range(2) for rate in rates[rank]]


def test_phases_are_named_by_their_calls() -> None:
    calls = calls_of(2, 100)
    plain = job()
    kinds = [
        n
        for n, spot in enumerate(plain.profile.spots)
        if spot.call in ("MPI_Send", "MPI_Allreduce")
    ]
    late = calls.calls["rank"] == 1
    calls.calls["entered_s"] = np.where(late, 7.0, 2.0)
    calls.calls["site"] = np.where(late, kinds[1], kinds[0])
    names = [phase.name for phase in phases(spread(2, (0.7, 0.9), calls))]
    assert names == [plain.profile.spots[kind].call.removeprefix("MPI_") for kind in kinds]


def with_mpi_s(account: Account, seconds: float) -> Account:
    """The same ranks with so much time in each call site."""
    rows = account.profile.rows.copy()
    rows["seconds"] = seconds
    return Account(replace(account.job, profile=replace(account.profile, rows=rows)))


def test_steps_are_drawn_if_only_some_calls_are_recorded() -> None:
    """2 ranks wait 2 of 10 ms, and move data for 1 ms; rank 1 moves alone."""
    account = with_mpi_s(spread(2, (0.9,), calls_of(2, 1000)), 3.0)
    rows, drawn = rows_of(account), timeline(account)
    assert rows is not None
    assert drawn is not None
    assert not rows.is_recorded
    assert rows.mpi.mean() == pytest.approx(0.9, abs=0.02)
    assert rows.waiting[0].mean() == pytest.approx(0.2, abs=0.01)
    assert "as only some calls were recorded" in drawn.about


def test_recorded_calls_are_drawn_if_they_are_nearly_all() -> None:
    rows = rows_of(with_mpi_s(spread(2, (0.9,), calls_of(2, 1000)), 0.5))
    assert rows is not None
    assert rows.is_recorded
    assert rows.mpi.mean(axis=1) == pytest.approx([0.3, 0.1], abs=0.01)
    assert rows.waiting.mean(axis=1) == pytest.approx([0.2, 0.0], abs=0.01)


def test_a_page_can_zoom_in_to_single_calls(tmp_path: Path) -> None:
    folder = stored(tmp_path / "run", with_calls(calls_of(2, 50)))
    page = page_of(str(folder)) or ""
    packed = re.search(r'id="calls-packed">([^<]+)<', page)
    assert packed
    data = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert (len(data["at"]), data["rows"]) == (100, ["rank 0", "rank 1"])
    assert data["names"] == ["MPI_Allreduce in norm at norm.cpp:88"]
    assert max(data["wait"]) == pytest.approx(2e-3)


def test_many_ranks_share_rows() -> None:
    rows = rows_of(spread(100, (0.5,), TimedCalls()))
    assert rows is not None
    assert len(rows.names) == 20
    assert rows.names[0] == "ranks 0–4"
