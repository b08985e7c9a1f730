# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shows a campaign while it runs: a live table on a terminal, a line for each launch elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mpigauge.measuring.live.lines import LineView

if TYPE_CHECKING:
    from mpigauge.measuring.campaign import View
    from mpigauge.model.screen import Screen

__all__ = ["LineView", "view"]


def view(screen: Screen) -> View:
    """The view that suits the output device."""
    if not screen.live:
        return LineView(sys.stderr)
    from mpigauge.measuring.live.live import LiveView

    return LiveView(screen)
