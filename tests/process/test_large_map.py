# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The memory that a map of 256 ranks takes while it is shown."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests import large_map

if TYPE_CHECKING:
    from pathlib import Path

MAIN = """
import resource, sys
from mpigauge.cli.main import run
status = run(sys.argv[2:])
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
open(sys.argv[1], "w").write(f"{status} {most}")
"""
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
    """A shell is between: a process has the memory of the one that starts it until it begins."""
    command, *others = words
    python = [sys.executable, "-c", MAIN, "usage", command, str(stored), *others]
    shell = ["sh", "-c", '"$@"; exit $?', "sh", *python]
    subprocess.run(shell, cwd=tmp_path, stdout=subprocess.DEVNULL, check=True)
    status, most_bytes = map(int, (tmp_path / "usage").read_text().split())
    assert status == 0
    assert most_bytes < MOST_BYTES
