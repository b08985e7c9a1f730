# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Networks against limits, against another run, and their hosts against peers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as mpigauge
from tests import fabrics

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = """
[[figure]]
benchmark = "FABRIC:Bisection"
name = "share"
at_least = 0.9

[[figure]]
benchmark = "FABRIC:Ring_alltoall"
name = "impact"
at_most = 2.5

[[figure]]
benchmark = "FABRIC:hosts"
at_least = 0.9

[[limit]]
benchmark = "FABRIC:Ring"
time = "0.1 ms"
"""


def slow(pair: tuple[int, int]) -> float:
    return 0.5 if 3 in pair else 1.0


def lines(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert mpigauge(["check", *words, "--format", "json"]) in (0, 1)
    checked: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["lines"]
    return checked


def outcomes(of: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    return {(line["name"], line["what"]): line["outcome"] for line in of}


@pytest.fixture
def limits(tmp_path: Path) -> str:
    file = tmp_path / "limits.toml"
    file.write_text(LIMITS)
    return str(file)


def test_shares_impacts_and_hosts_have_limits(
    tmp_path: Path, limits: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = fabrics.run(tmp_path / "run", slow, slow, halves=lambda pair: 0.8 * slow(pair))
    of = outcomes(lines(capsys, str(stored), "--against", limits))
    assert of["FABRIC:Bisection", "share"] == "FAIL"
    assert of["FABRIC:Ring_alltoall 1 MiB", "impact"] == "PASS"
    hosts = {what: outcome for (name, what), outcome in of.items() if name == "FABRIC:hosts"}
    assert [host for host, outcome in hosts.items() if outcome != "PASS"] == ["n3"]
    assert of["FABRIC:Ring 1 MiB on 8 ranks", "time"] == "FAIL"


def test_a_host_that_is_slower_than_its_peers_fails_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = str(fabrics.run(tmp_path / "run", slow, slow))
    (line,) = lines(capsys, stored)
    assert (line["outcome"], line["name"], line["what"]) == ("FAIL", "FABRIC: host n3", "peers")
    assert line["value"] == pytest.approx(2, rel=0.02)
    assert line["low"] < line["value"] < line["high"]
    assert line["allowed"] == 1.1
    assert "confidence" in line["why"]
    assert mpigauge(["check", stored]) == 1


def test_hosts_like_their_peers_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = str(fabrics.run(tmp_path / "run"))
    assert mpigauge(["check", stored]) == 0
    assert "8 hosts like their peers" in capsys.readouterr().out


def test_three_hosts_are_too_few_to_be_peers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = fabrics.run(tmp_path / "run", hosts=("a", "b", "c"))
    (line,) = lines(capsys, str(stored))
    assert (line["outcome"], line["what"]) == ("UNDECIDED", "peers")
    assert "fewer than 4 hosts" in line["why"]


def test_few_rounds_are_called_rounds(
    tmp_path: Path, limits: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fabrics, "ROUNDS", 4)
    stored = fabrics.run(tmp_path / "run", halves=lambda _: 1.0)
    of = lines(capsys, str(stored), "--against", limits)
    (share,) = (line for line in of if line["what"] == "share")
    assert (share["outcome"], share["why"]) == ("UNDECIDED", "4 rounds, at least 6 are needed")


def test_a_network_is_checked_against_another_day(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = fabrics.run(tmp_path / "a"), fabrics.run(tmp_path / "b", slow, slow)
    of = outcomes(lines(capsys, str(after), "--against", str(before)))
    assert of["FABRIC:hosts", "n3"] == "FAIL"
    assert of["FABRIC:hosts", "n2"] == "PASS"
    assert of["FABRIC:Permutations", "share"] == "PASS"


def test_prometheus_has_the_ratios(
    tmp_path: Path, limits: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stored, metrics = fabrics.run(tmp_path / "run", slow, slow), tmp_path / "check.prom"
    words = ["check", str(stored), "--against", limits, "--prometheus", str(metrics)]
    assert mpigauge(words) == 1
    capsys.readouterr()
    text = metrics.read_text()
    labels = '{what="FABRIC:hosts",quantity="n3",bound="at least",number="value"}'
    value = re.search(re.escape(f"mpigauge_check_ratio{labels}") + r" (\S+)", text)
    assert value is not None
    assert float(value[1]) == pytest.approx(0.5, rel=0.02)
    assert 'mpigauge_check_ratio{what="FABRIC: host n3",quantity="peers"' in text
