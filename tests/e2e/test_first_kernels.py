# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The first plugin is a part of the whole one, and all that `mpigauge quick` needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.model.cards import Cards
from mpigauge.products.quick.plan import BENCHMARKS
from mpigauge.site.builds import folders
from mpigauge.site.builds.folder import FIRST, compiled
from mpigauge.site.mpi import find, kernels
from mpigauge.site.mpi.make import build_spec

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.mpi
def test_the_first_plugin_has_what_quick_measures_and_few_others(tmp_path: Path) -> None:
    mpi = find("mpich")
    everything = {(card.suite, card.name): card for card in Cards.load(kernels(mpi).cards)}
    parent = folders.cache() / "kernels" / "build"
    with compiled(build_spec(mpi, FIRST), parent, tmp_path / "log") as built:
        cards = Cards.load(built.cards)
    first = {(card.suite, card.name): card for card in cards}
    assert [name for name in BENCHMARKS if not cards.get(name)] == []
    assert first.items() <= everything.items()
    assert len(first) < len(everything) / 2
