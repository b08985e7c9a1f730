# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One pair of ranks for each level of this machine."""

from __future__ import annotations

from mpigauge.site.placement.policy_request import PolicyRequest
from mpigauge.site.placement.registry import POLICIES, several


@several("all", "one pair of ranks for every level that the machine has")
def everything(request: PolicyRequest) -> list[str]:
    names = [name for name in request.hosts[0].levels.shared() if name in POLICIES]
    names += ["hosts"] if len(request.hosts) > 1 else []
    if not names:
        raise request.refuse("there is only one core that may be used here, so there is no pair")
    return names
