# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What README tells people to type works as it is written there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PATTERN = re.compile(r"^mpigauge .*$", re.MULTILINE)


def commands() -> list[str]:
    """Lines that begin with mpigauge, of code blocks that are not output (```text); each once."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    blocks = [block for kind, block in found if kind != "text"]
    return list(dict.fromkeys(line for block in blocks for line in PATTERN.findall(block)))


def environment() -> dict[str, str]:
    """As after `. .venv/bin/activate`."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.mark.mpi
@pytest.mark.heavy
def test_commands_run_as_written(tmp_path: Path) -> None:
    assert len(commands()) > 8
    for line in commands():
        words = shlex.split(line)
        if "mpigauge-runs/RUN" in words:
            newest = max((tmp_path / "mpigauge-runs").iterdir(), key=lambda run: run.name)
            words = [str(newest) if word == "mpigauge-runs/RUN" else word for word in words]
        done = subprocess.run(
            words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}: {done.stderr[-500:]}"
        assert done.stdout.strip() or done.stderr.strip(), f"{line} says nothing"


def test_names_only_two_commands_of_make() -> None:
    assert set(re.findall(r"\bmake (\w+)", README)) == {"run", "test"}


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.heavy
def test_make_run_on_a_fresh_clone(tmp_path: Path) -> None:
    """From a clone with nothing set up to numbers on the screen; then no work is done twice."""
    if not (ROOT / ".git").exists():
        pytest.skip("this tree is no git checkout, so there is nothing to clone")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("VIRTUAL_ENV", "MPIGAUGE_HOME", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    } | {"MPIGAUGE_CACHE": str(tmp_path / "cache")}
    make = partial(subprocess.run, cwd=clone, env=env, capture_output=True, text=True, check=False)
    first = make(["make", "run"])
    assert first.returncode == 0, first.stderr[-1000:]
    assert "latency, 0 B" in first.stdout
    assert "building the kernels" in first.stderr + first.stdout
    second = make(["make", "--dry-run", "run"])
    assert "pip install" not in second.stdout
    assert "mpi install" not in second.stdout
