# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reports of runs with several settings, and of tunings: the answer stands first."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.products.tune.show.page import shown_tuning
from mpigauge.runs.store.tunings import holds_tuning, load_tuning
from mpigauge.site.mpi import find
from tests import cells, runs, tunings

SIZES = (8, 64, 512, 4096)


def swept(folder: Path, tuned: float) -> Path:
    """Eight launches of the default and of an arm that takes `tuned` times as long."""
    lines = []
    for launch in range(8):
        lines.append(runs.launch(launch, f"2026-11-21T05:00:{launch:02d}Z"))
        for arm, factor in (("default", 1.0), ("tuned", tuned)):
            for size in SIZES:
                seconds = 1e-6 * factor * (1 + 0.005 * (launch % 3))
                lines.append(runs.cell(launch, arm=arm, message_bytes=size, time_p50_s=seconds))
        lines.append(cells.end(launch=launch))
    return runs.write(folder, lines)


def page(*words: str) -> str:
    assert run(["report", *words, "-o", "page.html"]) == 0
    return Path("page.html").read_text(encoding="utf-8")


def openings(text: str) -> list[str]:
    return [part.partition("</p>")[0] for part in text.split('<p class="opening">')[1:]]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_best_setting_and_its_gain_stand_first() -> None:
    swept(Path("run"), 0.5)
    (said,) = openings(page("run"))
    assert said.startswith("PingPong on 2 ranks: tuned takes 50 % less time than default over all")


def test_where_the_default_is_best_it_is_said() -> None:
    swept(Path("run"), 2.0)
    assert openings(page("run")) == ["PingPong on 2 ranks: default is the best over all sizes."]


def test_what_is_alike_is_not_called_better() -> None:
    swept(Path("run"), 1.0)
    said, sure = openings(page("run"))
    assert said == "PingPong: over all sizes none is better than another."
    assert "are known within" in sure


def test_a_tuning_says_what_its_rules_gain() -> None:
    tunings.make(Path("tuned"), find("mpich"))
    swept(Path("tuned/runs/confirm"), 0.5)
    text = page("tuned")
    assert "<h1>PingPong on a</h1>" in text
    assert "<p>tuned</p>" in text
    assert openings(text)[0].startswith("Alltoall, 2 ranks, up to 1 MiB: ")
    assert "no PingPong and no Uniband" not in text


def test_a_tuning_without_rules_shows_its_candidates() -> None:
    tunings.make(Path("tuned"), find("mpich"))
    swept(Path("tuned/runs/grid"), 0.5)
    assert shown_tuning(Path("tuned")).run == Path("tuned/runs/grid")


def test_a_tuning_without_its_runs_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    tunings.make(Path("tuned"), find("mpich"))
    assert holds_tuning(Path("tuned"))
    assert load_tuning(Path("tuned")).rules
    with pytest.raises(UserError, match="mpigauge tune show tuned"):
        shown_tuning(Path("tuned"))
    assert run(["report", "tuned"]) == 2
    assert "has no run confirm, p2p-confirm, grid or p2p-finalists" in capsys.readouterr().err


def test_a_tuning_beside_other_runs_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    tunings.make(Path("tuned"), find("mpich"))
    assert run(["report", "tuned", "tuned"]) == 2
    assert "the page of a tuning is about one alone" in capsys.readouterr().err


def test_the_title_names_the_measurement_and_the_machine() -> None:
    swept(Path("a-folder"), 2.0)
    text = page("a-folder")
    assert "<h1>PingPong on a</h1>" in text
    assert "<title>mpigauge: PingPong on a</title>" in text
    assert "<p>a-folder</p>" in text
