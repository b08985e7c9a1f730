# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The commands sql, export and ls --where."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.result.library import parts
from mpigauge.result.library.samples import add_samples
from tests import cells, runs


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def two() -> Path:
    root = Path("mpigauge-runs")
    runs.write(root / "a")
    more = {"mpi": {"name": "openmpi", "version": "5.0.11"}, "created": "2026-11-20T05:00:00Z"}
    runs.write(root / "b", status=None, header=more)
    return root


@pytest.mark.usefixtures("two")
def test_sql_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT run, latency_s, time_pure_s, stops FROM rows ORDER BY run"
    assert run(["sql", query]) == 0
    captured = capsys.readouterr()
    assert [line.split() for line in captured.out.splitlines()] == [
        ["run", "latency_s", "time_pure_s", "stops"],
        ["a", "5e-07", "precise"],
        ["b", "5e-07", "precise"],
    ]
    assert captured.err == ""


def test_sql_in_other_formats_and_files(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT run, cells FROM runs ORDER BY run"
    assert run(["sql", query, "--format", "csv", str(two)]) == 0
    assert capsys.readouterr().out == "run,cells\na,1\nb,1\n"
    assert run(["sql", query, "--format", "json", "-o", "x.json", str(two / "b")]) == 0
    assert json.loads(Path("x.json").read_text()) == [{"run": "b", "cells": 1}]
    assert run(["sql", query, "--format", "parquet"]) == 2
    assert capsys.readouterr().err.endswith("parquet is not text; name a file for it with -o\n")
    assert run(["sql", "SELECT nothing FROM runs", "-o", "y.txt"]) == 2
    assert sorted(path.name for path in Path().iterdir()) == ["mpigauge-runs", "x.json"]


def test_what_is_no_file_is_written_to_and_never_replaced(two: Path) -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert run(["export", "csv", str(two), "--table", "ranks", "-o", "pipe"]) == 0
    assert os.read(reader, 4).decode() == "run,"
    os.close(reader)
    assert Path("pipe").is_fifo()
    assert run(["share", "a", "-o", "pipe"]) == 2
    assert Path("pipe").is_fifo()


def test_a_folder_without_runs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    assert run(["sql", "SELECT count(*) AS n FROM rows", "empty"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("n\n0\n", "mpigauge: no runs in empty\n")
    assert run(["sql", "SELECT 1"]) == 2
    assert "there is no folder mpigauge-runs here" in capsys.readouterr().err


def test_what_is_not_right_is_said_beside_the_answer(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(9):
        shutil.copytree(two / "a", two / f"copy{number}")
    assert run(["sql", "SELECT count(*) AS n FROM runs"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "n\n2\n"
    lines = captured.err.splitlines()
    assert len(lines) == 9
    assert lines[0] == "mpigauge: left out: copy0 is a copy of a"
    assert lines[-1].startswith("mpigauge: and 1 more; ")


@pytest.mark.usefixtures("two")
def test_ls_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ls", "--where", "cells > 0"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["run", "b", "a"]
    assert run(["ls", "--where", "mpi_name = 'openmpi' AND status <> 'done'"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:2] == ["b", "unfinished"]
    assert run(["ls", "--where", "cells > 5"]) == 0
    assert capsys.readouterr().err == "no runs in mpigauge-runs where cells > 5\n"
    for wrong, says in (
        ("cels > 5", "did you mean 'cells'?"),
        ("cells >", "this is not a query: "),
    ):
        assert run(["ls", "--where", wrong]) == 2
        assert says in capsys.readouterr().err


def test_ls_names_what_it_cannot_read(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (two / "a" / "run.json").write_text("{", encoding="utf-8")
    for words in (["ls"], ["ls", "--where", "true"]):
        assert run(words) == 0
        captured = capsys.readouterr()
        assert [line.split()[0] for line in captured.out.splitlines()] == ["run", "b"]
        assert captured.err.startswith("mpigauge: left out: ")
        assert "a/run.json is damaged" in captured.err


def test_export(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["run"], row["benchmark"], row["latency_s"]) for row in rows] == [
        ("a", "PingPong", "5e-07"),
        ("b", "PingPong", "5e-07"),
    ]
    assert run(["export", "json", "b", "--table", "ranks"]) == 0
    ranks = json.loads(capsys.readouterr().out)
    assert [(rank["run"], rank["rank"]) for rank in ranks] == [("b", 0), ("b", 1)]
    shutil.copytree(two, "other")
    more = {"created": "2026-11-19T05:00:00Z"}
    shutil.rmtree(Path("other") / "a")
    runs.write(Path("other") / "a", header=more)
    assert run(["export", "json", "a", "other/a", "--table", "runs"]) == 0
    assert [Path(each["run"]).name for each in json.loads(capsys.readouterr().out)] == ["a", "a"]
    assert run(["export", "parquet", "--samples", "-o", "x.parquet"]) == 0
    assert run(["sql", "SELECT count(*) AS n FROM 'x.parquet'"]) == 0
    assert capsys.readouterr().out == "n\n0\n"


def test_references_are_taken_as_runs_are(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT run, count(*) > 10, count(DISTINCT origin) FROM rows GROUP BY run ORDER BY run"
    assert run(["sql", query, "--format", "csv", "ref:juno", str(two / "a"), "ref:ulysses"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1:] == ["a,false,1", "ref:juno,true,1"]
    assert captured.err == ""
    assert run(["export", "json", "--table", "figures", "ref:ulysses"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["run"] == "ref:ulysses"
    assert run(["export", "parquet", "--samples", "-o", "x.parquet", "ref:juno"]) == 0
    assert run(["sql", query, "ref:junoo"]) == 2
    assert "no reference 'junoo'; did you mean 'juno'?" in capsys.readouterr().err


def test_what_is_imported_twice_counts_once(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    tables = repository / "tests" / "golden" / "imb"
    for name in ("impi-MPI1-band-np2", "impi-MPI1-band-np2", "impi-MPI1-all-default-np2"):
        assert run(["import", str(tables / f"{name}.txt")]) == 0
    capsys.readouterr()
    query = "SELECT count(DISTINCT run) AS runs FROM rows WHERE origin = 'imported'"
    assert run(["sql", query, "--format", "csv"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "runs\n2\n"
    assert captured.err.count(" is a copy of ") == 1


def test_packed_runs_are_imported_first(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["share", "a", "-o", "a.mpigauge"]) == 0
    shutil.rmtree(two)
    capsys.readouterr()
    assert run(["sql", "SELECT run FROM runs", "a.mpigauge"]) == 2
    assert "a.mpigauge is a file and no run folder; `mpigauge import`" in capsys.readouterr().err
    assert run(["import", "a.mpigauge"]) == 0
    capsys.readouterr()
    assert run(["sql", "SELECT run, cells FROM runs", "--format", "csv"]) == 0
    assert capsys.readouterr().out == "run,cells\na,1\n"


def test_runs_that_are_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "csv", "nowhere"]) == 2
    assert "there is no run 'nowhere'" in capsys.readouterr().err


# --- samples ----------------------------------------------------------------------------------
def test_the_table_of_samples_written_out(tmp_path: Path) -> None:
    """A line each, in seconds of one call; runs and cells without samples have none."""
    import duckdb

    lines = [
        runs.launch(),
        runs.cell(message_bytes=8, calls=4, raw=cells.raw([[100, 200], [300]], [0, 2], hz=1e8)),
        runs.cell(message_bytes=64, calls=1),
        cells.end(),
        runs.cell(1, message_bytes=8, calls=2, raw=cells.raw([[50]], hz=1e9)),
    ]
    one = runs.write(tmp_path / "one", lines)
    lost = runs.write(tmp_path / "lost", lines)
    (lost / "samples" / "launch-000.bin").write_bytes(b"1234")
    con = duckdb.connect()
    said = add_samples(con, {"one": one, "lost": lost, "none": tmp_path / "none"})
    names = "run, launch, benchmark, message_bytes, sample, round, taint"
    found = con.execute(
        f"SELECT {names}, time_max_s, time_min_s, time_avg_s FROM samples ORDER BY ALL"
    ).fetchall()
    times = [(t, t - 2, t - 1) for t in (50, 100, 200, 300)]
    by = (2e9, 4e8, 4e8, 4e8)
    fifty, *others = ([tick / hz for tick in row] for row, hz in zip(times, by, strict=True))
    assert [row[:7] for row in found] == [
        ("lost", 1, "PingPong", 8, 0, 1, 0),
        ("one", 0, "PingPong", 8, 0, 1, 0),
        ("one", 0, "PingPong", 8, 1, 1, 0),
        ("one", 0, "PingPong", 8, 2, 2, 2),
        ("one", 1, "PingPong", 8, 0, 1, 0),
    ]
    for row, expected in zip(found, (fifty, *others, fifty), strict=True):
        assert list(row[7:]) == pytest.approx(expected, rel=1e-12)
    assert said[0].startswith("left out: samples of lost: ")
    assert said[1].startswith("left out: ")
    assert len(said) == 2


def test_a_stored_table_is_whole_by_its_size_and_its_end(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    file.write_bytes(b"PAR1....PAR1")
    assert [parts._whole(file, size) for size in (11, 12, 13)] == [False, True, False]
    file.write_bytes(b"PAR1....PAR")
    assert not parts._whole(file, 11)
