# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A short measurement does not wait for what it does not need. How long that takes is measured by
bench/start_up.py; here is counted what is imported and started."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.mpi, pytest.mark.heavy]

SCRIPT = """
import json, subprocess, sys
started = []
popen = subprocess.Popen.__init__
def watched(self, words, *more, **named):
    started.append(str(words[0]))
    popen(self, words, *more, **named)
subprocess.Popen.__init__ = watched
from mpigauge.cli.main import run
status = run(sys.argv[1:])
print(json.dumps([status, started, sorted(sys.modules)]))
"""
HEAVY = {
    *("numpy", "scipy", "duckdb", "jinja2", "rich", "pandas", "email", "xml", "importlib.metadata"),
    *("csv", "socket", "http", "concurrent", "asyncio", "multiprocessing", "unittest"),
}
"""None of them is needed to measure a few cells and to print them."""
SHOWS = {"mpigauge.result.document", "mpigauge.result.compare"}
"""Needed when there is something to be shown, not before."""
MOST_MODULES = 370
"""Of all, Python's own among them; there were 482."""


def imported(*words: str, folder: Path) -> tuple[list[str], set[str]]:
    """Programs that were started, and modules that were imported."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    status, started, modules = json.loads(done.stdout.splitlines()[-1])
    assert status == 0, done.stderr
    return started, set(modules)


def heavy(modules: set[str]) -> set[str]:
    return modules & HEAVY


def test_a_plan_imports_nothing_heavy_and_starts_nothing(tmp_path: Path) -> None:
    words = ("run", "PingPong", "--mpi", "mpich", "--dry-run")
    imported(*words, folder=tmp_path)  # what was never asked is asked now
    started, modules = imported(*words, folder=tmp_path)
    assert started == []
    assert heavy(modules) | (modules & SHOWS) == set()
    assert len(modules) < MOST_MODULES


def test_a_short_run_imports_nothing_heavy_and_starts_the_job_alone(tmp_path: Path) -> None:
    words = ("run", "PingPong", "--mpi", "mpich", "--sizes", "0,1..4Mi", "--launches", "1")
    imported(*words, "--output", "first", folder=tmp_path)
    started, modules = imported(*words, "--output", "out", folder=tmp_path)
    assert [Path(program).name for program in started] == ["mpiexec", "sh"]
    assert heavy(modules) == set()
    assert len(modules) < MOST_MODULES
