# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One pair of ranks for each way in which two ranks can sit to each other here."""

from __future__ import annotations

from mpigauge.site.placement.policy_request import PolicyRequest
from mpigauge.site.placement.registry import POLICIES, several


@several("all", "one pair of ranks for every level that the machine has")
def everything(request: PolicyRequest) -> list[str]:
    found = [name for name in request.hosts[0].levels.shared() if name in POLICIES]
    found += ["hosts"] if len(request.hosts) > 1 else []
    if not found:
        raise request.refuse("there is only one core that may be used here, so there is no pair")
    return found
