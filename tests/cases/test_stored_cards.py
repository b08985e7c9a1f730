# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The stored cards are those of the kernels."""

from __future__ import annotations

import pytest

from mpigauge.model.cards import Cards
from mpigauge.model.mpi import Kernels
from mpigauge.model.stored_cards import all_cards

pytestmark = pytest.mark.mpi


def test_cards_are_those_of_the_kernels(built: Kernels) -> None:
    """`mpigauge list --json | python tools/stored_cards.py` makes them so."""
    assert all_cards() == Cards.load(built.cards)
