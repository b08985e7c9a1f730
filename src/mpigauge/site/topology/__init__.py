# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The hardware of a machine: this one, or one described in a file."""

from __future__ import annotations

from mpigauge.site.topology.built import as_json, built
from mpigauge.site.topology.choose import cold_bytes, cores_to_use
from mpigauge.site.topology.differences import differences
from mpigauge.site.topology.passport import passport
from mpigauge.site.topology.read import read
from mpigauge.site.topology.remarks import remarks

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
