# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One pair of ranks for each way in which two ranks can sit to each other here."""

from __future__ import annotations

from mpigauge.site.placement.ask import Ask
from mpigauge.site.placement.registry import POLICIES, several


@several("all", "one pair of ranks for every level that the machine has")
def everything(ask: Ask) -> list[str]:
    found = [name for name in ask.sites[0].levels.shared() if name in POLICIES]
    found += ["hosts"] if len(ask.sites) > 1 else []
    if not found:
        raise ask.refuse("there is only one core that may be used here, so there is no pair")
    return found
