# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The screen of a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.cli.main import run as mpigauge
from mpigauge.products.fabric.show import page
from mpigauge.result.document import document
from mpigauge.result.fabric.fabric import fabric_of
from mpigauge.result.fabric.impact import VICTIMS
from mpigauge.runs.store import load
from tests import fabrics

if TYPE_CHECKING:
    import pytest

TERMINAL = 24, 80
"""Lines, one of which is for the next command, and columns."""


def shown(folder: Path, whole: bool = False) -> list[str]:
    stored = load(folder)
    made = document(stored)
    fabric = fabric_of(stored, made.rows)
    assert fabric is not None
    return list(page(made, fabric, whole=whole))


def test_eight_hosts_fit_on_the_smallest_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    slow = lambda pair: 0.5 if 3 in pair else 1.0  # noqa: E731
    fabrics.run(
        tmp_path / "run", slow, slow, halves=slow, names=VICTIMS, slower=78.125, stopped="put"
    )
    lines = shown(Path("run"))
    assert len(lines) < TERMINAL[0]
    assert max(map(len, lines)) <= TERMINAL[1]
    assert lines[3].startswith("SLOW: host n3")
    assert "--all` (" in lines[-1] or "--all` (" in lines[-2]


def test_what_a_short_screen_leaves_out_is_in_the_long_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = str(fabrics.run(tmp_path / "run", names=VICTIMS, stopped="put"))
    assert mpigauge(["show", stored]) == 0
    short = capsys.readouterr().out
    assert re.search(r"--all` \(\d more findings and 99th percentiles\)", short)
    assert mpigauge(["show", stored, "--all"]) == 0
    long = capsys.readouterr().out
    tail, stopped = "\n  99 % ", "Allreduce 1 MiB beside put does not count"
    assert tail in long
    assert stopped in long
    assert tail not in short
    assert stopped not in short


def test_a_network_has_its_numbers_on_a_screen(tmp_path: Path) -> None:
    lines = shown(fabrics.run(tmp_path / "run"))
    text = "\n".join(lines)
    assert re.search(r"random pairs +100 % ± [\d.]+ % +99 % +8\d{3} +40", text)
    assert re.search(r"many to one +1049", text)
    assert "many to one: with 4 hosts less than half" in text
    assert re.search(r"Ring 1 MiB +1\.00±0\.0\d +1\.98±", text)


def test_a_slow_host_is_named_with_its_confidence(tmp_path: Path) -> None:
    slow = lambda pair: 0.5 if 3 in pair else 1.0  # noqa: E731
    text = " ".join("\n".join(shown(fabrics.run(tmp_path / "run", slow, slow))).split())
    assert re.search(r"SLOW: host n3, others have [\d.]+ times its bandwidth", text)
    assert re.search(r"confidence >?99\.\d* %", text)


def test_without_a_fault_nothing_is_named(tmp_path: Path) -> None:
    text = "\n".join(shown(fabrics.run(tmp_path / "run")))
    assert "SLOW" not in text
    assert "no host, link or group of 8 hosts is slower than others" in text


def test_a_row_beside_aggressors_that_stopped_says_so(tmp_path: Path) -> None:
    text = "\n".join(shown(fabrics.run(tmp_path / "run", stopped="incast")))
    assert "Ring 1 MiB beside incast does not count: the aggressors stopped early" in text


def test_show_prints_the_screen_and_formats_print_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = str(fabrics.run(tmp_path / "run"))
    assert mpigauge(["show", stored]) == 0
    assert "all at once" in capsys.readouterr().out
    assert mpigauge(["show", stored, "--format", "csv"]) == 0
    assert "Ring_alltoall" in capsys.readouterr().out


def test_other_commands_take_a_network_as_any_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = str(fabrics.run(tmp_path / "run"))
    for words in (
        ["explain", stored],
        ["compare", stored, stored],
        ["check", stored, "--against", stored],
    ):
        assert mpigauge(words) in (0, 1), capsys.readouterr().err
    assert mpigauge(["report", stored, "-o", str(tmp_path / "page.html")]) == 0
