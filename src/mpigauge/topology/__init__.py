# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the machine is that we stand on."""

from __future__ import annotations

from mpigauge.topology.choose import cold_bytes, cores_to_use
from mpigauge.topology.passport import passport
from mpigauge.topology.read import read
from mpigauge.topology.remarks import remarks

__all__ = ["cold_bytes", "cores_to_use", "passport", "read", "remarks"]
