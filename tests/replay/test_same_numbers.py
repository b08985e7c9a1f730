# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The page, the terminal, CSV and JSON say the same of every kind of row."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from mpigauge.model.record import Figure, Skip
from mpigauge.result.run_result import RunResult
from mpigauge.show.comparisons import best
from mpigauge.show.formats import render
from mpigauge.show.formats.table import figure_lines
from tests import planted
from tests.pages import report_of
from tests.replay.test_report_page import Page

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell

SIZES = [0, 64, 4096]
SKIPPED = "it needs an even number of ranks"


def measured() -> list[Cell]:
    return [
        *planted.curve(planted.line(), sizes=SIZES),
        *planted.curve(planted.line(3e-7), sizes=SIZES, arm="A=1"),
        *planted.curve(planted.line(2e-6), "Bcast", [8], wrong_count=2, flags=("tainted",)),
    ]


@pytest.fixture(scope="module")
def shown() -> RunResult:
    figures = [
        Figure(launch, "STREAM", "Triad", 9000.25 + launch, "MB/s", "higher", ranks=2)
        for launch in range(6)
    ]
    key = {"suite": "MPI1", "benchmark": "PingPing", "ranks": 3, "message_bytes": 8}
    return RunResult.of("run", planted.run(measured(), [*figures, Skip(0, key, SKIPPED)]))


@pytest.fixture(scope="module")
def page(shown: RunResult) -> Page:
    return Page(report_of(shown))


@pytest.fixture(scope="module")
def table(shown: RunResult) -> str:
    return render("table", shown.document)


def test_figures(shown: RunResult, page: Page, table: str) -> None:
    lines = figure_lines(shown.document.figure_rows)
    assert "9002.75" in lines[1]
    assert "\n".join(lines) in page.text
    assert all(line in table for line in lines)
    assert json.loads(page.file(".json"))["figures"] == [
        asdict(figure) for figure in shown.document.figures
    ]


def test_what_was_left_out(page: Page, table: str) -> None:
    sentence = f"PingPing on 3 ranks 8 B left out: {SKIPPED}."
    assert sentence in page.text
    assert sentence in " ".join(table.split())
    (skipped,) = json.loads(page.file(".json"))["skipped"]
    assert (skipped["benchmark"], skipped["ranks"], skipped["reason"]) == ("PingPing", 3, SKIPPED)


def test_wrong_data_and_flags(page: Page, table: str) -> None:
    (row,) = [each for each in page.tables if each[0][0] == "bytes" and each[1][-1] == "T!"]
    assert row[1][0] == "8 B"
    assert "T!" in table
    from_csv = [
        r for r in csv.DictReader(io.StringIO(page.file(".csv"))) if r["wrong_count"] != "0"
    ]
    from_json = [r for r in json.loads(page.file(".json"))["rows"] if r["wrong_count"]]
    for (found,) in (from_csv, from_json):
        assert found["benchmark"] == "Bcast"
        assert int(found["wrong_count"]) == 12  # two in each of six launches
        assert found["flags"] in ("tainted", ["tainted"])
    assert "Bcast 8 B: " in page.text


def test_arms(shown: RunResult, page: Page) -> None:
    assert shown.best is not None
    words = best.render(shown.best, shown.run.cards)
    told = [record for record in json.loads(best.as_json(shown.best))["best"] if record["best"]]
    assert len(told) == len(SIZES)
    names = {name: name for name in shown.best.comparison.names}
    for of in shown.best.tables:
        heads, *rows = best.text_rows(of, names)
        assert [list(heads), *map(list, rows)] in page.tables
        for row in rows:
            told_of = [word for word in row if word and not word.startswith("best: ")]
            assert all(word in words for word in told_of if word not in names)


def test_errors(shown: RunResult, page: Page, table: str) -> None:
    """Of the headline: words on the page and in the terminal, ends in JSON."""
    head = json.loads(page.file(".json"))["headline"]
    assert shown.document.headline is not None
    assert head["latency_s"]["value"] == shown.document.headline.latency_s.value  # type: ignore[union-attr]
    error = max(head["latency_s"]["high"] / head["latency_s"]["value"] - 1, 0)
    assert f"±{100 * error:.1f} %" in page.text
    assert f"±{100 * error:.1f} %" in table
