# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The kernels for one ABI of MPI on MPIs of the others, through the translation: right data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases.every_cell import SUITES, check_benchmarks
from tests.cases.launching import translated_site
from tests.translated import IN_CI, PAIRS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.mpi
OWN = [suite for suite in SUITES if suite != "NODE"]
"""Those of the node call no MPI that others do not."""


@pytest.mark.parametrize("pair", IN_CI[:2], ids=" on ".join)
def test_a_benchmark_of_each_suite_is_right(pair: tuple[str, str], tmp_path: Path) -> None:
    where = translated_site(*pair)
    cards = [next(card for card in where.cards if card.suite == suite) for suite in OWN]
    check_benchmarks(where, 2, cards, tmp_path)


@pytest.mark.acceptance("kernels-translated")
@pytest.mark.parametrize("suite", OWN)
@pytest.mark.parametrize("pair", PAIRS, ids=" on ".join)
def test_every_benchmark_is_right(pair: tuple[str, str], suite: str, tmp_path: Path) -> None:
    where = translated_site(*pair)
    cards = [card for card in where.cards if card.suite == suite]
    check_benchmarks(where, 2, cards, tmp_path)
