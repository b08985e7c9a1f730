# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Commands, options and errors: every mistake is one line and status 2, before any launch."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli import registry
from mpigauge.cli.main import Commands, group, run
from mpigauge.commands.benchmarks import in_full, in_lines
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.mpi import Kernels
from mpigauge.runs.store import RunWriter, load
from mpigauge.session import ending
from mpigauge.show.tables.text_table import text_table
from tests import cells

COMMANDS = list(registry.COMMANDS)
LAUNCH = {
    "launch": 0, "schema": 1, "time": "2026-11-21T05:00:00Z", "mpi_library": "MPICH",
    "mpi_standard": "4.1", "abi": "mpich", "world_ranks": 2, "mode": "adaptive",
    "precision": 0.05, "seed": 1, "thread_level": "single", "clock": {},
}  # fmt: skip
HEAVY = {"numpy", "scipy", "rich", "duckdb", "altair", "mpigauge.measuring.plan", "mpigauge.show",
         "mpigauge.result.library"}  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs are found below the folder that one stands in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stored(name: str, *more: str) -> Path:
    folder = Path("mpigauge-runs") / name
    folder.parent.mkdir(exist_ok=True)
    plan = {"precision": 0.05, "benchmarks": ["PingPong"]}
    header = {
        "version": "1.2",
        "command": ["mpigauge", "run", "PingPong"],
        "plan": plan,
        "mpi": {"name": "mpich", "version": "5.0.2"},
    }
    with RunWriter.create(header, cells.cards_text(), output=folder) as writer:
        cell = cells.line("cell", **cells.fields(message_bytes=8))
        for line in (cells.line("launch", **LAUNCH), cell, *more, cells.end()):
            assert writer.append(line)
        writer.finish("done")
    return folder


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("mpigauge: ")
    assert captured.err.count("\n") == 1
    return captured.err


# --- commands -------------------------------------------------------------------------------
def test_a_module_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(group, Commands)
    assert run(["help", "--all"]) == 0
    text = capsys.readouterr().out
    listed = [line.split()[0] for line in text.splitlines() if re.match("  [a-z]", line)]
    assert sorted(listed) == sorted({*COMMANDS, *registry.FORMER_NAMES})


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: mpigauge {command} ")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from mpigauge.cli.main import run; run(['--help']); "
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stderr.split())


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("mpigauge ")


# --- mistakes -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("rn PingPong", "there is no command 'rn'; did you mean 'run'?"),
        ("xyz", "there is no command 'xyz'; `mpigauge --help` lists the commands"),
        ("run", "missing argument 'BENCHMARK...'"),
        ("run PingPong --launches x", "'x' is not a valid integer"),
        ("run PingPong --cache warm", "'warm' is not one of 'hot', 'cold', 'both'"),
        ("run PingPong --format tabel", "there is no format 'tabel'; did you mean 'table'?"),
        ("run PingPong --sizes 1..x", "'1..x' (word 1 of '1..x') is not a size"),
        ("run PingPong --bind 0,y", "--bind: 'y' (word 2 of '0,y') names no cores"),
        ("run PingPong --mpi lam", "unknown MPI 'lam'"),
        ("run PingPong --mpi /no/mpi", "there is no MPI at /no/mpi: no such file or folder"),
        ("quick --time soon", "--time: 'soon' is not a time"),
        ("show nothing", "there is no run 'nothing'"),
        ("show .", ". is not a run folder: it has no run.json"),
        ("show last", "there is no run 'last'"),
        ("resume nothing", "there is no run 'nothing'"),
        ("ls /no/folder", "there is no folder /no/folder"),
        ("topo --from no.xml", "cannot read no.xml: No such file or directory"),
        ("mpi install lam", "cannot install an MPI named 'lam'"),
    ],
)
def test_mistakes(words: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words.split()) == 2
    assert sentence in said(capsys)
    assert not Path("mpigauge-runs").exists()


def test_a_failure_after_launch_is_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RunError("it broke\nin two lines")

    monkeypatch.setattr("mpigauge.session.run_names.load", fails)
    stored("a")
    assert run(["show", "a"]) == 1
    assert said(capsys) == "mpigauge: it broke in two lines\n"


def test_an_interrupt_before_launch(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mpigauge.site.mpi.find", interrupted)
    assert run(["list"]) == 2
    ended = capsys.readouterr().err.strip()  # a terminal shows ^C at the start of the line
    assert ended == "mpigauge: interrupted; nothing was measured"


@pytest.mark.parametrize(
    ("error", "said_of_it"),
    [
        (PermissionError(13, "Permission denied", "/ro/kernels/x.lock"),
         "/ro/kernels/x.lock: Permission denied"),
        (OSError(30, "Read-only file system"), "Read-only file system"),
    ],
)  # fmt: skip
def test_what_the_system_refuses_is_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: OSError,
    said_of_it: str,
) -> None:
    """As a cache or a folder of MPIs that cannot be written to."""

    def refused(*_: object) -> None:
        raise error

    monkeypatch.setattr("mpigauge.site.mpi.find", refused)
    assert run(["list"]) == 2
    assert said(capsys) == f"mpigauge: the system refused: {said_of_it}\n"


