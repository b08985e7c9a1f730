# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Each run is of one kind, which commands ask what to do; a new kind is one folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpigauge import products
from mpigauge.cli.main import run as mpigauge
from mpigauge.cli.registry import files_of_products
from mpigauge.cli.runs import kinds
from mpigauge.cli.runs.kinds import KINDS, USUAL, Kind, kind_among, kind_of
from mpigauge.model.registry import Registry
from mpigauge.site.mpi import find
from tests import fabrics, nights, profiles, tunings

NEW = """
from pathlib import Path

import click

from mpigauge.cli.runs.kinds import Kind, kind


@kind("ledger")
class Ledgers(Kind):
    def is_this(self, word):
        return (Path(word) / "ledger").is_file()

    def show(self, word, how):
        click.echo(f"ledger {Path(word).name} as {how.form}")

    def page(self, words, limits_of=None, home="", job=None):
        return f"<p>ledger{home}</p>"

    def compare(self, words, how):
        click.echo(f"{len(words)} ledgers by {how.response}")
        return []
"""


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Path]:
    """A run of each kind."""
    made = {kind: tmp_path / kind for kind in (USUAL, "profile", "tuning", "fabric")}
    nights.folder(tmp_path / "nights")
    (tmp_path / "nights" / "night00").rename(made[USUAL])
    profiles.stored(made["profile"], profiles.job())
    fabrics.run(made["fabric"])
    tunings.make(made["tuning"], find("mpich"))
    return made


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A run of a kind that a folder of products/ adds."""
    folder = tmp_path / "products" / "ledger"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "kind.py").write_text(NEW, encoding="utf-8")
    monkeypatch.setattr(products, "__path__", [*products.__path__, str(folder.parent)])
    usual = dict(KINDS)
    new: Registry[Kind] = Registry("kind of run", lambda: files_of_products("kind"))
    monkeypatch.setattr(kinds, "KINDS", new)
    for name, kind in usual.items():
        new.add(name, kind)
    run = tmp_path / "run"
    run.mkdir()
    (run / "ledger").touch()
    yield run
    sys.modules.pop("mpigauge.products.ledger.kind", None)
    sys.modules.pop("mpigauge.products.ledger", None)


def test_each_run_is_of_one_kind(runs: dict[str, Path]) -> None:
    assert set(runs) == set(KINDS)
    for name, run in runs.items():
        assert kind_of(str(run)).name == name
        special = [each for each in KINDS if each != USUAL and KINDS[each].is_this(str(run))]
        assert special == [name] * (name != USUAL)


def test_the_first_special_kind_decides_for_several_runs(runs: dict[str, Path]) -> None:
    usual, profile = str(runs[USUAL]), str(runs["profile"])
    assert kind_among([usual, usual]).name == USUAL
    assert kind_among([usual, profile]).name == "profile"


def test_show_prints_each_kind(runs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    for run in runs.values():
        assert mpigauge(["show", str(run)]) == 0
        assert capsys.readouterr().out.strip()


def test_show_prints_a_tuning_as_tune_show_does(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for form in ("table", "json"):
        words = ["--format", "json"] if form == "json" else []
        printed = []
        for command in (["show"], ["tune", "show"]):
            assert mpigauge([*command, str(runs["tuning"]), *words]) == 0
            printed.append(capsys.readouterr().out)
        assert printed[0] == printed[1]
    assert mpigauge(["show", str(runs["tuning"]), "--format", "csv"]) == 2
    assert "take table or json" in capsys.readouterr().err


def test_causes_of_all_kinds_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert mpigauge(["explain", "--list"]) == 0
    text = capsys.readouterr().out
    for kind in KINDS.values():
        for name, about in kind.causes():
            assert name in text
            assert about.split(".")[0][:20] in text


def test_a_kind_is_one_folder(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mpigauge(["show", str(ledger), "--format", "csv"]) == 0
    assert capsys.readouterr().out == "ledger run as csv\n"
    assert mpigauge(["compare", str(ledger), str(ledger)]) == 0
    assert capsys.readouterr().out == "2 ledgers by median\n"
    page = ledger.parent / "page.html"
    assert mpigauge(["report", str(ledger), "-o", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == "<p>ledger</p>"
