# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Metrics for Prometheus: what its own parser reads, and what examples ask for."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from prometheus_client import Metric as ParsedMetric
from prometheus_client.parser import text_string_to_metric_families

from mpigauge.cli.main import run
from mpigauge.cli.runs.metrics_file import write
from mpigauge.commands.runs import STATUSES
from mpigauge.model.row import Estimate
from mpigauge.products.check.result import CheckLine, CheckResult
from mpigauge.products.check.show_prometheus import OUTCOMES, metrics_of
from mpigauge.show.tables.prometheus import Metric, text_of
from tests import cells, runs

EXAMPLES = Path(__file__).resolve().parents[4] / "examples/prometheus"
CREATED = "2026-11-23T05:00:00Z"
LINES = [
    CheckLine("PASS", "PingPong 8 B", "time", "s", Estimate(1e-6, 0.9e-6, 1.1e-6), 2e-6),
    CheckLine("FAIL", "PingPong 1 MiB", "bandwidth", "B/s", Estimate(1e9, 9e8, 1.1e9), 2e9, False),
    CheckLine("UNDECIDED", "Uniband 8 B", "rate", "/s", Estimate(1e6, math.nan, math.nan), 2e6),
    CheckLine("PASS", "FABRIC:hosts", "n1", "×", Estimate(1.0, 0.98, 1.02), 0.9, False),
    CheckLine("UNDECIDED", 'odd "name" \\ of\ntwo lines', "time", why="not measured"),
]


def parsed(text: str) -> dict[str, ParsedMetric]:
    return {family.name: family for family in text_string_to_metric_families(text)}


def series(metrics: Iterable[Metric]) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    found = {}
    for family in parsed(text_of(metrics)).values():
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found, f"{key} comes twice"
            assert sample.timestamp is None
            found[key] = sample.value
    return found


