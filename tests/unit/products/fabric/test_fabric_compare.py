# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Networks of two days beside each other."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run as mpigauge
from tests import fabrics

if TYPE_CHECKING:
    from pathlib import Path


def slow(pair: tuple[int, int]) -> float:
    return 0.5 if 3 in pair else 1.0


@pytest.fixture
def days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    fabrics.run(tmp_path / "before", halves=lambda _: 0.8)
    fabrics.run(tmp_path / "after", slow, slow, halves=slow, slower=3.0)
    return "before", "after"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert mpigauge(["compare", *words]) == 0
    return capsys.readouterr().out


def test_each_share_impact_and_host_has_a_verdict(
    days: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, *days)
    for row in (
        r"random pairs +1\.00\d+±0\.00\d 1\.00\d+±0\.00\d .* SAME",
        r"halves by name +0\.80\d±0\.00\d .* 1\.2\d+ .* BETTER",
        r"many to one, 5 ranks +262±\? +262±\? .* UNDECIDED",
        r"Ring 1 MiB incast .* WORSE",
        r"n3 .* 0\.50\d 0\.49\d–0\.50\d WORSE",
        r"n4 .* SAME",
    ):
        assert re.search(f"^{row}$", text, re.MULTILINE), row
    assert max(map(len, text.splitlines())) <= 80
    summary = next(line for line in text.splitlines() if line.startswith("after against before"))
    assert re.search(r"\d+ WORSE, \d UNDECIDED, \d BETTER, \d+ SAME", summary)


def test_hosts_that_are_the_same_are_counted_if_there_are_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = [f"n{place:02}" for place in range(20)]
    before = fabrics.run(tmp_path / "before", hosts=hosts)
    after = fabrics.run(tmp_path / "after", slow, slow, hosts=hosts)
    text = printed(capsys, str(before), str(after))
    assert re.search(r"^n03 .* WORSE$", text, re.MULTILINE)
    assert re.search(r"^1\d others +SAME$", text, re.MULTILINE)
    assert "n07" not in text.replace("n[00-19]", "")


def test_three_days_are_each_beside_the_first(
    tmp_path: Path, days: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    fabrics.run(tmp_path / "third")
    text = printed(capsys, *days, "third")
    assert "after against before" in text
    assert "third against before" in text


def test_what_one_run_lacks_is_named(
    tmp_path: Path, days: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    fabrics.run(tmp_path / "short", stopped="put")
    text = " ".join(printed(capsys, days[0], "short").split())
    assert "Left out, as one of the runs has not measured them: FABRIC:Bisection share" in text


def test_programs_get_the_ratios_of_a_network(
    days: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    ratios = json.loads(printed(capsys, *days, "--format", "json"))["ratios"]
    (host,) = (each for each in ratios if each["what"] == "n3")
    assert (host["benchmark"], host["unit"], host["verdict"]) == ("FABRIC:hosts", "×", "WORSE")
    assert host["ratio"] == pytest.approx(0.5, rel=0.02)
    assert "FABRIC:hosts" in printed(capsys, *days, "--format", "markdown")


def test_a_worse_network_fails_if_asked(
    days: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert mpigauge(["compare", *days, "--fail-on", "slower"]) == 1
    assert mpigauge(["compare", days[0], days[0], "--fail-on", "slower"]) == 0
    capsys.readouterr()


def test_a_network_has_no_worst_launch(
    days: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert mpigauge(["compare", *days, "--response", "worst"]) == 2
    assert "numbers of a network are medians over rounds" in capsys.readouterr().err
