# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs that hold figures alone, and profiles: each format prints them, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.products.profile.printing import PRINTED as OF_PROFILES
from mpigauge.show.formats import for_any_run

PRINTED = Path(__file__).parents[2] / "golden/printed"


@pytest.fixture
def figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    monkeypatch.chdir(tmp_path)
    assert mpigauge(["import", str(PRINTED / "hpl-variants.txt"), "--output", "a run"]) == 0
    capsys.readouterr()
    return tmp_path / "a run"


@pytest.mark.parametrize("form", for_any_run())
def test_a_format_has_the_figures_or_is_refused(
    form: str, figures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = mpigauge(["show", figures.name, "--format", form])
    out, err = capsys.readouterr()
    if form in ("csv", "imb"):
        assert (status, out) == (2, "")
        assert "holds figures alone" in err
        assert "`mpigauge export csv 'a run' --table figures`" in err
    else:
        assert status == 0
        assert "speed of one GPU" in out
        assert "34230" in out


@pytest.mark.parametrize("form", ["csv", "imb"])
def test_a_refused_import_leaves_no_run(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["import", str(PRINTED / "hpl-variants.txt"), "--output", str(tmp_path / "run")]
    assert mpigauge([*words, "--format", form]) == 2
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("form", [form for form in for_any_run() if form not in OF_PROFILES])
def test_formats_of_rows_are_refused_for_a_profile(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["import", str(PRINTED / "ember-mpip-report.txt"), "--output", str(tmp_path / "run")]
    assert mpigauge([*words, "--format", form]) == 2
    assert not (tmp_path / "run").exists()
    assert mpigauge(words) == 0
    capsys.readouterr()
    assert mpigauge(["show", str(tmp_path / "run"), "--format", form]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"--format {form} prints no profiles" in err
