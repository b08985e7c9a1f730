# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Stored runs for programs and notebooks: the values that commands print."""

from __future__ import annotations

import ast
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import mpigauge
from mpigauge import interface
from mpigauge.cli.main import run as command
from mpigauge.commands.run import command as RUN  # noqa: N812
from mpigauge.model.option_table import GENERAL, OFFERED
from tests import cells, runs

ROOT = Path(__file__).resolve().parents[2]
QUICK = str(ROOT / "tests/data/quick.mpigauge")
IMB = ROOT / "tests/golden/printed"


@pytest.fixture(scope="module")
def quick() -> mpigauge.OpenedRun:
    return opened(QUICK)


def opened(what: str | Path) -> mpigauge.OpenedRun:
    found = mpigauge.open(what)
    assert isinstance(found, mpigauge.OpenedRun)
    return found


def stored(root: Path, name: str, median_s: float = 1e-6) -> Path:
    lines = [runs.launch(), runs.cell(time_p50_s=median_s, message_bytes=8), cells.end()]
    return runs.write(root / name, lines)


def printed(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert command(list(words)) == 0
    return capsys.readouterr().out


def test_the_same_numbers_as_show(
    quick: mpigauge.OpenedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(printed("show", QUICK, "--format", "json", capsys=capsys))
    assert len(quick.rows) == len(told["rows"]) > 50
    for row, said in zip(quick.rows, told["rows"], strict=True):
        assert row.cell.benchmark == said["benchmark"]
        assert row.message_bytes == said["message_bytes"]
        assert math.isclose(row.time.value, said["time_p50_s"], rel_tol=1e-6)


def test_the_same_table_as_show(
    quick: mpigauge.OpenedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    assert quick.table() == printed("show", QUICK, capsys=capsys)


def test_the_same_findings_as_explain(
    quick: mpigauge.OpenedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(printed("explain", QUICK, "--format", "json", capsys=capsys))
    assert [found.what for found in quick.findings] == [each["what"] for each in told["findings"]]
    assert quick.findings


def test_the_same_verdicts_as_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = stored(tmp_path, "one"), stored(tmp_path, "other", 2e-6)
    found = opened(one).compare(opened(other))
    (entry,) = found.entries
    assert entry.ratio is not None
    assert entry.ratio.estimate.value == pytest.approx(2)
    assert entry.verdict in printed("compare", str(one), str(other), capsys=capsys)


def test_curves_go_up_in_size(quick: mpigauge.OpenedRun) -> None:
    sizes = [[row.message_bytes for row in curve.rows] for curve in quick.curves]
    assert sizes
    assert all(each == sorted(each) for each in sizes)


def test_a_folder_is_a_sequence_of_runs(tmp_path: Path) -> None:
    stored(tmp_path, "20261121-050000-run")
    stored(tmp_path, "20261122-050000-run", 2e-6)
    found = mpigauge.open(tmp_path)
    assert isinstance(found, mpigauge.OpenedRuns)
    assert [run.name for run in found] == ["20261121-050000-run", "20261122-050000-run"]
    assert found[-1].rows[0].time.value == pytest.approx(2e-6)
    assert len(found[:1]) == 1


def test_a_log_of_another_program_is_opened_and_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = next(IMB.glob("*osu*.txt"))
    found = opened(log)
    assert found.name == log.name
    assert found.rows
    assert list(tmp_path.iterdir()) == []


def test_arrow_has_the_rows_of_sql(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    stored(tmp_path, "20261121-050000-run")
    stored(tmp_path, "20261122-050000-run", 2e-6)
    table_of_runs = mpigauge.open(tmp_path)
    assert isinstance(table_of_runs, mpigauge.OpenedRuns)
    answer = duckdb.sql("SELECT count(*), max(time_p50_s) FROM table_of_runs")
    assert answer.fetchall() == [(2, 2e-6)]


def test_what_is_not_there_is_said_as_commands_say_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(mpigauge.UserError) as refused:
        mpigauge.open("nothing")
    assert command(["show", "nothing"]) == 2
    assert capsys.readouterr().err == f"mpigauge: {refused.value}\n"


def test_an_empty_folder_holds_no_run(tmp_path: Path) -> None:
    with pytest.raises(mpigauge.UserError, match="holds no run"):
        mpigauge.open(tmp_path)


def test_one_run_alone_cannot_be_compared(quick: mpigauge.OpenedRun) -> None:
    with pytest.raises(mpigauge.UserError, match="name a run to compare with"):
        quick.compare()


def test_in_a_notebook_stand_plots_and_tables(quick: mpigauge.OpenedRun) -> None:
    html = quick._repr_html_()
    first = next(row for row in quick.rows if row.benchmark == "PingPong")
    assert html.count("<svg") >= 2
    assert f"{1e6 * first.latency.value:.3g}" in html
    assert not re.search(r"<(script|link|iframe)|(src|href)=", html)


def test_names_cost_nothing_before_they_are_used() -> None:
    program = "import sys, mpigauge; print('mpigauge.interface' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_the_notebook_in_examples_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each cell in turn; the value of a last expression is shown, as a notebook does it."""
    monkeypatch.setenv("RUN", QUICK)
    notebook = json.loads((ROOT / "examples/notebook.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    shown = [
        run_cell("".join(cell["source"]), names)
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]
    assert "<svg" in shown[0]
    out = capsys.readouterr().out
    assert "µs" in out
    assert "1.000 [" in out


def run_cell(source: str, names: dict[str, Any]) -> str:
    body = ast.parse(source).body
    last = body[-1]
    if not isinstance(last, ast.Expr) or isinstance(last.value, ast.Call):
        exec(source, names)
        return ""
    exec(compile(ast.Module(body[:-1], []), "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return str(value._repr_html_())


# --- measure -------------------------------------------------------------------------------
def test_wrong_options_are_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(mpigauge.UserError, match=r"there is no option 'size'.*sizes"):
        mpigauge.measure("PingPong", size="8")  # type: ignore[call-overload]
    with pytest.raises(mpigauge.UserError, match="there is no benchmark 'PingPung'"):
        mpigauge.measure("PingPung", output=tmp_path / "run")
    with pytest.raises(mpigauge.UserError, match="--launches: 0 is out of range"):
        mpigauge.measure("PingPong", launches=0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cache": "warm"}, "'warm' is not one of 'hot', 'cold', 'both'"),
        ({"data": "new"}, "'new' is not one of"),
        ({"inflight": "many"}, "'many' is not a valid integer"),
        ({"launches": True}, "requires an argument"),
        ({"seed": 1.5}, "'1.5' is not a valid integer"),
        ({"np": "two"}, "'two' is not a number of ranks"),
        ({"classic": "yes"}, "unexpected extra argument"),
        ({"sizes": ()}, "--sizes"),
    ],
)
def test_values_are_checked_as_on_the_command_line(
    options: Any, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(mpigauge.UserError, match=message):
        mpigauge.measure("PingPong", **options)
    assert not list(tmp_path.iterdir())


def test_values_become_the_words_of_a_command() -> None:
    options = mpigauge.RunOptions(
        sizes=(size for size in (8, 65536)), ranks=2, place=["socket", "sockets"],
        settings={"A": "1", "B": "2"}, seconds=2.5, launches=6, classic=True, precision=0.02,
    )  # fmt: skip
    assert " ".join(interface._in_words(options)) == (
        "--sizes 8,65536 --ranks 2 --place socket --place sockets --set A=1 --set B=2 --time 2.5s "
        "--launches 6 --classic --precision 0.02"
    )


def test_every_option_of_measure_is_one_of_run() -> None:
    options = {name: parameter for parameter in RUN.params for name in parameter.opts}
    rows = {row.python: row for row in (*GENERAL, *OFFERED) if row.python}
    assert set(mpigauge.RunOptions.__annotations__) == set(rows)
    for row in rows.values():
        assert options[row.flag].name == row.key


def test_measure_has_all_options_of_run_but_those_of_the_command_itself() -> None:
    flags = {parameter.opts[0] for parameter in RUN.params if isinstance(parameter, click.Option)}
    flags -= {row.flag for row in (*GENERAL, *OFFERED) if row.python}
    own = {"--mpi", "--output", "--dry-run", "--topology", "--no-history", "--format", "--json"}
    assert flags == own


def test_compare_takes_words_and_runs(tmp_path: Path) -> None:
    first, second = stored(tmp_path, "a"), stored(tmp_path, "b", 2e-6)
    (entry,) = mpigauge.compare(first, opened(second)).entries
    assert entry.ratio
    assert entry.ratio.estimate.value == pytest.approx(2)
    with pytest.raises(mpigauge.UserError, match="holds 2 runs; name one of them"):
        mpigauge.compare(first, tmp_path)
