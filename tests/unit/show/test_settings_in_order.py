# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings of a sweep side by side: as typed, the default last, those that failed marked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mpigauge.cli.main import run as cli
from mpigauge.model.names import CONTROL, DEFAULT
from mpigauge.model.record import Failure
from mpigauge.result.run_result import RunResult
from mpigauge.runs.store import load
from mpigauge.show.formats import render
from mpigauge.show.web.answer import opening
from tests import cells, pages, planted

NAME = "MPI_BUFFER_MAX"
TYPED = ("8192", "10", "65536", "1000")
"""Values in an order that is neither theirs as numbers nor as words."""
FAILS = "65536"


def planted_sweep(folder: Path, typed: tuple[str, ...] = TYPED, launches: int = 6) -> Path:
    """A sweep whose launches came in another order, and one of whose settings failed."""
    names = {value: f"{NAME}={value}" for value in typed} | {"": "", CONTROL: CONTROL}
    factors = {value: 1 - place / 10 for place, value in enumerate(typed)}
    measured, records = [], []
    for launch in range(launches):
        for place, value in enumerate(sorted(names)):
            number = launch * len(names) + place
            if value == FAILS:
                reason = f"launch {number} ({names[value]}) failed: exit status 1: Assertion failed"
                records.append(Failure(number, -1, reason))
                continue
            for size in (8, 1024):
                time_s = 1e-6 * factors.get(value, 1.0) * (1 + launch / 1000)
                measured.append(
                    cells.cell(
                        launch=number, message_bytes=size, arm=names[value], time_p50_s=time_s
                    )
                )
    parts = [
        {"benchmarks": ["PingPong"], "arm": names[value], "sizes": [8, 1024], "world_ranks": 2}
        for value in ("", *typed, CONTROL)
    ]
    plan: dict[str, Any] = {"benchmarks": ["PingPong"], "parts": parts}
    planted.store(planted.run(measured, records, plan=plan), folder)
    return folder


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    planted_sweep(tmp_path / "sweep")
    return "sweep"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert cli(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [("show", "sweep", "--pivot", "setting"), ("best", "sweep", "--pivot")],
)
def test_columns_are_in_the_order_typed(
    words: tuple[str, ...], sweep: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep
    (table,) = json.loads(printed(capsys, *words, "--format", "json"))["tables"]
    assert table["columns"] == [*(f"{NAME}={value}" for value in TYPED), CONTROL, DEFAULT]
    assert table["failed"] == [f"{NAME}={FAILS}"]
    assert table["ratio_to"] == DEFAULT
    text = printed(capsys, *words)
    heads = [line for line in text.splitlines() if re.fullmatch(r"( +[a-z0-9]+)+", line)]
    names = [word for line in heads for word in line.split()]
    assert names == [*TYPED, CONTROL, DEFAULT]
    assert f"Columns are named without “{NAME}=”." in text
    assert text.count(NAME) == 1, "what the heads leave out is left out below, too"
    assert text.count("failed") >= 2
    assert "job" not in text
    assert "–" not in re.sub(r"\d–\d", "", text), "what failed is told from what was not measured"


def test_lines_are_in_the_order_typed(sweep: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "best", sweep)
    of_8 = text[text.index("8 B") : text.index("1 KiB")].removeprefix("8 B").splitlines()
    lines = [line.split() for line in of_8 if line.split()]
    worked = [value for value in TYPED if value != FAILS]
    assert [words[0] for words in lines] == [*worked, FAILS, DEFAULT]
    assert lines[-2] == [FAILS, "failed"]
    assert lines[-1][-2:] == ["best:", "1000"]
    assert f"Settings are named without “{NAME}=”." in text
    told = json.loads(printed(capsys, "best", sweep, "--format", "json"))
    assert told["arms"] == [*(f"{NAME}={value}" for value in worked), CONTROL]
    assert told["failed"] == [f"{NAME}={FAILS}"]


@pytest.mark.parametrize("words", [(), ("--pivot",)])
def test_a_sweep_ends_with_its_answer(
    words: tuple[str, ...], sweep: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, "best", sweep, *words)
    *_, end = text.strip().split("\n\n")
    failed, best, *_, last = end.splitlines()
    assert failed == f"{FAILS} failed in 6 launches: exit status 1: Assertion failed."
    assert best.startswith("PingPong on 2 ranks: 1000 takes 30 % less time than default over all")
    assert last == "Next: `mpigauge report sweep` (one page with plots, for a browser)"


def test_a_sweep_of_one_size_ends_with_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    measured = [
        cells.cell(launch=launch, message_bytes=8, arm=arm, time_p50_s=time_s)
        for launch in range(6)
        for arm, time_s in (("", 2e-6), ("A=1", 1e-6))
    ]
    planted.store(planted.run(measured), tmp_path / "one")
    assert "\nPingPong: A=1 is best.\n" in printed(capsys, "best", "one")


def test_a_run_with_a_failed_setting_is_no_failed_run(
    sweep: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = load(Path(sweep))
    shown = RunResult.of(sweep, stored)
    assert not any("before its end" in sentence for sentence in opening([shown], None))
    page = pages.report_of(shown)
    assert "before its end" not in page
    assert "<td>failed</td>" in re.sub(r"<td[^>]*>", "<td>", page)
    text = render("table", shown.document)
    assert "failed" not in text.splitlines()[0]
    assert f"({NAME}={FAILS}) failed: exit status 1: Assertion failed" in text
    assert capsys.readouterr().err == ""
