# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What mpigauge knows of benchmarks before any kernels are built."""

from __future__ import annotations

import pytest

from mpigauge.model.cards import Cards
from mpigauge.model.mpi import Kernels
from mpigauge.runs.readers.known import all_cards

pytestmark = pytest.mark.mpi


def test_cards_are_those_of_the_kernels(built: Kernels) -> None:
    """`mpigauge list --json | python tools/imported_cards.py` makes them so."""
    assert all_cards() == Cards.load(built.cards)
