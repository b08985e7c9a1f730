# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ctrl-C at every stage of every command that measures: one line, true, and nothing is lost.

In the middle of a launch: tests/e2e/test_faults.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.runs.store import load
from mpigauge.site.mpi import find, kernels
from tests import patience
from tests.conftest import MPIS
from tests.e2e import commands as cli

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]
TO_MEASURE = ("--sizes", "0,8", "--launches", "1", *cli.ROUGH)
RUN: tuple[str, ...] = ("run", "PingPong", *TO_MEASURE)
COMMANDS = {
    "run": RUN,
    "quick": ("quick", "--time", "1s", *cli.ROUGH),
    "map": ("map", *TO_MEASURE),
    "node": ("node", "--sizes", "64Ki", "--time", "3s", *cli.ROUGH),
    "sweep": ("sweep", "PingPong", "--vary", "env:A=1", *TO_MEASURE),
}
SHOWN = "mpigauge.result.document:document"


@pytest.fixture
def spec(mpi: Mpi, built: Kernels) -> str:
    assert built.executable.exists()
    return mpi.spec


def interrupted(
    cwd: Path, place: str, *words: str, goes_on: bool = False
) -> subprocess.CompletedProcess[str]:
    """mpigauge that gets a SIGINT just before it calls this function; `goes_on`: it then does."""
    program = str(Path(__file__).with_name("paused.py"))
    process = subprocess.Popen(
        [sys.executable, program, place, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    patience.wait_for(lambda: (cwd / "here").exists() or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    if goes_on:
        (cwd / "go").touch()
    out, err = patience.communicate(process)
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.mark.parametrize("place", ["mpigauge.site.mpi:find", "mpigauge.site.topology:read"])
def test_before_anything_is_made(spec: str, tmp_path: Path, place: str) -> None:
    done = interrupted(tmp_path, place, *RUN, "--mpi", spec, "--output", "out")
    assert done.returncode == 2
    assert done.stderr.strip() == "mpigauge: interrupted; nothing was measured"
    assert not (tmp_path / "out").exists()


def test_before_the_first_launch(spec: str, tmp_path: Path) -> None:
    """There is a folder, but nothing to show or to resume."""
    words = (*RUN, "--mpi", spec, "--output", "out")
    done = interrupted(tmp_path, "mpigauge.measuring.campaign:run_in_turn", *words)
    assert done.returncode == 2
    assert done.stderr.strip() == "mpigauge: interrupted; nothing was measured"


def test_between_launches(spec: str, tmp_path: Path) -> None:
    words = ("run", "PingPong", "--sizes", "0,8", "--launches", "3", *cli.ROUGH)
    place = "mpigauge.measuring.campaign.run:Campaign.note"
    more = ("--mpi", spec, "--output", "out")
    done = interrupted(tmp_path, place, *words, *more, goes_on=True)
    assert done.returncode == 1
    line = cli.last_line(done.stderr)
    assert "interrupted: 1 launch is complete, what was measured is kept in out" in line
    assert load(tmp_path / "out").complete == {0}
    assert load(tmp_path / "out").status["status"] == "interrupted"


def test_after_the_last_launch(spec: str, tmp_path: Path) -> None:
    """All is measured, so all is well."""
    words = (*RUN, "--mpi", spec, "--output", "out")
    done = interrupted(
        tmp_path, "mpigauge.measuring.campaign.in_turn:finished", *words, goes_on=True
    )
    assert done.returncode == 0, done.stderr
    assert "PingPong" in done.stdout
    assert load(tmp_path / "out").status["status"] == "done"


STAGES = [("run", "mpigauge.runs.store:load"), *((name, SHOWN) for name in COMMANDS)]


@pytest.mark.parametrize(
    ("spec", "name", "place"),
    [(MPIS[number % len(MPIS)], *stage) for number, stage in enumerate(STAGES)],
)
def test_while_the_result_is_shown(spec: str, tmp_path: Path, name: str, place: str) -> None:
    """All jobs are over then, so each command is tried with another MPI."""
    words = (*COMMANDS[name], "--mpi", spec, "--output", "out")
    done = interrupted(tmp_path, place, *words)
    assert done.returncode == 1, done.stderr
    line = cli.last_line(done.stderr)
    assert line == ("mpigauge: interrupted; the run is kept in out, `mpigauge show out` shows it")
    shown = cli.mpigauge("show", "out", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert load(tmp_path / "out").status["status"] == "done"


def test_while_the_results_of_several_are_shown(tmp_path: Path) -> None:
    for name in ("mpich", "openmpi"):
        kernels(find(name))
    mpis = ("--mpi", "mpich", "--mpi", "openmpi")
    done = interrupted(tmp_path, "mpigauge.runs.store:load", *RUN, *mpis, "--output", "out")
    assert done.returncode == 1, done.stderr
    line = cli.last_line(done.stderr)
    assert line.count("the run is kept in out/") == 2
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_while_a_resumed_run_is_shown(spec: str, tmp_path: Path) -> None:
    words = ("run", "PingPong", "--sizes", "8", "--launches", "2", *cli.ROUGH)
    done = cli.mpigauge(*words, "--mpi", spec, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    records = tmp_path / "out" / "records.jsonl"
    lines = records.read_text().splitlines()
    records.write_text("\n".join([*lines[:-1], ""]))  # the last launch has lost its end
    done = interrupted(tmp_path, SHOWN, "resume", "out")
    assert done.returncode == 1, done.stderr
    assert "interrupted; the run is kept in out" in cli.last_line(done.stderr)
    assert load(tmp_path / "out").complete == {0, 1}


BATCH = {
    "sbatch": "#!/bin/sh\ncat >/dev/null; echo 'Submitted batch job 7'\n",
    "squeue": "#!/bin/sh\necho RUNNING\n",
    "scancel": "#!/bin/sh\n",
    "sacct": "#!/bin/sh\necho RUNNING\n",
    "scontrol": "#!/bin/sh\n",
}


def test_while_a_job_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in BATCH.items():
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    submit = ("submit", "--system", "slurm", "run", "PingPong", "--output", "out")
    done = interrupted(tmp_path, "mpigauge.products.submit.queue:follow", *submit)
    assert done.returncode == 1, done.stderr
    assert "job 7 goes on; `scancel 7` ends it, and" in cli.last_line(done.stderr)
