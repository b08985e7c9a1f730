# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The cards of all benchmarks that come with mpigauge, for commands that run before any kernel is
built, or without kernels.

cards.json is a copy of the kernels' cards; tools/stored_cards.py writes it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mpigauge.model.cards import Cards

FILE = Path(__file__).with_name("cards.json")


@cache
def all_cards() -> Cards:
    """The cards of every benchmark that comes with mpigauge."""
    return Cards.load(FILE)
