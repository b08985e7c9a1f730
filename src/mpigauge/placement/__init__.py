# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which rank sits on which cores. Pure: nothing is bound here, the kernels bind themselves."""

from __future__ import annotations

from mpigauge.placement.cores import check, cores_of, one_core_each, parse_bind
from mpigauge.placement.seats import room, share_out

__all__ = ["check", "cores_of", "one_core_each", "parse_bind", "room", "share_out"]
