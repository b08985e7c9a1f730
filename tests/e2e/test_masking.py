# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A secret of --env reaches the ranks, and neither a command line nor a file."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run as main
from mpigauge.runs.store import load
from mpigauge.site.launch import Job, command

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.mpi import Mpi

VALUE = "hunter2-or-so"
SEEN = 'echo "rank has $MY_TOKEN"; ps -eo args | grep "[h]unter2-or-so" || echo nobody sees it'


def test_ranks_have_a_secret_that_no_process_shows(mpi: Mpi) -> None:
    made = command(Job(mpi, 2, ("sh", "-c", SEEN), {"MY_TOKEN": VALUE, "A": "1"}))
    done = subprocess.run(
        made.words, env={**os.environ, **made.env}, capture_output=True, text=True, check=True
    )
    assert done.stdout.count(f"rank has {VALUE}") == 2
    assert done.stdout.count("nobody sees it") == 2


def test_a_run_with_a_secret_is_resumed_where_the_secret_is(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    words = ["run", "PingPong", "--sizes", "8", "--launches", "2", "--mpi", mpi.spec]
    assert main([*words, "--env", f"MY_TOKEN={VALUE}", "--output", str(folder)]) == 0
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in files if VALUE.encode() in path.read_bytes()]
    last = (folder / "records.jsonl").read_text().rindex('{"record":"launch"')
    os.truncate(folder / "records.jsonl", last)
    (folder / "status.json").unlink()
    capsys.readouterr()
    assert main(["resume", str(folder)]) == 2
    assert "the value of MY_TOKEN resembles a secret and was not stored" in capsys.readouterr().err
    monkeypatch.setenv("MY_TOKEN", VALUE)
    assert main(["resume", str(folder)]) == 0
    assert len(load(folder).complete) == 2
    assert not [
        path for path in folder.rglob("*") if path.is_file() and VALUE in path.read_text("latin-1")
    ]
