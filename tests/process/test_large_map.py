# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The memory that a map of 256 ranks takes while it is shown."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests import large_map

if TYPE_CHECKING:
    from pathlib import Path

MAIN = "from mpigauge.cli.main import main; main()"
MOST_BYTES = 200_000_000


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return large_map.store(tmp_path_factory.mktemp("map") / "run", 256)


@pytest.mark.parametrize(
    "words",
    [("show",), ("show", "--format", "svg"), ("report", "-o", "map.html")],
    ids=" ".join,
)
def test_a_map_of_256_ranks_takes_little_memory(
    stored: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    command, *others = words
    python = [sys.executable, "-c", MAIN, command, str(stored), *others]
    with subprocess.Popen(python, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert usage.ru_maxrss * 1024 < MOST_BYTES
