# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""README is true of a fresh clone. Its other commands are run in tests/e2e/test_docs.py."""

from __future__ import annotations

import os
import re
import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.guide import page

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


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
        pytest.skip("this tree is not a git checkout, so there is nothing to clone")
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
    (shown,) = (
        block for block in page(ROOT / "README.md").blocks if "by the same" in block.mark("shown")
    )
    labels = [line.partition("  ")[0] for line in shown.text.splitlines()]
    assert len(labels) == 3
    assert [label for label in labels if label not in first.stdout] == []
    assert "building the first kernels" in first.stderr
    assert "building the kernels for" not in first.stderr
    second = make(["make", "--dry-run", "run"])
    assert "pip install" not in second.stdout
    assert "mpi install" not in second.stdout
