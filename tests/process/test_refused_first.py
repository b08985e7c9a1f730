# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks without cores are refused before kernels are built for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "words", [("run", "Barrier", "--np", "9999"), ("run", "Barrier", "--ranks", "9999"),
              ("map", "--np", "9999")]
)  # fmt: skip
def test_too_many_ranks_are_refused_before_a_build(words: tuple[str, ...], tmp_path: Path) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "mpigauge"), *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MPIGAUGE_CACHE": str(tmp_path / "cache")},
        check=False,
    )
    assert done.returncode == 2
    assert "9999 ranks are more than the" in done.stderr
    assert "building" not in done.stderr
