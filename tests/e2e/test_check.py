# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A run that is checked, compared with itself, and measured again where it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.runs.store import load
from tests.e2e import commands as cli

pytestmark = pytest.mark.mpi

LIMITS = """
[[limit]]
benchmark = "PingPong"
time = { 8 = "1 ns", 0 = "1 s" }
"""


def test_what_fails_is_measured_again_here(tmp_path: Path) -> None:
    """No message takes less than a nanosecond, and every one less than a second."""
    words = ("run", "PingPong", "--sizes", "0,8", "--launches", "6", "--mpi", "mpich")
    done = cli.mpigauge(*words, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "limits.toml").write_text(LIMITS)
    done = cli.mpigauge("check", "out", "--against", "limits.toml", "--again", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "FAIL: 1 FAIL, 1 PASS; 1 measured again" in done.stdout
    (again,) = (tmp_path / "mpigauge-runs").iterdir()
    cells = load(again).cells
    assert {cell.message_bytes for cell in cells} == {8}
    assert len(cells) == 6
    done = cli.mpigauge("compare", "out", "out", "--fail-on", "different", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
