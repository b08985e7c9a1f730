# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Following a run from another process: what its folder tells while it grows."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.cli.runs.following import follow
from mpigauge.measuring.campaign.budget import left_s
from mpigauge.measuring.campaign.state import CampaignState, LaunchOutcome
from mpigauge.runs.store import RunWriter, load
from mpigauge.session.watching import is_abandoned, state_of
from tests.process.test_campaign import PLAN, Bench, bench, fake_mpi

__all__ = ["bench", "fake_mpi"]


class Seen:
    """A view that remembers."""

    def __init__(self) -> None:
        self.ended: list[int] = []
        self.shown: list[str] = []

    def show(self, state: CampaignState) -> None:
        self.shown.append(state.activity)

    def launch_ended(self, state: CampaignState, outcome: LaunchOutcome) -> None:
        assert state.outcomes[-1] == outcome
        self.ended.append(outcome.launch)

    def close(self) -> None:
        """Nothing is open."""


def test_a_run_is_followed_to_its_end(bench: Bench) -> None:
    seen, folder = Seen(), bench.root / "run"
    measuring = threading.Event()

    def watch() -> None:
        while not (folder / "run.json").exists():
            measuring.wait(0.01)
        follow(folder, seen, 0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    bench.run(replace(PLAN, launches=4))
    watcher.join(30)
    assert not watcher.is_alive()
    assert seen.ended == [0, 1, 2, 3]
    assert seen.shown[-1] == "done"


def test_what_a_folder_tells(bench: Bench) -> None:
    bench.run(replace(PLAN, launches=6), fake="crash", launches="3")
    stored = load(bench.root / "run")
    noon = datetime(2026, 11, 21, 12, 0, 0, tzinfo=timezone.utc)
    going = replace(stored, status={}, header={**stored.header, "created": "2026-11-21T11:59:00Z"})
    state = state_of(going, noon)
    assert (state.activity, state.elapsed_s) == ("measuring", 60.0)
    assert [outcome.launch for outcome in state.outcomes if outcome.reason] == [3]
    assert len(state.outcomes) == 6
    assert state.left_s == 0.0
    assert len(state.results.rows()) == len({cell.key for cell in stored.cells})
    assert state_of(stored).activity == "failed"


def test_launches_that_failed_do_not_shorten_what_is_left() -> None:
    outcomes = [LaunchOutcome(0, ended=True, wall_s=2.0), LaunchOutcome(1, reason="it crashed")]
    plan = replace(PLAN, launches=5)
    assert left_s(plan, outcomes, 2, 2.0) == 6.0
    assert left_s(plan, outcomes[1:], 2, 2.0) is None


def test_what_was_not_measured_here_cannot_be_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["watch", "last"]) == 2
    assert "there is no run 'last'" in capsys.readouterr().err


# --- runs whose process was killed ----------------------------------------------------------------
@pytest.fixture
def killed(bench: Bench) -> Path:
    """A run that has neither a process nor an end."""
    bench.run(replace(PLAN, launches=2))
    folder = bench.root / "run"
    (folder / "status.json").unlink()
    passport = {"machine": {"hostname": os.uname().nodename}}
    (folder / "passport.json").write_text(json.dumps(passport))
    return folder


@pytest.mark.parametrize("words", ["watch {} --every 0.1", "show {} --follow"])
def test_watching_a_killed_run_ends(
    words: str, killed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words.format(killed).split()) == 1
    out, err = capsys.readouterr()
    assert "PingPong" in out
    assert f"was killed; `mpigauge resume {killed}` goes on" in err.splitlines()[-1]


def test_a_run_is_not_abandoned_as_long_as_a_process_holds_it(killed: Path) -> None:
    assert is_abandoned(load(killed))
    with RunWriter(killed):
        assert not is_abandoned(load(killed))
    assert is_abandoned(load(killed))


def test_a_run_of_another_host_is_abandoned_after_a_long_silence(killed: Path) -> None:
    """Its lock may not be seen from here."""
    (killed / "passport.json").write_text('{"machine": {"hostname": "other"}}')
    assert not is_abandoned(load(killed))
    for path in (killed, *killed.rglob("*")):
        os.utime(path, (0, 0))
    assert is_abandoned(load(killed))


def test_the_command_that_goes_on_can_be_pasted(
    killed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = killed.rename(killed.with_name("a run"))
    assert run(["watch", str(folder), "--every", "0.1"]) == 1
    assert f"`mpigauge resume '{folder}'` goes on" in capsys.readouterr().err
