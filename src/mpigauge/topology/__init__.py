# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a machine is: the one that we stand on, or one in a file."""

from __future__ import annotations

from mpigauge.topology.built import as_json, built
from mpigauge.topology.choose import cold_bytes, cores_to_use
from mpigauge.topology.differences import differences
from mpigauge.topology.passport import passport
from mpigauge.topology.read import read
from mpigauge.topology.remarks import remarks

__all__ = [
    "as_json",
    "built",
    "cold_bytes",
    "cores_to_use",
    "differences",
    "passport",
    "read",
    "remarks",
]
