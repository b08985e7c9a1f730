# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The kernels under the profiler measure what they measure without it: every cell, right data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.products.profile.read.files import read_folder
from tests.cases.every_cell import SUITES, check_benchmarks
from tests.cases.launching import profiled_site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cases.launching import Site

pytestmark = pytest.mark.mpi
RANKS = 2


@pytest.mark.parametrize("suite", SUITES)
def test_every_benchmark_is_right(where: Site, suite: str, tmp_path: Path) -> None:
    """Each cell is there, and each rank has left a profile in which it called MPI."""
    profiles, files = tmp_path / "profiles", tmp_path / "files"
    profiles.mkdir()
    files.mkdir()
    cards = [card for card in where.cards if card.suite == suite]
    check_benchmarks(profiled_site(where, profiles), RANKS, cards, files)
    ranks = [file for file in read_folder(profiles) if any(cell["count"] for cell in file.cells)]
    assert {file.rank for file in ranks} == set(range(RANKS))
