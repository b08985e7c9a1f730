# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The step model beside SimGrid of Debian, wherever a machine has none of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.e2e.debian import installed, needs_root

pytestmark = [pytest.mark.heavy, needs_root]
ROOT = Path(__file__).resolve().parents[2]
OURS = "tests/unit/tools/test_bench.py"
PACKAGE = "libsimgrid-dev"


def test_what_needs_simgrid_is_tried_with_that_of_debian(tmp_path: Path) -> None:
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "simgrid", OURS]
    with installed(tmp_path, PACKAGE) as debian:
        assert debian.run("smpirun", "--version", cwd=tmp_path).returncode == 0
        done = debian.run(sys.executable, *words, cwd=ROOT, seconds=300.0)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "skipped" not in done.stdout, done.stdout[-3000:]
