# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs of benchmarks: the usual kind, whose anomalies the causes of this product explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.cli.runs.kinds import USUAL, Kind, kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.finding import Explanation
    from mpigauge.result.run_view import RunView


@kind(USUAL)
class Benchmarks(Kind):
    def is_this(self, word: str) -> bool:
        """True for all runs that are of no other kind."""
        del word
        return True

    def explained(self, view: RunView) -> Explanation:
        from mpigauge.products.explain.registry import explained

        return explained(view)

    def causes(self) -> Sequence[tuple[str, str]]:
        from mpigauge.products.explain.registry import CAUSES

        return [(each.name, each.about) for each in CAUSES.values()]
