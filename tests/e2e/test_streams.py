# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Every command where its output is closed, full or read by nobody: one line, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mpigauge.cli import registry
from mpigauge.site.mpi import find, kernels
from tests.e2e import commands as cli

pytestmark = pytest.mark.mpi
RUN = "mpigauge-runs/one"
COMMANDS = {
    "best": ["best", "swept"],
    "browse": ["browse", "--help"],
    "bundle": ["bundle", "--help"],
    "check": ["check", RUN, "--against", RUN],
    "compare": ["compare", RUN, RUN],
    "completion": ["completion", "bash"],
    "doctor": ["doctor", "--list"],
    "exec": ["exec", "--help"],
    "explain": ["explain", RUN],
    "fabric": ["fabric", "--help"],
    "export": ["export", "csv", RUN],
    "help": ["help"],
    "history": ["history", "--help"],
    "imb": ["imb", "--help"],
    "import": ["import", "printed.txt", "--output", "{new}"],
    "kernels": ["kernels", "--help"],
    "benchmarks": ["list", "--mpi", "mpich"],
    "runs": ["ls"],
    "man": ["man", "run"],
    "map": ["map", "--dry-run", "--mpi", "mpich"],
    "model": ["model", RUN],
    "mpi": ["mpi", "list", "--no-start"],
    "node": ["node", "--dry-run", "--mpi", "mpich"],
    "plan": ["plan", "--help"],
    "plot": ["plot", RUN, "latency"],
    "profile": ["profile", "--help"],
    "quick": ["quick", "--dry-run", "--mpi", "mpich"],
    "ref": ["ref", "list"],
    "report": ["report", RUN, "--output", "{new}.html"],
    "resume": ["resume", "--help"],
    "run": ["run", "PingPong", "--dry-run", "--mpi", "mpich"],
    "settings": ["settings", "--mpi", "mpich"],
    "share": ["share", RUN, "--output", "{new}"],
    "show": ["show", RUN],
    "sql": ["sql", "SELECT * FROM rows", RUN],
    "submit": ["submit", "--system", "slurm", "--dry-run", "run", "PingPong"],
    "sweep": ["sweep", "PingPong", "--vary", "env:A=1,2", "--dry-run", "--mpi", "mpich"],
    "topo": ["topo"],
    "transports": ["transports", "--help"],
    "calibrate": ["calibrate", "--help"],
    "predict": ["predict", "--help"],
    "tune": ["tune", "--help"],
    "validate": ["validate", "--help"],
    "version": ["version"],
    "watch": ["watch", RUN],
}
"""A way to call each command that prints something and measures nothing."""
SILENT = ("report", "share")
"""They print nothing on standard output."""
USUAL = {"0": "/dev/null", "1": "out", "2": "err"}
REFUSED = {
    "full": ({"1": "/dev/full"}, "cannot write to standard output: No space left on device"),
    "closed": ({"1": "closed"}, "standard output is closed"),
}
"""What is said of it; the exit status is 2, since nothing was launched."""
HARMLESS = {
    "closed": {"0": "closed", "2": "closed"},
    "full": {"2": "/dev/full"},
}
"""The result is the usual one."""
UNHEARD = {
    "all closed": {"0": "closed", "1": "closed", "2": "closed"},
    "all full": {"1": "/dev/full", "2": "/dev/full"},
}


def test_every_command_is_here() -> None:
    assert set(COMMANDS) == set(registry.COMMANDS)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """A folder with a run, a sweep, and a text of another program."""
    folder = tmp_path_factory.mktemp("streams")
    kernels(find("mpich"))
    more = ("--sizes", "0,8", "--launches", "1", *cli.ROUGH, "--mpi", "mpich")
    (folder / "mpigauge-runs").mkdir()
    for words in (
        ("run", "PingPong", "--output", RUN),
        ("sweep", "PingPong", "--vary", "env:A=1,2", "--output", "swept"),
    ):
        done = cli.mpigauge(*words, *more, cwd=folder)
        assert done.returncode == 0, done.stderr
    text = repository / "tests" / "golden" / "printed" / "mpich-src_c-MPI1-all-default-np2.txt"
    (folder / "printed.txt").write_bytes(text.read_bytes())
    return folder