def labelled(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


def test_each_verdict_is_a_series_of_its_own() -> None:
    found = series(metrics_of(CheckResult(tuple(LINES)), CREATED))
    for line in LINES:
        bound = "at most" if line.at_most else "at least"
        for outcome in OUTCOMES:
            labels = {"what": line.name, "quantity": line.what, "bound": bound}
            key = labelled("mpigauge_check_line_outcome", **labels, outcome=outcome)
            assert found[key] == float(outcome == line.outcome)
    assert found[labelled("mpigauge_check_outcome", outcome="FAIL")] == 1
    assert found[labelled("mpigauge_check_outcome", outcome="PASS")] == 0


def test_numbers_are_in_base_units_with_their_intervals() -> None:
    found = series(metrics_of(CheckResult(tuple(LINES)), CREATED))
    labels = {"what": "PingPong 8 B", "quantity": "time", "bound": "at most"}
    numbers = {
        number: found[labelled("mpigauge_check_seconds", **labels, number=number)]
        for number in ("value", "low", "high", "allowed")
    }
    assert numbers == {"value": 1e-6, "low": 0.9e-6, "high": 1.1e-6, "allowed": 2e-6}
    names = {name for name, _ in found}
    assert {"mpigauge_check_bytes_per_second", "mpigauge_check_messages_per_second"} <= names


def test_what_is_not_known_has_no_series() -> None:
    found = series(metrics_of(CheckResult(tuple(LINES)), CREATED))
    assert not any(math.isnan(value) for value in found.values())
    of_rate = [dict(labels)["number"] for name, labels in found if "messages" in name]
    assert sorted(of_rate) == ["allowed", "value"]


def test_of_two_lines_that_ask_the_same_the_worse_counts() -> None:
    twice = [CheckLine(each, "PingPong 8 B", "time") for each in ("PASS", "FAIL", "PASS")]
    found = series(metrics_of(CheckResult(tuple(twice)), CREATED))
    labels = {"what": "PingPong 8 B", "quantity": "time", "bound": "at most"}
    assert found[labelled("mpigauge_check_line_outcome", **labels, outcome="FAIL")] == 1


def test_when_the_run_was_made_is_a_value() -> None:
    found = series(metrics_of(CheckResult(tuple(LINES)), CREATED))
    assert found[labelled("mpigauge_check_run_timestamp_seconds")] == 1795410000


@pytest.mark.parametrize(
    "name", [metric.name for metric in metrics_of(CheckResult(tuple(LINES)), CREATED)]
)
def test_each_metric_says_what_it_is(name: str) -> None:
    family = parsed(text_of(metrics_of(CheckResult(tuple(LINES)), CREATED)))[name]
    assert family.type == "gauge"
    assert family.documentation.endswith(".")
    assert re.fullmatch(r"mpigauge_[a-z_]+", name)


def stored(root: Path, name: str) -> Path:
    lines = [runs.launch(), runs.cell(message_bytes=8), cells.end()]
    return runs.write(root / name, lines, header={"created": CREATED})


def test_check_writes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    stored(tmp_path, "one")
    words = ["check", "one", "--against", "one", "--prometheus", "check.prom"]
    assert run([*words, "--json"]) in (0, 1)
    outcome = json.loads(capsys.readouterr().out)["outcome"]
    families = parsed(Path("check.prom").read_text(encoding="utf-8"))
    states = {s.labels["outcome"]: s.value for s in families["mpigauge_check_outcome"].samples}
    assert states == {word: float(word == outcome) for word in OUTCOMES}
    assert [path.name for path in tmp_path.iterdir() if ".prom" in path.name] == ["check.prom"]


def test_ls_writes_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        stored(tmp_path / "all", name)
    assert run(["ls", "all", "--prometheus", "runs.prom"]) == 0
    families = parsed(Path("runs.prom").read_text(encoding="utf-8"))
    assert families["mpigauge_runs"].samples[0].value == 2
    ended = families["mpigauge_run_status"].samples
    assert {sample.labels["run"] for sample in ended} == {"one", "two"}
    assert {sample.labels["status"] for sample in ended} == set(STATUSES)
    assert sum(sample.value for sample in ended) == 2
    made = families["mpigauge_run_timestamp_seconds"].samples
    assert {sample.value for sample in made} == {1795410000}


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("check.txt", "--prometheus check.txt: node exporter reads files that end in .prom"),
        ("no/check.prom", "cannot write no/check.prom: there is no folder"),
    ],
)
@pytest.mark.parametrize("words", [["check", "one"], ["ls"]])
def test_files_that_would_not_be_read_are_refused(
    words: list[str], file: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run([*words, "--prometheus", file]) == 2
    assert why in capsys.readouterr().err


def test_the_old_file_stays_where_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "check.prom"
    file.write_text("old", encoding="utf-8")

    def broken(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("mpigauge.cli.runs.metrics_file.text_of", broken)
    with pytest.raises(KeyboardInterrupt):
        write(file, [])
    assert file.read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("name", ["alerts.yml", "dashboard.json"])
def test_examples_ask_for_what_is_written(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    written = {metric.name: metric for metric in metrics_of(CheckResult(tuple(LINES)), CREATED)}
    asked = set(re.findall(r"mpigauge_check_[a-z_]+", text))
    assert asked
    assert asked <= set(written)
    labels = {label for metric in written.values() for each, _ in metric.series for label in each}
    named = re.findall(r"\$labels\.(\w+)", text) + re.findall(r"\{\{(\w+)\}\}", text)
    assert set(named) <= labels
    for outcome in re.findall(r'outcome=\\?"(\w+)\\?"', text):
        assert outcome in OUTCOMES


def test_the_dashboard_is_json_with_panels_that_do_not_overlap() -> None:
    board = json.loads((EXAMPLES / "dashboard.json").read_text(encoding="utf-8"))
    places = [panel["gridPos"] for panel in board["panels"]]
    squares = [
        (x, y)
        for at in places
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(squares) == len(set(squares))
    assert max(x for x, _ in squares) < 24
