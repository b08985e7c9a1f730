# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Several runs that are shown together, against the first of them and side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mpigauge.result.compare.compare import compare
from mpigauge.result.compare.items import items
from mpigauge.result.compare.of_runs import side_of
from mpigauge.result.compare.pivot import pivot

if TYPE_CHECKING:
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.compare.pivot import Pivot
    from mpigauge.result.compare.side import Side
    from mpigauge.show.kinds import Shown


def compared(shown: Sequence[Shown]) -> Comparison | None:
    """The first with the others; None where there are none, or where a run is too large to be
    looked at as a whole: a part that was chosen by its times would prove too much."""
    sides = _sides(shown)
    return compare(sides) if sides else None


def across(shown: Sequence[Shown]) -> Pivot | None:
    """The same runs side by side."""
    sides = _sides(shown)
    return pivot(sides) if sides else None


def _sides(shown: Sequence[Shown]) -> list[Side]:
    if len(shown) < 2 or any(each.run.part for each in shown):
        return []
    held = (items(each.document.rows, each.document.figures) for each in shown)
    return [side_of(each.name, each.run, of) for each, of in zip(shown, held, strict=True)]