def test_a_folder_whose_name_is_no_utf_8(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(b"out\xff")
    folder = stored("here").rename(elsewhere / name)
    assert run(["share", str(folder)]) == 0
    assert [path.name for path in elsewhere.glob("*.mpigauge")] == ["out_udcff.mpigauge"]
    assert run(["report", str(folder), "-o", "page.html"]) == 0
    assert "udcff" in (elsewhere / "page.html").read_text(encoding="utf-8")
    header = {"version": "1", "plan": {}, "command": ["mpigauge", "run", "--output", name]}
    with RunWriter.create(header, cells.cards_text(), output=Path(f"{name}-2")) as writer:
        writer.write_command(0, ["mpiexec", name], {})
        writer.finish("done", where=name)
        assert load(writer.folder).header["command"][-1] == name
    assert b"\xff" in (writer.folder / "logs" / "launch-000.command").read_bytes()
    capsys.readouterr()


def test_no_compiler_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise UserError("no C++ compiler found")

    monkeypatch.setattr("mpigauge.site.mpi.kernels", refuse)
    monkeypatch.setattr("mpigauge.site.mpi.find", lambda _: None)
    monkeypatch.setattr("mpigauge.site.launch.cannot_start", lambda *_: "")
    assert run(["run", "PingPong"]) == 2
    assert said(capsys) == "mpigauge: no C++ compiler found\n"


def test_one_core_is_said_before_anything_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    from mpigauge.site import topology

    small = topology.read(repository / "tests" / "machines" / "vm-one-core-cgroup-v1.txt")
    monkeypatch.setattr("mpigauge.site.topology.read", lambda: small)
    monkeypatch.setattr("mpigauge.products.quick.measuring.read", lambda: small)
    assert run(["quick"]) == 2
    assert "one core" in said(capsys)


# --- show, ls, list -------------------------------------------------------------------------
@pytest.mark.parametrize("word", ["mpigauge-runs/b-run", "b-run", "b-", "last"])
def test_a_run_is_found_by_path_name_or_last(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    stored("a-run")
    stored("b-run")
    assert run(["show", word]) == 0
    assert "PingPong · 2 ranks" in capsys.readouterr().out


def test_an_ambiguous_name(capsys: pytest.CaptureFixture[str]) -> None:
    stored("run-1")
    stored("run-2")
    assert run(["show", "run-"]) == 2
    assert "'run-' fits 2 runs (run-1, run-2, …)" in said(capsys)


@pytest.mark.parametrize(
    ("form", "sign"),
    [
        ("table", "PingPong · 2 ranks"),
        ("imb", "# Benchmarking PingPong"),
        ("csv", "latency_s"),
        ("json", "{"),
    ],
)
def test_formats(form: str, sign: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(stored("a")), "--format", form]) == 0
    assert sign in capsys.readouterr().out


def test_ls(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ls"]) == 0
    assert capsys.readouterr().err == "no runs in mpigauge-runs\n"
    stored("a")
    assert run(["ls", "mpigauge-runs"]) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == ["run", "status", "MPI", "command"]
    assert line.split() == ["a", "done", "mpich", "5.0.2", "mpigauge", "run", "PingPong"]


def test_list(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "cards.json"
    path.write_text(cells.cards_text())
    built = Kernels(path, path, path)
    monkeypatch.setattr("mpigauge.site.mpi.find", lambda _: None)
    monkeypatch.setattr("mpigauge.site.mpi.kernels", lambda *_: built)
    assert run(["list"]) == 0
    head, *found = capsys.readouterr().out.splitlines()
    suites = cells.cards().suites()
    assert head.startswith("MPI1, ")
    assert len(found) == len(cells.cards().benchmarks) + 2 * (len(suites) - 1)
    assert max(map(len, [head, *found])) <= 80
    assert run(["list", "Bcast,PingPong"]) == 0
    assert re.findall(r"^\S+,", capsys.readouterr().out, re.M) == ["PingPong,", "Bcast,"]
    assert run(["list", "Pingpongg"]) == 2
    assert "did you mean 'PingPong'" in said(capsys)
    for words in (["--json"], ["--format", "json"]):
        assert run(["list", *words]) == 0
        assert capsys.readouterr().out == cells.cards_text()
    assert run(["list", "Bcast", "--json"]) == 0
    assert [c["name"] for c in json.loads(capsys.readouterr().out)["benchmarks"]] == ["Bcast"]


@pytest.mark.parametrize("order", [(), ("MPI1",), ("EXT", "MPI1")])
def test_suites_that_are_listed(order: tuple[str, ...]) -> None:
    cards = [replace(cells.cards().find("Bcast"), suite=suite) for suite in order]
    shown = list(in_lines(cards, (), 80))
    assert [line for line in shown if line.endswith("1 benchmark")] == [
        f"{suite}, 1 benchmark" for suite in sorted(order, key=lambda s: s != "MPI1")
    ]


def test_long_texts_of_benchmarks_end_with_the_line() -> None:
    card = replace(cells.cards().find("Bcast"), about="word " * 40, by_default=True)
    _, line = in_lines([card], (), 60)
    assert line.startswith("* Bcast")
    assert len(line) <= 60
    assert line.endswith("…")
    assert "".join(in_full([card], (), 60)).count("word") == 40


def test_mpi_list_without_any(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["mpi", "list"]) == 0
    assert said(capsys) == "mpigauge: no MPI is installed; run `mpigauge mpi install mpich`\n"


def test_no_mpi_at_all(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["run", "PingPong"]) == 2
    assert "no MPI found; run `mpigauge mpi install mpich`" in said(capsys)


# --- small parts ----------------------------------------------------------------------------
def test_tables_break_the_last_column() -> None:
    rows = [["a", "word " * 12]]
    assert list(text_table(["x", "text"], rows, width=40)) == [
        "x  text",
        "a  word word word word word word word",
        "   word word word word word",
    ]
    assert len(list(text_table(["x", "text"], rows, width=0))) == 2


def test_the_verdict_names_wrong_cells() -> None:
    from mpigauge.runs.store import load

    more = cells.line("cell", **cells.fields(message_bytes=64, wrong_count=3))
    assert ending.wrong_words(load(stored("a", more))) == [
        "wrong data: 3 elements differ from the sender's, in PingPong 64 B"
    ]
