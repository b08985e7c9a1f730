# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge explain` of profiles: what stands out, and that nothing does in calm ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.products.profile.analyse.causes import explained
from mpigauge.products.profile.launch.profiling import jobs_of
from mpigauge.products.profile.read.rank_file import RankFile, histogram_of
from mpigauge.products.profile.store.stored import ProfiledJob
from tests.profiles import APP, MAIN, job, rank_file, site, stored


def of(*files: RankFile) -> ProfiledJob:
    (found,) = jobs_of(0, files)
    return found


def causes(job: ProfiledJob) -> dict[str, str]:
    return {finding.cause: finding.what for finding in explained([job]).findings}


def calm(rank: int, **other: object) -> RankFile:
    """A rank that sends large messages and meets nobody who is late."""
    cells = rank_file(rank).cells[1:2].copy()
    cells["amount"], cells["least"], cells["most"] = 8 << 20, 1 << 20, 1 << 20
    cells["site"] = 0
    sites = (site("MPI_Send", "send", (MAIN,), [2e-3] * 8),)
    usage = replace(rank_file(rank).usage, involuntary_switches=1)
    known = replace(rank_file(rank), sites=sites, cells=cells, usage=usage)
    return replace(known, **other)  # type: ignore[arg-type]


def test_a_calm_profile_has_no_findings() -> None:
    assert causes(of(calm(0), calm(1))) == {}


def test_an_imbalance_is_named_with_what_it_costs() -> None:
    (finding,) = explained([of(calm(0, run_s=2.0), calm(1))]).findings
    assert finding.cause == "imbalance"
    assert finding.what == "rank 0 computes 34 % longer than the mean of ranks"
    assert finding.cost == pytest.approx(0.5 / 1.5)


def test_small_messages_are_told_from_waiting() -> None:
    """Both are 100 sums of 8 bytes: some take 5 µs, the others a millisecond."""

    def sums(rank: int, seconds: float) -> RankFile:
        calls = site("MPI_Allreduce", "collective", (MAIN,), [seconds] * 100)
        times = np.zeros_like(calls.times)
        times[np.searchsorted(np.arange(len(times)), 60)] = 100
        return calm(
            rank,
            sites=(replace(calls, histogram=histogram_of(times)),),
            cells=rank_file(rank).cells[:1],
        )

    quick = causes(of(sums(0, 5e-6), sums(1, 5e-6)))
    assert quick == {
        "small-messages": "MPI_Allreduce in solver+0x300 sends 200 messages of 8 B in the mean"
    }
    slow = explained([of(sums(0, 1e-3), sums(1, 1e-3))]).findings
    assert [each.cause for each in slow] == ["waits"]
    assert "200 messages of 8 B in the mean" in slow[0].evidence


def test_ranks_that_move_share_or_lose_their_core_are_named() -> None:
    busy = replace(calm(1).usage, user_s=0.85, involuntary_switches=700)
    found = causes(of(calm(0, cpus={0: (0, 5), 1: (0, 5)}), calm(1, usage=busy)))
    assert found == {
        "moved": "1 rank of 2 moved between cores",
        "lost-cores": "1 rank of 2 lost their core for 4.8 % of the run time at most",
    }
    together = [calm(rank, host="node0", cpus={3: (0, 9)}) for rank in (0, 1)]
    assert causes(of(*together)) == {"shared-cores": "2 ranks share core 3 of node0"}


def test_polling_and_the_cost_of_the_profiler() -> None:
    asks = site("MPI_Iprobe", "probe", (MAIN,), [1e-7] * 10_000)
    polled = [
        calm(rank, sites=(asks,), cells=rank_file(rank).cells[:0], own_s=4e-6) for rank in (0, 1)
    ]
    found = causes(of(*polled))
    assert found["polling"].startswith("the program asks 20000 times whether something has come")
    assert found["profiler"] == "the profiler itself took 4.0 % of the run time"


def test_explain_knows_profiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(stored(tmp_path / "run", job()))
    assert mpigauge(["explain", folder, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == 3
    assert "imbalance" in {each["cause"] for each in told["findings"]}
    assert mpigauge(["explain", folder, "--all"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("run: 3 call sites of 1 launch, 9 causes checked")
    assert "of the run time, at most" in text
    assert APP.path not in text
    assert mpigauge(["explain", "--list"]) == 0
    assert "of a profile: programs that ask again and again" in capsys.readouterr().out