class Calls:
    """All commands, each called once with its streams so."""

    def __init__(self, place: Path, streams: dict[str, str]) -> None:
        self._folder = place / f"calls-{len(list(place.glob('calls-*')))}"
        self._folder.mkdir()
        calls = [self._call(name, USUAL | streams) for name in COMMANDS]
        done = subprocess.run(
            [sys.executable, "-m", "tests.e2e.one_by_one"],
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            input=json.dumps(calls),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        self.status = dict(zip(COMMANDS, json.loads(done.stdout), strict=True))

    def out(self, name: str) -> str:
        return (self._folder / f"{name}.out").read_text()

    def err(self, name: str) -> str:
        return (self._folder / f"{name}.err").read_text()

    def _call(self, name: str, streams: dict[str, str]) -> dict[str, object]:
        words = [word.format(new=self._folder / name) for word in COMMANDS[name]]
        files = {"out": f"{self._folder / name}.out", "err": f"{self._folder / name}.err"}
        return {"words": words, "streams": {n: files.get(how, how) for n, how in streams.items()}}


@pytest.fixture(scope="module")
def usual(place: Path) -> Calls:
    return Calls(place, {})


@pytest.mark.parametrize("name", COMMANDS)
def test_usually(usual: Calls, name: str) -> None:
    assert usual.status[name] in (0, 1), usual.err(name)
    assert bool(usual.out(name)) == (name not in SILENT)


@pytest.mark.parametrize("condition", REFUSED)
def test_no_way_out(place: Path, usual: Calls, condition: str) -> None:
    streams, sentence = REFUSED[condition]
    calls = Calls(place, streams)
    for name, status in calls.status.items():
        if name in SILENT and condition == "full":
            assert (status, calls.err(name).count("\n")) == (0, usual.err(name).count("\n"))
            continue
        said = calls.err(name)
        assert (name, status) == (name, 2)
        assert said.splitlines()[-1].startswith(f"mpigauge: {sentence}"), said
        assert "Traceback" not in said


@pytest.mark.parametrize("condition", HARMLESS)
def test_what_does_not_matter(place: Path, usual: Calls, condition: str) -> None:
    calls = Calls(place, HARMLESS[condition])
    assert calls.status == usual.status
    for name in COMMANDS:
        assert len(calls.out(name).splitlines()) == len(usual.out(name).splitlines()), name


@pytest.mark.parametrize("condition", UNHEARD)
def test_nobody_listens(place: Path, condition: str) -> None:
    """The status alone tells."""
    calls = Calls(place, UNHEARD[condition])
    quiet = SILENT if condition == "all full" else ()
    assert calls.status == {name: 0 if name in quiet else 2 for name in COMMANDS}


def test_a_closed_pipe_is_quiet(place: Path) -> None:
    calls = Calls(place, {"1": "gone"})
    for name, status in calls.status.items():
        assert (name, status) == (name, 0 if name in SILENT else 1)
        assert "Broken pipe" not in calls.err(name)
        assert "Traceback" not in calls.err(name)


def test_a_result_that_cannot_be_printed_is_kept(place: Path) -> None:
    """Where something was launched, the line says where it is."""
    words = ["run", "PingPong", "--sizes", "8", "--launches", "1", "--mpi", "mpich"]
    words += ["--output", "unprinted"]
    done = subprocess.run(
        ["sh", "-c", '"$@" >/dev/full', "sh", *cli.command(tuple(words))],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    line = cli.last_line(done.stderr)
    assert "cannot write to standard output: No space left on device; the run is kept in" in line
    assert "`mpigauge show unprinted` shows it" in line
    assert cli.mpigauge("show", "unprinted", cwd=place).returncode == 0
